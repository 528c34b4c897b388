// Products of many rows with a matrix and their gradients, for gru.hpp and mxnet_kernels.hpp.

#include "products.hpp"

// Rows whose sums the registers hold at once, and the vectors of each
constexpr int TILE = W == 16 ? 8 : 4;
constexpr int PANEL = 2;

NSMC_INLINE int up(int size, int multiple) { return (size + multiple - 1) / multiple * multiple; }

// The sums (TILE, PANEL, W) += derivatives (count, TILE) times rows (count, PANEL, W), all with strides
__attribute__((noinline)) void add_products(const float* derivatives, int stride, const float* rows, int width,
                                            int count, float* sums, int sum_stride) {
  Vector sum[TILE][PANEL];
  for (int l = 0; l < TILE; ++l)
    for (int c = 0; c < PANEL; ++c) sum[l][c] = load(sums + l * sum_stride + c * W);
  for (int n = 0; n < count; ++n, derivatives += stride, rows += width) {
    Vector row[PANEL];
    for (int c = 0; c < PANEL; ++c) row[c] = load(rows + c * W);
    for (int l = 0; l < TILE; ++l)
      for (int c = 0; c < PANEL; ++c) sum[l][c] += row[c] * derivatives[l];
  }
  for (int l = 0; l < TILE; ++l)
    for (int c = 0; c < PANEL; ++c) store(sums + l * sum_stride + c * W, sum[l][c]);
}

// The backward pass of a product with a matrix M (depth, columns): of derivatives d (count, depth) and rows x (count,
// width), whose columns beyond those of M are 0, the gradients d M of the rows and d' x of the matrix. Depth is a
// multiple of TILE.
struct Backward {
  int depth, columns, width;
  // the rows of M in panels of PANEL vectors, memory of the caller's; the gradient (depth, width) so far
  std::vector<float>& panels;
  std::vector<float> sums;

  Backward(int depth, int columns, std::vector<float>& memory)
      : depth(depth), columns(columns), width(up(columns, PANEL * W)), panels(memory), sums(int64_t(depth) * width) {
    panels.resize(sums.size());
  }

  NSMC_INLINE void set_row(int number, const float* row) {
    constexpr int panel = PANEL * W;
    for (int column = 0; column < columns; column += panel)
      std::copy_n(row + column, std::min(panel, columns - column), &panels[int64_t(column) * depth + number * panel]);
  }

  NSMC_INLINE void add(const float* derivatives, int stride, const float* rows, int count) {
    for (int column = 0; column < width; column += PANEL * W)
      for (int first = 0; first < depth; first += TILE)
        add_products(derivatives + first, stride, rows + column, width, count, &sums[int64_t(first) * width + column],
                     width);
  }

  // Each row of `to` += d M
  NSMC_INLINE void multiply(const float* derivatives, int stride, float* const* to, int count) const {
    constexpr int panel = PANEL * W;
    alignas(64) float found[TILE * panel];
    const float* rows[TILE];
    for (int column = 0; column < width; column += panel)
      for (int first = 0; first < count; first += TILE) {
        const int own = std::min(TILE, count - first);
        for (int l = 0; l < own; ++l) {
          rows[l] = derivatives + int64_t(first + l) * stride;
          std::copy_n(to[first + l] + column, panel, found + l * panel);
        }
        multiply_rows<TILE, PANEL>(own, found, rows, &panels[int64_t(column) * depth], depth);
        for (int l = 0; l < own; ++l) std::copy_n(found + l * panel, panel, to[first + l] + column);
      }
  }

  NSMC_INLINE void get_row(int number, float* to) const { std::copy_n(&sums[int64_t(number) * width], columns, to); }
};
