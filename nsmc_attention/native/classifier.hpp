// The classifier's forward pass; after kernel.hpp. The GRU's W x + b of each word is from a table.
//
//   additive attention (Bahdanau et al. 2015) of every token i to every token j, its states and the n-grams' log-odds
//   projected to q_i and k_j:
//     score_ij = sum_a v_a tanh(q_ia + k_ja),  weights_i = softmax(score_i)
//   output: probability = sigmoid(o . mean_i sum_j weights_ij h_j + wide * sum of the log-odds + b)
//   of values v_j = tanh(sum of what the words around add + c) near the token, or that sum itself, in place of the
//   states:
//     probability = sigmoid(sum_j (s_j m_j o . v_j + wide * sqrt(T m_j) * log-odds in j) + b),  m_j = mean_i weights_ij
//   with s_j = tanh(s . h_j + c) of signed values, else 1

namespace {

// The memory of a group of reviews
struct Scratch {
  State* states[LANES];  // (T, 2 H) of each review
  float* carry;          // (LANES, H)
  float* log_odds;       // (1 + T): 0, then those of each token's n-grams
  float* projected;      // (T, 2 A): twice the queries and keys, or their exponentials
  float* keys;           // (A, T rounded up): the latter half
  float* row;            // (T rounded up): a row of weights, then the tokens' signs
  float* mean;           // (T rounded up): the sum of the rows
  float* inside;         // (T rounded up): 1, and 0 beyond the review
};

size_t carve(const Network& network, const size_t* lengths, size_t count, char* memory, Scratch& scratch) {
  size_t used = 0;
  const auto take = [&](size_t bytes) {
    char* found = memory + used;
    used += round_up(bytes, ALIGNMENT);
    return found;
  };
  const size_t longest = lengths[0], rounded = round_up(longest);
  for (size_t lane = 0; lane < count; ++lane)
    scratch.states[lane] = (State*)take(lengths[lane] * DIRECTIONS * network.hidden * sizeof(State));
  scratch.carry = (float*)take(LANES * network.hidden * sizeof(float));
  scratch.log_odds = (float*)take((1 + longest) * sizeof(float));
  scratch.projected = (float*)take(longest * 2 * network.units * sizeof(float));
  scratch.keys = (float*)take(network.units * rounded * sizeof(float));
  scratch.row = (float*)take(rounded * sizeof(float));
  scratch.mean = (float*)take(rounded * sizeof(float));
  scratch.inside = (float*)take(rounded * sizeof(float));
  return used;
}

size_t scratch_size(const Network& network, size_t longest) {
  size_t lengths[LANES] = {};
  for (size_t& length : lengths) length = longest;
  Scratch scratch;
  return carve(network, lengths, LANES, nullptr, scratch);
}

void encode(const Network& network, const Review* reviews, const size_t* lengths, size_t count,
            const Scratch& scratch) {
  const size_t hidden = network.hidden;
  const Sequences<State> sequences = {hidden, count, lengths, scratch.states, scratch.carry};
  for (size_t direction = 0; direction < DIRECTIONS; ++direction) {
    const Input* table = static_cast<const Input*>(network.table) + direction * GATES * hidden;
    const Cell<State, Input, STATE_LEVELS> cell = {&network.recurrent[direction],
                                                   network.hidden_bias + direction * hidden};
    read_sequences(sequences, cell, direction, [&](size_t lane, size_t place) {
      return table + size_t(reviews[lane].tokens[place]) * network.row;
    });
  }
}

// The rows of a token's n-grams, each two numbers of float16
constexpr float SHARED = 1.0f / 3;  // of text/ngrams.py
typedef std::uint32_t Rows __attribute__((vector_size(4 * NGRAMS)));
typedef float Row __attribute__((vector_size(4 * NGRAMS)));

// float16 without infinities, exactly: its exponent is 112 less than that of a float with these bits
NSMC_INLINE void halves_to_floats(const Rows& halves, Row& found) {
  const Row magnitude = (Row)((halves & 0x7fff) << 13) * 0x1p112f;
  found = (Row)((Rows)magnitude | (halves & 0x8000) << 16);
}

// The n-grams' log-odds of each token, after a 0; returns their sum. See `ngram_log_odds` of the network.
float read_ngrams(const Network& network, const Review& review, float* log_odds) {
  Row squares = {};
  float total = 0;
  for (size_t t = 0; t <= review.length; ++t) log_odds[t] = 0;
  if (!review.ngrams) return 0;
  for (size_t t = 0; t < review.length; ++t) {
    const std::int32_t* ids = review.ngrams + t * NGRAMS;
    Rows rows;
    for (size_t i = 0; i < NGRAMS; ++i) rows[i] = load_as<std::uint32_t>(network.ngrams + 2 * size_t(ids[i]));
    Row weights, square_rows;
    halves_to_floats(rows & 0xffff, weights);
    halves_to_floats(rows >> 16, square_rows);
    squares += square_rows;
    log_odds[t + 1] = sum_of(weights);
  }
  const float square = sum_of(squares);
  const float root = __builtin_sqrtf(square > 1e-6f ? square : 1e-6f);
  for (size_t t = 1; t <= review.length; ++t) total += log_odds[t] /= root;
  return total;
}

// Twice the query and key of each token (T, 2 A), or their exponentials; returns the largest magnitude of the former
template <bool EXPONENTIALS>
float project(const Network& network, const State* states, size_t length, const Scratch& scratch) {
  const size_t columns = 2 * network.units;
  Vector most = {};
  multiply_matrix<2>(states, length, DIRECTIONS * network.hidden, network.projection, scratch.projected,
                     [&](size_t t, size_t c, Vector sum) {
                       const float before = scratch.log_odds[t], own = scratch.log_odds[t + 1];
                       sum += load(network.bias + c) + own * load(network.evidence + c);
                       sum += before * load(network.evidence + columns + c);
                       most = greatest(most, greatest(sum, -sum));
                       return EXPONENTIALS ? exponential(sum) : sum;
                     });
  return folded(most, [](auto a, auto b) { return greatest(a, b); });
}

// The scores of a token with W tokens, but for a constant that no softmax sees:
//   sum_a v_a tanh(q_a + k_a) = sum_a v_a - 2 sum_a v_a / (1 + e^(2 q_a) e^(2 k_a))
// Exponentials are taken once a token rather than once a pair, and four fractions are added over one denominator:
// limited to 4e9, each differs by less than 3e-10. A review whose exponentials are too large is computed with one a
// pair.
template <bool FACTORIZED>
NSMC_INLINE Vector scores(const float* query, const float* keys, size_t rounded, const float* score, size_t units) {
  Vector sum = {};
  for (size_t a = 0; a < units; a += 4) {
    Vector x[4];
    for (size_t i = 0; i < 4; ++i) {
      const Vector key = load(keys + (a + i) * rounded);
      x[i] = least(all(4e9f), 1.0f + (FACTORIZED ? query[a + i] * key : exponential(query[a + i] + key)));
    }
    const Vector one = score[a] * x[1] + score[a + 1] * x[0], other = score[a + 2] * x[3] + score[a + 3] * x[2];
    const Vector first = x[0] * x[1], second = x[2] * x[3];
    sum += (one * second + other * first) / (first * second);
  }
  return sum;
}

// The weights of one query from its scores, in place: softmax, 0 beyond the review
NSMC_INLINE void softmax(float* row, const float* inside, size_t length) {
  Vector highest = load(row), totals = {};
  for (size_t j = 0; j < length; j += W) highest = greatest(load(inside + j) > 0 ? load(row + j) : highest, highest);
  const float shift = folded(highest, [](auto a, auto b) { return greatest(a, b); });
  for (size_t j = 0; j < length; j += W) {
    const Vector value = exponential(load(row + j) - shift) * load(inside + j);
    store(row + j, value);
    totals += value;
  }
  const float factor = 1 / sum_of(totals);
  for (size_t j = 0; j < length; j += W) store(row + j, load(row + j) * factor);
}

// Have the caches fetch what will be looked up: the value of a token, and the n-grams of that of the next review
NSMC_INLINE void fetch(const Network& network, const Review& review, const Review& next, size_t place) {
  const Input* row = static_cast<const Input*>(network.table) + size_t(review.tokens[place]) * network.row;
  for (size_t u = DIRECTIONS * GATES * network.hidden; u < network.row; u += ALIGNMENT / sizeof(Input))
    __builtin_prefetch(row + u);
  for (size_t i = 0; next.ngrams && place < next.length && i < NGRAMS; ++i)
    __builtin_prefetch(network.ngrams + 2 * size_t(next.ngrams[place * NGRAMS + i]));
}

template <bool FACTORIZED>
void weigh(const Network& network, const Review& review, const Review& next, const Scratch& scratch) {
  const size_t length = review.length, rounded = round_up(length), units = network.units;
  std::memset(scratch.keys, 0, units * rounded * sizeof(float));
  for (size_t t = 0; t < length; ++t)
    for (size_t a = 0; a < units; ++a) scratch.keys[a * rounded + t] = scratch.projected[t * 2 * units + units + a];
  for (size_t t = 0; t < rounded; ++t) scratch.mean[t] = 0, scratch.inside[t] = t < length;
  for (size_t i = 0; i < length; ++i) {
    const float* query = scratch.projected + i * 2 * units;
    fetch(network, review, next, i);
    for (size_t j = 0; j < length; j += W)
      store(scratch.row + j, scores<FACTORIZED>(query, scratch.keys + j, rounded, network.score, units));
    softmax(scratch.row, scratch.inside, length);
    for (size_t j = 0; j < length; j += W) store(scratch.mean + j, load(scratch.mean + j) + load(scratch.row + j));
    if (review.weights) std::memcpy(review.weights + i * review.stride, scratch.row, length * sizeof(float));
  }
}

// Products of exponentials are exact to 1e-8 where none is limited to e^86.
void attend(const Network& network, const Review& review, const Review& next, const State* states,
            const Scratch& scratch) {
  if (project<true>(network, states, review.length, scratch) <= 86) return weigh<true>(network, review, next, scratch);
  project<false>(network, states, review.length, scratch);
  weigh<false>(network, review, next, scratch);
}

// W units, from the `d`-th on, of the sum of the states by the weights
Vector pool(const Network& network, const Review& review, const State* states, const float* mean, size_t d) {
  Vector pooled = {};
  for (size_t t = 0; t < review.length; ++t) pooled += mean[t] * load(states + t * DIRECTIONS * network.hidden + d);
  return pooled;
}

float classify(const Network& network, const Review& review, const State* states, const float* mean, float log_odds) {
  const size_t width = DIRECTIONS * network.hidden;
  const float length = float(review.length);
  Vector sum = {};
  for (size_t d = 0; d < width; d += W) {
    const Vector pooled = pool(network, review, states, mean, d);
    sum += pooled * load(network.output + d);
    if (review.contexts) store(review.contexts + d, pooled / length);
  }
  if (review.contexts) review.contexts[width] = log_odds;
  return sum_of(sum) / length + network.wide * log_odds;
}

// The sign of each token from its states, 1 where values have none, in scratch.row
void find_signs(const Network& network, const State* states, size_t length, const Scratch& scratch) {
  const size_t width = DIRECTIONS * network.hidden;
  for (size_t t = 0; t < round_up(length); ++t) {
    Vector sum = {};
    for (size_t d = 0; network.sign && t < length && d < width; d += W)
      sum += load(states + t * width + d) * load(network.sign + d);
    scratch.row[t] = network.sign ? network.sign_bias + sum_of(sum) : INFINITY;
  }
  for (size_t t = 0; t < length; t += W) store(scratch.row + t, tangent(load(scratch.row + t)));
}

// o . v of the token at `place`, whose v times its weight is added to the contexts, if they are wanted
float value_of(const Network& network, const Review& review, size_t place, float weight) {
  const Input* table = static_cast<const Input*>(network.table) + DIRECTIONS * GATES * network.hidden;
  const size_t units = network.value_units, reach = network.window / 2;
  Vector sum = {};
  for (size_t u = 0; u < units; u += W) {
    Vector value = network.value_bias ? load(network.value_bias + u) : Vector{};
    for (size_t k = 0; k < network.window; ++k)
      if (place + k >= reach && place + k - reach < review.length)
        value += load(table + size_t(review.tokens[place + k - reach]) * network.row + k * units + u);
    if (network.value_bias) value = tangent(value);
    if (review.contexts) store(review.contexts + u, load(review.contexts + u) + weight * value);
    sum += value * load(network.output + u);
  }
  return sum_of(sum);
}

// Of values: each token's share of the log-odds, whose sum it returns
float add_up(const Network& network, const Review& review, const State* states, const Scratch& scratch) {
  const float length = float(review.length);
  if (review.contexts) {
    std::memset(review.contexts, 0, network.value_units * sizeof(float));
    float* means = review.contexts + network.value_units;
    for (size_t d = 0; d < DIRECTIONS * network.hidden; d += W)
      store(means + d, pool(network, review, states, scratch.mean, d) / length);
  }
  find_signs(network, states, review.length, scratch);
  // what a token gives the next one of its n-grams' log-odds, see `shared_with_next` of the network
  float logit = 0, given = 0;
  for (size_t t = 0; t < review.length; ++t) {
    const float root = __builtin_sqrtf(scratch.mean[t] > 1e-6f ? scratch.mean[t] : 1e-6f);
    const float log_odds = scratch.log_odds[t + 1] + given;
    given = t + 1 < review.length ? SHARED * scratch.log_odds[t + 1] : 0;
    const float weight = scratch.row[t] * scratch.mean[t] / length;
    const float share = weight * value_of(network, review, t, weight) + network.wide * root * (log_odds - given);
    if (review.contributions) review.contributions[t] = share;
    logit += share;
  }
  return logit;
}

void run(const Network& network, const Review* reviews, size_t count, void* memory) {
  size_t lengths[LANES] = {};
  for (size_t lane = 0; lane < count; ++lane) lengths[lane] = reviews[lane].length;
  Scratch scratch;
  carve(network, lengths, count, static_cast<char*>(memory), scratch);
  encode(network, reviews, lengths, count, scratch);
  for (size_t lane = 0; lane < count; ++lane) {
    const Review& review = reviews[lane];
    const float log_odds = read_ngrams(network, review, scratch.log_odds);
    const State* states = scratch.states[lane];
    attend(network, review, reviews[lane + 1 < count ? lane + 1 : lane], states, scratch);
    const double logit = network.window ? add_up(network, review, states, scratch)
                                        : classify(network, review, states, scratch.mean, log_odds);
    *review.probability = float(1 / (1 + std::exp(-(logit + double(network.output_bias)))));
  }
}

}  // namespace
