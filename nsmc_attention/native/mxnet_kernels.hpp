// The computations of mxnet_operators.cpp, on vectors of W numbers. Included there once for each kind of processor,
// with W and a namespace of its own.

#include "vectors.hpp"

#include "dense.hpp"

// The first `count` numbers, then zeros.
NSMC_INLINE Vector load_some(const float* from, int count) {
  if (count >= W) return load(from);
  Vector values = {};
  std::memcpy(&values, from, sizeof(float) * count);
  return values;
}

NSMC_INLINE void store_some(float* to, Vector values, int count) {
  if (count >= W) return store(to, values);
  std::memcpy(to, &values, sizeof(float) * count);
}

// Half of the numbers are added to the other half, until one is left.
NSMC_INLINE float sum(Vector values) {
  float numbers[W];
  store(numbers, values);
  for (int half = W / 2; half; half /= 2)
    for (int i = 0; i < half; ++i) numbers[i] += numbers[half + i];
  return numbers[0];
}

// ------------------------------------------------------------------------------------------------ additive attention
//
// The score of query i and key j is sum_a v_a tanh(q_ia + k_ja), and tanh(x) = 1 - 2 r with r = 1 / (1 + e^2x). The 1
// is the same for all keys, so the softmax over the keys does not know it: the score is -2 sum_a v_a r_ija. As e^2(q +
// k) is e^2q e^2k, exponentials are taken once a token instead of once a pair. These two are finite and not 0 for
// numbers up to NEAR; a review with a larger one has the exponential taken of each sum.
//
// Backward, with d_ij the gradient with respect to the score of a pair: as d tanh(x) / dx = 4 r (1 - r),
//   dq_ia = 4 v_a sum_j d_ij r_ija (1 - r_ija),  dk_ja the same over i,  dv_a = -2 sum_ij d_ij r_ija.
//
// Inputs of the operator: states (N, T, D), the queries' matrix (A, D) and bias (A), the keys' matrix (A, D), v (1, A),
// and the mask (N, T, T) of 0 and 1. `first` is 0 in the forward call and 1 in the backward call.

constexpr float NEAR = 43;

// Sizes and working memory of the reviews of one batch: T tokens, A units padded to a multiple of W. What is projected
// of a token is its query and then its key, both padded.
struct Workspace {
  int reviews, tokens, width, units, padded;
  std::vector<float> query, key, vector, d_key, d_vector, scores;
  std::vector<int> allowed;

  Workspace(const Call& call, int first)
      : reviews(call.size(first, 0)),
        tokens(call.size(first, 1)),
        width(call.size(first, 2)),
        units(call.size(first + 1, 0)),
        padded(up(units, W)),
        query(tokens * padded),
        key(tokens * padded),
        vector(padded),
        d_key(tokens * padded),
        d_vector(padded),
        scores(up(tokens, W)),
        allowed(tokens) {
    std::copy_n(call.in(first + 4), units, vector.begin());
  }
};

// Queries and keys of all tokens (N T, 2 padded)
NSMC_INLINE void project(const Call& call, const Workspace& work, Projection& kept) {
  constexpr int panel = PANEL * W;
  const int columns = 2 * work.padded, count = work.reviews * work.tokens;
  std::vector<float> bias(columns);
  std::copy_n(call.in(2), work.units, bias.begin());
  kept.panels.resize(int64_t(columns) * work.width);
  for (int side = 0; side < 2; ++side)
    for (int unit = 0; unit < work.units; ++unit) {
      const float* row = call.in(1 + 2 * side) + unit * work.width;
      const int column = side * work.padded + unit;
      float* to = &kept.panels[int64_t(column / panel) * panel * work.width + column % panel];
      for (int d = 0; d < work.width; ++d) to[d * panel] = row[d];
    }
  kept.projected.resize(int64_t(count) * columns);
  alignas(64) float sums[TILE * panel];
  const float* rows[TILE];
  for (int first = 0; first < count; first += TILE) {
    const int own = std::min(TILE, count - first);
    for (int l = 0; l < own; ++l) rows[l] = call.in(0) + int64_t(first + l) * work.width;
    for (int column = 0; column < columns; column += panel) {
      for (int l = 0; l < own; ++l) std::copy_n(&bias[column], panel, sums + l * panel);
      multiply_rows<TILE, PANEL>(own, sums, rows, &kept.panels[int64_t(column) * work.width], work.width);
      for (int l = 0; l < own; ++l)
        std::copy_n(sums + l * panel, panel, &kept.projected[int64_t(first + l) * columns + column]);
    }
  }
}

