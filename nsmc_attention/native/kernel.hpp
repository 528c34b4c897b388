// What the classifier's and the editor's forward passes have in common, written once over vectors of W floats and
// compiled once for each instruction set by the files kernel_*.cpp, which include what this file needs and
// classifier.hpp or editor.hpp or both after it, and define NSMC_WIDTH, NSMC_TILE and perhaps NSMC_BF16 or NSMC_VNNI.
//
//   GRU (Cho et al. 2014), of each direction, with W x + b given:
//     r, z = sigmoid(W x + b + U h),  n = tanh(W x + b + r * (U h + b_h)),  h' = n + z * (h - n)
//
// A result depends on the text alone: each number is the sum of the same terms in the same order, however many
// texts are computed beside it.
//
// Everything here has internal linkage and calls nothing inline from elsewhere: otherwise the linker might give
// a processor the copy of a function that was compiled for another.

namespace {

using namespace nsmc;

constexpr size_t W = NSMC_WIDTH;
// Reviews or tokens whose sums the registers hold at once, beside the weights
constexpr size_t TILE = NSMC_TILE;

#include "vectors.hpp"

#include "products.hpp"

#ifdef NSMC_BF16
typedef std::uint16_t Stored;
typedef std::uint16_t Halves __attribute__((vector_size(2 * W)));

NSMC_INLINE Vector load(const Stored* from) {
  return (Vector)(__builtin_convertvector(load_as<Halves>(from), Bits) << 16);
}
NSMC_INLINE void store(Stored* to, Vector value) {
  auto rounded = _mm512_cvtneps_pbh((__m512)value);
  std::memcpy(to, &rounded, sizeof rounded);
}
// A product of bfloat16 sums two terms at a time, those of a pair of rows.
template <>
struct Product<std::uint16_t> {
  typedef Vector Sum;
  NSMC_INLINE static Vector weights(const Stored* from) { return load_as<Vector>(from); }
  NSMC_INLINE static Vector factor(const Stored* pair) {
    return (Vector)_mm512_set1_epi32(load_as<std::int32_t>(pair));
  }
  NSMC_INLINE static Vector add(Vector sum, Vector weights, Vector factor) {
    return (Vector)_mm512_dpbf16_ps((__m512)sum, (__m512bh)weights, (__m512bh)factor);
  }
};
#else
typedef float Stored;
#endif

// One step of one direction for several texts. A Cell says how states are stored, of what type inputs are, how the sums
// of the gates begin and what becomes of them.
template <class Cell>
struct Step {
  typedef typename Cell::State State;
  typedef typename Cell::Input Input;
  const Cell* cell;
  const State* recurrent;
  const Input *input[LANES], *next[LANES];
  const State* before[LANES];
  State* after[LANES];
  float* carry;  // (LANES, H): the states before and after in float
};

// n + z (h - n) with n = tanh(a), z = sigmoid(b), over one denominator: (z's exponential times (n's - 1) + h (n's + 1))
NSMC_INLINE Vector next_state(Vector a, Vector b, Vector h) {
  const Vector n = exponential(a + a, 40.0f), z = exponential(-b, 40.0f);
  return (z * (n - 1.0f) + h * (n + 1.0f)) / ((z + 1.0f) * (n + 1.0f));
}

// The units' new states from the sums of their gates, r and z with W x + b, n within r * (U h + b_h). Of all lanes one
// part after the other: the processor looks only so far ahead for what does not wait for an exponential.
template <class Cell>
NSMC_INLINE void finish(const Step<Cell>& step, size_t hidden, size_t first, size_t count, size_t block, float* sums) {
  constexpr size_t size = GATES * W;
  const auto input = [&](size_t l) { return step.input[first + l] + block * size; };
  for (size_t l = 0; l < count; ++l) {
    float* own = sums + l * size;
    const Vector r = sigmoid(step.cell->gate(input(l), own, block, 0));
    store(own, load(input(l) + 2 * W) + r * step.cell->candidate(own, block));
  }
  for (size_t l = 0; l < count; ++l) {
    const float* own = sums + l * size;
    float* carry = step.carry + (first + l) * hidden + block * W;
    const Vector state = next_state(load(own), step.cell->gate(input(l), own, block, 1), load(carry));
    store(carry, state);
    Cell::keep(step.after[first + l] + block * W, state);
  }
}

// The step of `active` lanes: for each block of W units, tiles of lanes whose sums fit the registers
template <class Cell>
void make_step(const Step<Cell>& step, size_t hidden, size_t active) {
  constexpr size_t size = GATES * W;
  alignas(ALIGNMENT) float sums[TILE * size];
  for (size_t block = 0; block < hidden / W; ++block)
    for (size_t first = 0; first < active; first += TILE) {
      const size_t count = active - first < TILE ? active - first : TILE;
      for (size_t l = 0; l < count; ++l) {
        const auto* next = (const char*)(step.next[first + l] + block * size);
        step.cell->begin(step.input[first + l] + block * size, block, sums + l * size);
        for (size_t line = 0; line < size * sizeof(typename Cell::Input); line += ALIGNMENT)
          __builtin_prefetch(next + line);
      }
      multiply_rows<TILE, GATES>(count, sums, step.before + first, step.recurrent + block * size * hidden, hidden);
      finish(step, hidden, first, count, block, sums);
    }
}

// The memory of a group of sequences, the longest first
template <class State>
struct Sequences {
  size_t hidden, count;
  const size_t* lengths;
  State* const* states;  // (T, 2 H) of each sequence
  State* zeros;          // (H)
  float* carry;          // (LANES, H)
};

// States of one direction: each sequence is read from its first place, or from its last; finished ones drop out.
// `input(lane, place)` is W x + b of a place.
template <class Cell, class Inputs>
void read_sequences(const Sequences<typename Cell::State>& own, const Cell& cell, const typename Cell::State* recurrent,
                    size_t direction, Inputs input) {
  const size_t hidden = own.hidden;
  Step<Cell> step;
  step.cell = &cell;
  step.recurrent = recurrent;
  step.carry = own.carry;
  std::memset(step.carry, 0, LANES * hidden * sizeof(float));
  for (size_t unit = 0; unit < hidden; unit += W) Cell::keep(own.zeros + unit, Vector{});
  size_t active = own.count;
  for (size_t time = 0; time < own.lengths[0]; ++time) {
    while (own.lengths[active - 1] <= time) --active;
    for (size_t lane = 0; lane < active; ++lane) {
      const size_t last = own.lengths[lane] - 1, place = direction ? last - time : time;
      step.input[lane] = input(lane, place);
      step.next[lane] = input(lane, time == last ? place : direction ? place - 1 : place + 1);
      step.before[lane] = time ? step.after[lane] : own.zeros;
      step.after[lane] = own.states[lane] + place * DIRECTIONS * hidden + direction * hidden;
    }
    make_step(step, hidden, active);
  }
}

// rows (count, depth), `stride` numbers apart, times panels (panels, depth, 3, W): sums (count, panels, 3, W) that
// begin with `starts` (panels, 3, W), as `end(column, sum)` makes them
template <class Number, class End>
void multiply_all(const Number* rows, size_t stride, size_t count, size_t depth, const Number* panels,
                  size_t panel_count, const float* starts, float* found, End end) {
  constexpr size_t columns = GATES * W;
  alignas(ALIGNMENT) float sums[TILE * columns];
  for (size_t panel = 0; panel < panel_count; ++panel, panels += columns * depth, starts += columns)
    for (size_t first = 0; first < count; first += TILE) {
      const size_t own = count - first < TILE ? count - first : TILE;
      const Number* lanes[TILE];
      for (size_t l = 0; l < own; ++l) {
        lanes[l] = rows + (first + l) * stride;
        std::memcpy(sums + l * columns, starts, columns * sizeof(float));
      }
      multiply_rows<TILE, GATES>(own, sums, lanes, panels, depth);
      for (size_t l = 0; l < own; ++l)
        for (size_t c = 0; c < columns; c += W)
          store(found + ((first + l) * panel_count + panel) * columns + c,
                end(panel * columns + c, load(sums + l * columns + c)));
    }
}

// The sums as they are
NSMC_INLINE Vector same(size_t, Vector sum) { return sum; }

#if !defined(NSMC_BF16) && !defined(NSMC_VNNI) && !defined(NSMC_BYTES)
void make_table(const float* rows, size_t count, size_t depth, const float* panels, size_t panel_count,
                const float* bias, float* found) {
  multiply_all(rows, depth, count, depth, panels, panel_count, bias, found, same);
}
#endif

}  // namespace
