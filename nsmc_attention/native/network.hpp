// A classifier's and an editor's parameters in the layout of the kernels, and what a kernel is. See kernel.hpp for the
// mathematics.
//
// Letters: V words of the vocabulary, E units of the embedding, H units of the GRU in each direction, A units of the
// attention's score, T tokens of a review, U units of a value that is near its token. H, A and U are rounded up to
// whole vectors of any width; the units that are added have weights of 0 and stay 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nsmc {

using std::size_t;

// Reviews that a kernel computes side by side
constexpr size_t LANES = 8;
constexpr size_t DIRECTIONS = 2, GATES = 3, NGRAMS = 8;
// Rows of an editor's table that are added for a character
constexpr size_t ROWS = 5;
// Bytes of the widest vector; sizes are rounded up to as many floats
constexpr size_t ALIGNMENT = 64, ROUNDED = 16;

static constexpr size_t round_up(size_t size, size_t multiple = ROUNDED) {
  return (size + multiple - 1) / multiple * multiple;
}

// Weights of states, of C panels: numbers of the kernel's own type, of each column what makes sums of its numbers
// products, and what its sums begin with, in the type of these
struct Matrix {
  const void* panels;           // (C, D, 2 or 3, W), as many rows side by side as the kernel multiplies at once
  const float *scale, *offset;  // (C, 2 or 3, W)
  size_t count;                 // C
};

// What a kernel reads. Input is the kernel's own type of number of the table; W is its vector's width.
struct Network {
  size_t vocabulary, hidden, units, buckets;  // hidden and units are rounded up
  size_t row;         // numbers of a word in the table: 2 * 3 H, and of values window * U, rounded up
  const void* table;  // Input (V, row): W x + b by direction, block of W units and gate r, z, n; then, of values,
                      // what the word adds to those from `window / 2` places behind it to as many before it
  Matrix recurrent[DIRECTIONS];  // panels (H / W, H, 3, W): U by blocks of units
  const float* hidden_bias;      // (2, H): the bias within r * (U h + b)
  Matrix projection;             // panels (2 A / 2 W, 2 H, 2, W): twice the weights of query and key
  const float* bias;             // (2 A): twice theirs
  const float* evidence;         // (2, 2 A): what the n-grams' log-odds of a token, and of the one before, add to them
  const float* score;            // (A): -2 v
  const float* output;           // (2 H), of values (U): the last layer's row of positive less that of negative
  float output_bias, wide;       // the same of its bias, and of its weight of the n-grams' log-odds
  size_t window, value_units;    // tokens that a value is made of, 0 where states are the values; U, rounded up
  const float* value_bias;       // (U), null where values are not the tanh of their sum, or the table has it
  const float* sign;             // (2 H): of values, a token's are multiplied by tanh(sign . state + bias); null: they
  float sign_bias;               // are not
  const std::uint16_t* ngrams;   // float16 (buckets, 2); null without n-grams
};

// One review of a batch and where its results go.
struct Review {
  const std::int32_t *tokens, *ngrams;  // (T), (T, NGRAMS) or null
  size_t length;                        // T, at least 1
  float* probability;
  float* weights;  // (T, T) in rows of `stride`, or null
  size_t stride;
  float* contexts;       // (2 H + 1): pooled states, n-grams' log-odds; of values (U + 2 H): these, states; or null
  float* contributions;  // (T): of values, what each token adds to the log-odds; or null
};

// What a kernel reads of an editor: layers of a bidirectional GRU, one above the other, and two heads. H units of each
// direction and U of the tags' layer are multiples of ROUNDED; panels are of 3 W columns, the last ones' rest is 0. The
// tags are asked for where a change is likelier than none.
struct EditorLayer {
  Matrix inputs[DIRECTIONS],
      recurrent[DIRECTIONS];  // of the states below, none in the first layer, and of those before
  const float* bias;          // (2 H / W, 3, W): of the former, or of the sum of rows of the table
  const float* hidden_bias;   // as that of Network
};
struct Editor {
  size_t rows, hidden, units, layer_count;
  const EditorLayer* layers;
  const float* table;        // (rows, 2 H / W, 3, W): W x of each row of the embedding
  Matrix heads;              // a panel of (2, 2 H): the log-odds of a change and of a space
  const float* head_bias;    // of its columns
  Matrix narrow;             // panels of (U, 2 H): what the tags of a change are made of
  const float* narrow_bias;  // 0
  const float* tag;          // panels of (tags but KEEP, U)
  const float* tag_bias;     // of its columns, -infinity of those that are no tag
  size_t tag_panels;
};

// A text of a batch and where its results go.
struct Text {
  const std::int32_t* rows;  // (S, ROWS) of the table
  size_t length;             // S, at least 1
  std::int32_t* tags;        // (S), and the others
  float *certainty, *spaces;
};

// How a kernel stores states and their weights
struct Form {
  size_t pair;          // rows of a matrix that are stored side by side: 1 of float, 2 of 16 bits, 4 of bytes
  std::int32_t levels;  // of a state from 0 to 1, or 0: states are not rounded
  std::int32_t zero;    // the number of a level of 0
};

struct Kernel {
  const char* name;
  size_t width;  // floats of a vector
  // What classifiers need
  Form states;
  size_t (*scratch_size)(const Network&, size_t longest);
  // Compute up to LANES reviews, the longest first.
  void (*run)(const Network&, const Review*, size_t count, void* scratch);
  // rows (count, depth) times panels (panels, depth, 3, W) plus bias (panels, 3, W) -> (count, panels, 3, W)
  void (*multiply)(const float* rows, size_t count, size_t depth, const float* panels, size_t panel_count,
                   const float* bias, float* found);
  // What editors need, or null
  Form levels;
  size_t (*editor_scratch)(const Editor&, size_t longest);
  // Compute up to LANES texts, the longest first.
  void (*edit)(const Editor&, const Text*, size_t count, void* scratch);
};

extern const Kernel baseline_kernel;
#ifdef __x86_64__
extern const Kernel avx2_kernel, avxvnni_kernel, avx512_kernel, bf16_kernel, vnni_kernel;
// Older compilers do not know AVX-VNNI
#if defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 11
#define NSMC_AVXVNNI
#endif
#endif

}  // namespace nsmc