NSMC_INLINE bool all_near(const float* values, int count) {
  float largest = 0;
  for (int i = 0; i < count; ++i) largest = std::max(largest, std::fabs(values[i]));
  return largest <= NEAR;
}

// e^2x of each token's query and key; where `FAR`, 2x itself.
template <bool FAR>
NSMC_INLINE void prepare(Workspace& work, const float* projected) {
  for (int token = 0; token < work.tokens; ++token)
    for (std::vector<float>* to : {&work.query, &work.key})
      for (int a = 0; a < work.padded; a += W, projected += W) {
        const Vector doubled = load(projected) * 2.0f;
        store(to->data() + token * work.padded + a, FAR ? doubled : exponential(doubled));
      }
}

// r of a pair from what `prepare` made of its tokens.
template <bool FAR>
NSMC_INLINE Vector ratio(const Vector& query, const Vector& key) {
  return 1.0f / (1.0f + (FAR ? exponential(query + key) : query * key));
}

NSMC_INLINE int list_allowed(const float* mask, Workspace& work) {
  int count = 0;
  for (int j = 0; j < work.tokens; ++j) {
    work.allowed[count] = j;
    count += mask[j] != 0;
  }
  return count;
}

// The softmax of the first `count` scores, into the places of `allowed` in a row of weights.
NSMC_INLINE void softmax(Workspace& work, int count, float* row) {
  std::fill_n(row, work.tokens, 0.0f);
  float largest = -INFINITY, total = 0;
  for (int j = 0; j < count; ++j) largest = std::max(largest, work.scores[j]);
  for (int j = 0; j < count; j += W) store(&work.scores[j], exponential(load(&work.scores[j]) - largest));
  for (int j = 0; j < count; ++j) total += work.scores[j];
  for (int j = 0; j < count; ++j) row[work.allowed[j]] = work.scores[j] / total;
}

template <bool FAR>
NSMC_INLINE void weigh_review(Workspace& work, const float* projected, const float* mask, float* weights) {
  const int padded = work.padded;
  prepare<FAR>(work, projected);
  for (int i = 0; i < work.tokens; ++i) {
    const int count = list_allowed(mask + i * work.tokens, work);
    for (int j = 0; j < count; ++j) {
      Vector score = {};
      for (int a = 0; a < padded; a += W)
        score += load(&work.vector[a]) *
                 ratio<FAR>(load(&work.query[i * padded + a]), load(&work.key[work.allowed[j] * padded + a]));
      work.scores[j] = -2 * sum(score);
    }
    softmax(work, count, weights + i * work.tokens);
  }
}

NSMC_INLINE void weigh(const Call& call, Projection& kept) {
  Workspace work(call, 0);
  project(call, work, kept);
  const int size = work.tokens * 2 * work.padded, pairs = work.tokens * work.tokens;
  for (int64_t n = 0; n < work.reviews; ++n) {
    const float* projected = &kept.projected[int64_t(n) * size];
    (all_near(projected, size) ? weigh_review<false> : weigh_review<true>)(work, projected, call.in(5) + n * pairs,
                                                                           call.out(0) + n * pairs);
  }
}

// The gradient with respect to the scores of one row, of the pairs whose weight is not 0; returns their number.
NSMC_INLINE int row_gradient(Workspace& work, const float* weights, const float* d_weights) {
  float mean = 0;
  for (int j = 0; j < work.tokens; ++j) mean += weights[j] * d_weights[j];
  const int count = list_allowed(weights, work);
  for (int j = 0; j < count; ++j) {
    const int key = work.allowed[j];
    work.scores[j] = weights[key] * (d_weights[key] - mean);
  }
  return count;
}

// The gradients with respect to the query and key of each token, in the places of these
template <bool FAR>
NSMC_INLINE void backward_review(Workspace& work, const float* projected, const float* weights, const float* d_weights,
                                 float* d_projected) {
  const int padded = work.padded;
  prepare<FAR>(work, projected);
  std::fill(work.d_key.begin(), work.d_key.end(), 0.0f);
  for (int i = 0; i < work.tokens; ++i) {
    const int count = row_gradient(work, weights + i * work.tokens, d_weights + i * work.tokens);
    for (int a = 0; a < padded; a += W) {
      const Vector own = load(&work.query[i * padded + a]);
      Vector d_own = {}, d_vector = load(&work.d_vector[a]);
      for (int j = 0; j < count; ++j) {
        const int at = work.allowed[j] * padded + a;
        const Vector r = ratio<FAR>(own, load(&work.key[at])), dr = work.scores[j] * r, slope = dr - dr * r;
        d_own += slope;
        d_vector += dr;
        store(&work.d_key[at], load(&work.d_key[at]) + slope);
      }
      store(&work.d_vector[a], d_vector);
      store(d_projected + 2 * i * padded + a, d_own * 4.0f * load(&work.vector[a]));
    }
  }
  for (int j = 0; j < work.tokens; ++j)
    for (int a = 0; a < padded; a += W)
      store(d_projected + (2 * j + 1) * padded + a, 4.0f * load(&work.vector[a]) * load(&work.d_key[j * padded + a]));
}

