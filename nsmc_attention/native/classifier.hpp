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
  Stored* states[LANES];  // (T, 2 H) of each review
  Stored* zeros;          // (H)
  float* carry;           // (LANES, H)
  float* log_odds;        // (1 + T): 0, then those of each token's n-grams
  float* projected;       // (T, 2 A): twice the queries and keys, then the exponentials of the queries
  float* keys;            // (A, T rounded up): the exponentials of the keys
  float* row;             // (T rounded up): a row of weights
  float* mean;            // (T rounded up): the mean of the rows
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
    scratch.states[lane] = (Stored*)take(lengths[lane] * DIRECTIONS * network.hidden * sizeof(Stored));
  scratch.zeros = (Stored*)take(network.hidden * sizeof(Stored));
  scratch.carry = (float*)take(LANES * network.hidden * sizeof(float));
  scratch.log_odds = (float*)take((1 + longest) * sizeof(float));
  scratch.projected = (float*)take(longest * 2 * network.units * sizeof(float));
  scratch.keys = (float*)take(network.units * rounded * sizeof(float));
  scratch.row = (float*)take(rounded * sizeof(float));
  scratch.mean = (float*)take(rounded * sizeof(float));
  return used;
}

size_t scratch_size(const Network& network, size_t longest) {
  size_t lengths[LANES] = {};
  for (size_t& length : lengths) length = longest;
  Scratch scratch;
  return carve(network, lengths, LANES, nullptr, scratch);
}

// The sums begin with W x + b
struct Word {
  typedef Stored State;
  typedef Stored Input;
  const float* bias;  // (H): b_h

  NSMC_INLINE void begin(const Stored* input, size_t block, float* sums) const {
    store(sums, load(input));
    store(sums + W, load(input + W));
    store(sums + 2 * W, load(bias + block * W));
  }
  NSMC_INLINE Vector gate(const Stored*, const float* sums, size_t, size_t gate) const { return load(sums + gate * W); }
  NSMC_INLINE Vector candidate(const float* sums, size_t) const { return load(sums + 2 * W); }
  NSMC_INLINE static void keep(Stored* to, Vector state) { store(to, state); }
};

