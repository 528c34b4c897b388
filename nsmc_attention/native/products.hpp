// The matrix product of kernel.hpp and gru.hpp. Included after vectors.hpp.

#ifndef NSMC_BF16
typedef float Stored;
constexpr size_t PAIR = 1;

NSMC_INLINE Vector load_weights(const Stored* from) { return load(from); }
NSMC_INLINE Vector broadcast(const Stored* value) { return all(*value); }
NSMC_INLINE Vector multiply_add(Vector sum, Vector weights, Vector factor) { return sum + weights * factor; }
#endif

// The sums (L, C, W) += rows (L, depth) times panel (depth, C, W). The sums stay in registers, of which nothing else
// takes one as long as this is a function of its own. With one row, the panels' way from the second cache takes the
// time, not the products: several panels at once are no faster.
template <int L, int C>
__attribute__((noinline)) void multiply(float* sums, const Stored* const* rows, const Stored* panel, size_t depth) {
  const Stored* row[L];
  Vector sum[L][C];
  for (int l = 0; l < L; ++l) {
    row[l] = rows[l];
    for (int c = 0; c < C; ++c) sum[l][c] = load(sums + (l * C + c) * W);
  }
  for (size_t k = 0; k < depth; k += PAIR, panel += C * W * PAIR) {
    Vector weights[C];
    for (int c = 0; c < C; ++c) weights[c] = load_weights(panel + c * W * PAIR);
    for (int l = 0; l < L; ++l) {
      const Vector factor = broadcast(row[l] + k);
      for (int c = 0; c < C; ++c) sum[l][c] = multiply_add(sum[l][c], weights[c], factor);
    }
  }
  for (int l = 0; l < L; ++l)
    for (int c = 0; c < C; ++c) store(sums + (l * C + c) * W, sum[l][c]);
}

// Of up to L rows
template <int L, int C>
NSMC_INLINE void multiply_rows(size_t count, float* sums, const Stored* const* rows, const Stored* panel,
                               size_t depth) {
  if constexpr (L > 1) {
    if (count < L) return multiply_rows<L - 1, C>(count, sums, rows, panel, depth);
  }
  multiply<L, C>(sums, rows, panel, depth);
}
