// A classifier's parameters in the layout of the kernels, and what a kernel is. See kernel.hpp for the mathematics.
//
// Letters: V words of the vocabulary, E units of the embedding, H units of the GRU in each direction, A units of the
// attention's score, T tokens of a review. H and A are rounded up to whole vectors of any width; the units that are
// added have weights of 0 and stay 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nsmc {

using std::size_t;

// Reviews that a kernel computes side by side
constexpr size_t LANES = 8;
constexpr size_t DIRECTIONS = 2, GATES = 3, NGRAMS = 8;
// Bytes of the widest vector; sizes are rounded up to as many floats
constexpr size_t ALIGNMENT = 64, ROUNDED = 16;

static constexpr size_t round_up(size_t size, size_t multiple = ROUNDED) {
  return (size + multiple - 1) / multiple * multiple;
}

// What a kernel reads. "Stored" is the kernel's own type of number, float or bfloat16; W is its vector's width.
struct Network {
  size_t vocabulary, hidden, units, buckets;  // hidden and units are rounded up
  const void* table;         // Stored (V, 2, H / W, 3, W): W x + b of the words of a batch, direction, and gate r, z, n
  const void* recurrent;     // Stored (2, H / W, H, 3, W): U by blocks of units; of bfloat16, rows of H in pairs
  const float* hidden_bias;  // (2, H): the bias within r * (U h + b)
  const void* projection;    // Stored (2 A / 2 W, 2 H, 2, W): twice the weights of query and key
  const float* bias;         // (2 A): twice theirs
  const float* evidence;     // (2, 2 A): what the n-grams' log-odds of a token, and of the one before, add to them
  const float* score;        // (A): -2 v
  const float* output;       // (2 H): the last layer's row of positive less that of negative
  float output_bias, wide;   // the same of its bias, and of its weight of the n-grams' log-odds
  const std::uint16_t* ngrams;  // float16 (buckets, 2); null without n-grams
};

// One review of a batch and where its results go.
struct Review {
  const std::int32_t *tokens, *ngrams;  // (T), (T, NGRAMS) or null
  size_t length;                        // T, at least 1
  float* probability;
  float* weights;  // (T, T) in rows of `stride`
  size_t stride;
  float* contexts;  // (2 H + 1): what the last layer reads, the pooled states and the n-grams' log-odds; or null
};

struct Kernel {
  const char* name;
  size_t width;  // floats of a vector
  size_t pair;   // rows of a matrix that are stored side by side: 2 of bfloat16, else 1
  size_t (*scratch_size)(const Network&, size_t longest);
  // Compute up to LANES reviews, the longest first.
  void (*run)(const Network&, const Review*, size_t count, void* scratch);
  // rows (count, depth) times panels (panels, depth, 3, W) plus bias (panels, 3, W) -> (count, panels, 3, W)
  void (*multiply)(const float* rows, size_t count, size_t depth, const float* panels, size_t panel_count,
                   const float* bias, float* found);
};

extern const Kernel baseline_kernel;
#ifdef __x86_64__
extern const Kernel avx2_kernel, avx512_kernel, bf16_kernel;
#endif

}  // namespace nsmc