void encode(const Network& network, const Review* reviews, const size_t* lengths, size_t count,
            const Scratch& scratch) {
  const size_t hidden = network.hidden;
  const Sequences<Stored> sequences = {hidden, count, lengths, scratch.states, scratch.zeros, scratch.carry};
  for (size_t direction = 0; direction < DIRECTIONS; ++direction) {
    const Stored* table = static_cast<const Stored*>(network.table) + direction * GATES * hidden;
    const Stored* recurrent = static_cast<const Stored*>(network.recurrent) + direction * GATES * hidden * hidden;
    const Word cell = {network.hidden_bias + direction * hidden};
    read_sequences(sequences, cell, recurrent, direction, [&](size_t lane, size_t place) {
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
  float square = 0, total = 0;
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
    for (size_t i = 0; i < NGRAMS; ++i) log_odds[t + 1] += weights[i];
  }
  for (size_t i = 0; i < NGRAMS; ++i) square += squares[i];
  const float root = __builtin_sqrtf(square > 1e-6f ? square : 1e-6f);
  for (size_t t = 1; t <= review.length; ++t) total += log_odds[t] /= root;
  return total;
}

// Twice the query and key of `count` tokens from `first`, in the columns of one panel
NSMC_INLINE void project_tile(const Network& network, const Stored* states, const Scratch& scratch, size_t first,
                              size_t count, size_t panel) {
  const size_t columns = 2 * network.units, width = DIRECTIONS * network.hidden, start = panel * 2 * W;
  const float *bias = network.bias + start, *evidence = network.evidence + start;
  const Stored* rows[TILE];
  alignas(ALIGNMENT) float sums[TILE * 2 * W];
  for (size_t l = 0; l < count; ++l) {
    rows[l] = states + (first + l) * width;
    const float before = scratch.log_odds[first + l], own = scratch.log_odds[first + l + 1];
    for (size_t c = 0; c < 2 * W; c += W) {
      const Vector sum = load(bias + c) + own * load(evidence + c);
      store(sums + l * 2 * W + c, sum + before * load(evidence + columns + c));
    }
  }
  multiply_rows<TILE, 2>(count, sums, rows, static_cast<const Stored*>(network.projection) + start * width, width);
  for (size_t l = 0; l < count; ++l)
    std::memcpy(scratch.projected + (first + l) * columns + start, sums + l * 2 * W, 2 * W * sizeof(float));
}

// Twice the query and key of each token (T, 2 A)
void project(const Network& network, const Stored* states, size_t length, const Scratch& scratch) {
  for (size_t first = 0; first < length; first += TILE)
    for (size_t panel = 0; panel < network.units / W; ++panel)
      project_tile(network, states, scratch, first, length - first < TILE ? length - first : TILE, panel);
}

// The largest magnitude in a column block (T, A) of what is projected, or what is not a number
float largest(const float* projected, size_t length, size_t units) {
  Vector most = {};
  for (size_t t = 0; t < length; ++t)
    for (size_t a = 0; a < units; a += W) {
      const Vector value = load(projected + t * 2 * units + a), magnitude = value < 0 ? -value : value;
      most = magnitude <= most ? most : magnitude;
    }
  float found = 0;
  for (size_t w = 0; w < W; ++w) found = most[w] <= found ? found : most[w];
  return found;
}

// Whether products of exponentials are exact to 1e-8: each is limited to e^86, which changes tanh(q + k) only where the
// other has the other sign and a magnitude above e^68.
bool factorizes(const float* projected, size_t length, size_t units) {
  const float query = largest(projected, length, units), key = largest(projected + units, length, units);
  return (query <= 86 && key <= 86) || (query <= 68 && key < INFINITY) || (key <= 68 && query < INFINITY);
}

// The scores of a token with W tokens, but for a constant that no softmax sees:
//   sum_a v_a tanh(q_a + k_a) = sum_a v_a - 2 sum_a v_a / (1 + e^(2 q_a) e^(2 k_a))
// Exponentials are taken once a token rather than once a pair, and two fractions are added over one denominator:
// limited to 1e18, each differs by less than 1e-18. A review whose exponentials are too large is computed with one a
// pair.
template <bool FACTORIZED>
NSMC_INLINE Vector scores(const float* query, const float* keys, size_t rounded, const float* score, size_t units) {
  Vector sum = {};
  for (size_t a = 0; a < units; a += 2) {
    const Vector k0 = load(keys + a * rounded), k1 = load(keys + (a + 1) * rounded);
    const Vector e0 = FACTORIZED ? query[a] * k0 : exponential(query[a] + k0);
    const Vector e1 = FACTORIZED ? query[a + 1] * k1 : exponential(query[a + 1] + k1);
    const Vector x = limited(1.0f + e0, 1e18f), y = limited(1.0f + e1, 1e18f);
    sum += (score[a] * y + score[a + 1] * x) / (x * y);
  }
  return sum;
}

// The weights of one query from its scores, in place: softmax, 0 beyond the review
NSMC_INLINE void softmax(float* row, size_t length) {
  float highest = row[0], total = 0;
  for (size_t j = 1; j < length; ++j) highest = row[j] > highest ? row[j] : highest;
  Vector totals = {};
  for (size_t j = 0; j < length; j += W) {
    float index[W];
    for (size_t w = 0; w < W; ++w) index[w] = float(j + w);
    const Vector value = exponential(load(row + j) - highest);
    const Vector inside = load(index) < float(length) ? value : Vector{};
    store(row + j, inside);
    totals += inside;
  }
  for (size_t w = 0; w < W; ++w) total += totals[w];
  for (size_t j = 0; j < length; j += W) store(row + j, load(row + j) / total);
}

template <bool FACTORIZED>
void weigh(const Network& network, const Review& review, const Scratch& scratch) {
  const size_t length = review.length, rounded = round_up(length), units = network.units;
  std::memset(scratch.mean, 0, rounded * sizeof(float));
  for (size_t i = 0; i < length; ++i) {
    const float* query = scratch.projected + i * 2 * units;
    for (size_t j = 0; j < length; j += W)
      store(scratch.row + j, scores<FACTORIZED>(query, scratch.keys + j, rounded, network.score, units));
    softmax(scratch.row, length);
    for (size_t j = 0; j < length; j += W) store(scratch.mean + j, load(scratch.mean + j) + load(scratch.row + j));
    std::memcpy(review.weights + i * review.stride, scratch.row, length * sizeof(float));
  }
}

void attend(const Network& network, const Review& review, const Scratch& scratch) {
  const size_t length = review.length, rounded = round_up(length), units = network.units;
  const bool factorized = factorizes(scratch.projected, length, units);
  for (size_t t = 0; t < length; ++t) {
    float* query = scratch.projected + t * 2 * units;
    if (factorized)
      for (size_t a = 0; a < 2 * units; a += W) store(query + a, exponential(load(query + a)));
    for (size_t a = 0; a < units; ++a) scratch.keys[a * rounded + t] = query[units + a];
  }
  for (size_t a = 0; a < units; ++a)
    for (size_t t = length; t < rounded; ++t) scratch.keys[a * rounded + t] = 0;
  factorized ? weigh<true>(network, review, scratch) : weigh<false>(network, review, scratch);
}

// W units, from the `d`-th on, of the sum of the states by the weights
Vector pool(const Network& network, const Review& review, const Stored* states, const float* mean, size_t d) {
  Vector pooled = {};
  for (size_t t = 0; t < review.length; ++t) pooled += mean[t] * load(states + t * DIRECTIONS * network.hidden + d);
  return pooled;
}

float classify(const Network& network, const Review& review, const Stored* states, const float* mean, float log_odds) {
  const size_t width = DIRECTIONS * network.hidden, length = review.length;
  const float* output = network.output;
  Vector sum = {};
  for (size_t d = 0; d < width; d += W) {
    const Vector pooled = pool(network, review, states, mean, d);
    sum += pooled * load(output + d);
    if (review.contexts) store(review.contexts + d, pooled / float(length));
  }
  if (review.contexts) review.contexts[width] = log_odds;
  double logit = 0;
  for (size_t w = 0; w < W; ++w) logit += double(sum[w]);
  logit = logit / double(length) + double(network.wide) * double(log_odds) + double(network.output_bias);
  return float(1 / (1 + std::exp(-logit)));
}

// The sign of the token at `place` from its states, 1 where values have none
float sign_of(const Network& network, const Stored* states, size_t place) {
  if (!network.sign) return 1;
  const size_t width = DIRECTIONS * network.hidden;
  Vector sum = {};
  for (size_t d = 0; d < width; d += W) sum += load(states + place * width + d) * load(network.sign + d);
  float found = network.sign_bias;
  for (size_t w = 0; w < W; ++w) found += sum[w];
  return tangent(all(found))[0];
}

// o . v of the token at `place`, whose v times its weight is added to the contexts, if they are wanted
float value_of(const Network& network, const Review& review, size_t place, float weight) {
  const Stored* table = static_cast<const Stored*>(network.table) + DIRECTIONS * GATES * network.hidden;
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
  float found = 0;
  for (size_t w = 0; w < W; ++w) found += sum[w];
  return found;
}

// Of values: each token's share of the log-odds, whose sum it returns with the bias as a probability
float add_up(const Network& network, const Review& review, const Stored* states, const Scratch& scratch) {
  const float length = float(review.length);
  if (review.contexts) {
    std::fill(review.contexts, review.contexts + network.value_units, 0.0f);
    float* means = review.contexts + network.value_units;
    for (size_t d = 0; d < DIRECTIONS * network.hidden; d += W)
      store(means + d, pool(network, review, states, scratch.mean, d) / length);
  }
  double logit = double(network.output_bias);
  // what a token gives the next one of its n-grams' log-odds, see `shared_with_next` of the network
  float given = 0;
  for (size_t t = 0; t < review.length; ++t) {
    const float root = __builtin_sqrtf(scratch.mean[t] > 1e-6f ? scratch.mean[t] : 1e-6f);
    const float log_odds = scratch.log_odds[t + 1] + given;
    given = t + 1 < review.length ? SHARED * scratch.log_odds[t + 1] : 0;
    const float evidence = root * (log_odds - given), weight = scratch.mean[t] / length;
    const float weight_with_sign = sign_of(network, states, t) * weight;
    const float share = weight_with_sign * value_of(network, review, t, weight_with_sign) + network.wide * evidence;
    if (review.contributions) review.contributions[t] = share;
    logit += double(share);
  }
  return float(1 / (1 + std::exp(-logit)));
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
    project(network, scratch.states[lane], review.length, scratch);
    attend(network, review, scratch);
    *review.probability = network.window ? add_up(network, review, scratch.states[lane], scratch)
                                         : classify(network, review, scratch.states[lane], scratch.mean, log_odds);
  }
}

}  // namespace
