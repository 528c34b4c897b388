// The matrix product of kernel.hpp and gru.hpp. Included after vectors.hpp.

// How numbers of a type are multiplied: those of a float's bytes side by side, of as many rows of a matrix.
template <class Number>
struct Product {
  typedef Vector Sum;
  NSMC_INLINE static Vector weights(const Number* from) { return load(from); }
  NSMC_INLINE static Vector factor(const Number* value) { return all(*value); }
  NSMC_INLINE static Vector add(Vector sum, Vector weights, Vector factor) { return sum + weights * factor; }
  NSMC_INLINE static Vector total(Vector sum) { return sum; }
};

// The sums (L, C, W) += rows (L, depth) times panel (depth, C, W). The sums stay in registers, of which nothing else
// takes one as long as this is a function of its own. With one row, the panels' way from the second cache takes the
// time, not the products: several panels at once are no faster.
template <int L, int C, class Number>
__attribute__((noinline)) void multiply(float* sums, const Number* const* rows, const Number* panel, size_t depth) {
  typedef Product<Number> Own;
  constexpr size_t PAIR = sizeof(float) / sizeof(Number);
  const Number* row[L];
  typename Own::Sum sum[L][C];
  for (int l = 0; l < L; ++l) {
    row[l] = rows[l];
    for (int c = 0; c < C; ++c) sum[l][c] = load_as<typename Own::Sum>(sums + (l * C + c) * W);
  }
  for (size_t k = 0; k < depth; k += PAIR, panel += C * W * PAIR) {
    typename Own::Sum weights[C];
    for (int c = 0; c < C; ++c) weights[c] = Own::weights(panel + c * W * PAIR);
    for (int l = 0; l < L; ++l) {
      const auto factor = Own::factor(row[l] + k);
      for (int c = 0; c < C; ++c) sum[l][c] = Own::add(sum[l][c], weights[c], factor);
    }
  }
  for (int l = 0; l < L; ++l)
    for (int c = 0; c < C; ++c) store(sums + (l * C + c) * W, (Vector)sum[l][c]);
}

// Of up to L rows
template <int L, int C, class Number>
NSMC_INLINE void multiply_rows(size_t count, float* sums, const Number* const* rows, const Number* panel,
                               size_t depth) {
  if constexpr (L > 1) {
    if (count < L) return multiply_rows<L - 1, C>(count, sums, rows, panel, depth);
  }
  multiply<L, C>(sums, rows, panel, depth);
}