// The gradients of the states and of both matrices, of one review after the other, while its rows are in the cache
NSMC_INLINE void weigh_backward(const Call& call, Projection& kept) {
  Workspace work(call, 1);
  const int columns = 2 * work.padded, size = work.tokens * columns, pairs = work.tokens * work.tokens;
  Backward product(columns, work.width, kept.row_panels);
  for (int side = 0; side < 2; ++side)
    for (int unit = 0; unit < work.units; ++unit)
      product.set_row(side * work.padded + unit, call.in(2 + 2 * side) + unit * work.width);
  std::vector<float> d_projected(size), bias(columns), rows(int64_t(work.tokens) * product.width);
  std::vector<float*> d_rows(work.tokens);
  for (int i = 0; i < work.tokens; ++i) d_rows[i] = &rows[int64_t(i) * product.width];
  for (int64_t n = 0; n < work.reviews; ++n) {
    const int64_t at = int64_t(n) * work.tokens * work.width;
    const float* projected = &kept.projected[int64_t(n) * size];
    (all_near(projected, size)
         ? backward_review<false>
         : backward_review<true>)(work, projected, call.in(7) + n * pairs, call.in(0) + n * pairs, d_projected.data());
    for (int i = 0; i < size; i += columns)
      for (int a = 0; a < columns; ++a) bias[a] += d_projected[i + a];
    for (int i = 0; i < work.tokens; ++i) std::copy_n(call.in(1) + at + i * work.width, work.width, d_rows[i]);
    product.add(d_projected.data(), columns, rows.data(), work.tokens);
    std::fill(rows.begin(), rows.end(), 0.0f);
    product.multiply(d_projected.data(), columns, d_rows.data(), work.tokens);
    for (int i = 0; i < work.tokens; ++i) std::copy_n(d_rows[i], work.width, call.out(0) + at + i * work.width);
  }
  for (int side = 0; side < 2; ++side)
    for (int unit = 0; unit < work.units; ++unit)
      product.get_row(side * work.padded + unit, call.out(1 + 2 * side) + unit * work.width);
  std::copy_n(bias.begin(), work.units, call.out(2));
  for (int a = 0; a < work.units; ++a) call.out(4)[a] = -2 * work.d_vector[a];
  std::fill_n(call.out(5), call.size(6), 0.0f);
}

// ----------------------------------------------------------------------------------------------------------- dropout
//
// Each number is kept, and divided by the share of those kept, if a random 32-bit number is not below `p` of the range;
// a row of the last axis is dropped whole if one is below `rows` of it. That number is a hash of the place and the
// seed, so that the backward pass draws it again instead of keeping it. The seed is 64 numbers, 0 or 2 each: what
// MXNet's own dropout makes of as many ones while it trains. It leaves them 1 when it does not; then the data are
// copied.

// Chris Wellons' lowbias32, without bias of any output bit
NSMC_INLINE uint32_t hash(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352dU;
  x = (x ^ x >> 15) * 0x846ca68bU;
  return x ^ x >> 16;
}

NSMC_INLINE void drop(const Call& call, const float* seed) {
  const float* from = call.in(0);
  float* to = call.out(0);
  const int64_t count = call.size(0), width = call.size(0, call.input_dimensions[0] - 1);
  if (seed[0] == 1) {
    std::copy_n(from, count, to);
    return;
  }
  uint32_t low = 0, high = 0;
  for (int bit = 0; bit < 32; ++bit) {
    low |= static_cast<uint32_t>(seed[bit] != 0) << bit;
    high |= static_cast<uint32_t>(seed[32 + bit] != 0) << bit;
  }
  const double rate = call.attribute("p"), of_rows = call.attribute("rows");
  const uint32_t below = static_cast<uint32_t>(rate * 4294967296.0),
                 row_below = static_cast<uint32_t>(of_rows * 4294967296.0);
  const float scale = static_cast<float>(1 / ((1 - rate) * (1 - of_rows)));
  for (int64_t start = 0; start < count; start += width) {
    // the two halves of the seed change places: no row shares its number with a place
    if (hash(hash(static_cast<uint32_t>(start / width) ^ high) ^ low) < row_below)
      std::fill_n(to + start, width, 0.0f);
    else
      for (int64_t i = start; i < start + width; ++i)
        to[i] = hash(hash(static_cast<uint32_t>(i) ^ low) ^ high) < below ? 0.0f : from[i] * scale;
  }
}

NSMC_INLINE void dropout(const Call& call) { drop(call, call.in(1)); }

NSMC_INLINE void dropout_backward(const Call& call) {
  drop(call, call.in(2));
  std::fill_n(call.out(1), call.size(2), 0.0f);
}

// ---------------------------------------------------------------------------------------------------- mean of contexts
//
// Of T shares m_t, weights w_ts and states v_s, the mean of the contexts: sum_s c_s v_s with c_s = sum_t m_t w_ts.
// Backward, with g the gradient of the mean: dv_s = c_s g and dc_s = g . v_s, whence dw_ts = m_t dc_s, dm_t = sum_s
// w_ts dc_s.

NSMC_INLINE void pooled_weights(const float* shares, const float* weights, int queries, int keys, float* to) {
  std::fill_n(to, keys, 0.0f);
  for (int t = 0; t < queries; ++t)
    for (int s = 0; s < keys; ++s) to[s] += shares[t] * weights[t * keys + s];
}

NSMC_INLINE float dot(const float* one, const float* other, int count) {
  Vector total = {};
  for (int i = 0; i < count; i += W) total += load_some(one + i, count - i) * load_some(other + i, count - i);
  return sum(total);
}

NSMC_INLINE void pool(const Call& call) {
  const int queries = call.size(1, 1), keys = call.size(1, 2), width = call.size(2, 2);
  std::vector<float> shares(keys);
  for (int64_t n = 0; n < call.size(1, 0); ++n) {
    const float* states = call.in(2) + n * keys * width;
    float* mean = call.out(0) + n * width;
    pooled_weights(call.in(0) + n * queries, call.in(1) + n * queries * keys, queries, keys, shares.data());
    std::fill_n(mean, width, 0.0f);
    for (int s = 0; s < keys; ++s)
      for (int d = 0; d < width; ++d) mean[d] += shares[s] * states[s * width + d];
  }
}

NSMC_INLINE void pool_backward(const Call& call) {
  const int queries = call.size(2, 1), keys = call.size(2, 2), width = call.size(3, 2);
  std::vector<float> shares(keys), d_shares(keys);
  for (int64_t n = 0; n < call.size(2, 0); ++n) {
    const float *gradient = call.in(0) + n * width, *own = call.in(1) + n * queries;
    const float *weights = call.in(2) + n * queries * keys, *states = call.in(3) + n * keys * width;
    float *d_own = call.out(0) + n * queries, *d_weights = call.out(1) + n * queries * keys;
    float* d_states = call.out(2) + n * keys * width;
    pooled_weights(own, weights, queries, keys, shares.data());
    for (int s = 0; s < keys; ++s) {
      d_shares[s] = dot(gradient, states + s * width, width);
      for (int d = 0; d < width; ++d) d_states[s * width + d] = shares[s] * gradient[d];
    }
    for (int t = 0; t < queries; ++t) {
      d_own[t] = dot(weights + t * keys, d_shares.data(), keys);
      for (int s = 0; s < keys; ++s) d_weights[t * keys + s] = own[t] * d_shares[s];
    }
  }
}

// --------------------------------------------------------------------------------------------------------------- Adam

// Kingma & Ba 2015 (arXiv:1412.6980), algorithm 1 with the corrections in `rate`, as mxnet.nd.adam_update.
NSMC_INLINE void adam(int64_t count, float* parameters, const float* gradients, float* means, float* squares,
                      float rate, float scale, float beta1, float beta2, float epsilon) {
  for (int64_t i = 0; i < count; ++i) {
    const float gradient = scale * gradients[i];
    means[i] = beta1 * means[i] + (1 - beta1) * gradient;
    squares[i] = beta2 * squares[i] + (1 - beta2) * gradient * gradient;
    parameters[i] -= rate * means[i] / (std::sqrt(squares[i]) + epsilon);
  }
}

// A step of these rows of a table alone; the gradients have `width` numbers a row.
NSMC_INLINE void adam_rows(int64_t rows, const int64_t* places, int64_t width, float* parameters,
                           const float* gradients, float* means, float* squares, float rate, float scale, float beta1,
                           float beta2, float epsilon) {
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t at = places[row] * width;
    adam(width, parameters + at, gradients + row * width, means + at, squares + at, rate, scale, beta1, beta2, epsilon);
  }
}
