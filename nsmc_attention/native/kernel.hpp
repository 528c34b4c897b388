// What the classifier's and the editor's forward passes have in common, written once over vectors of W floats and
// compiled once for each instruction set by the files kernel_*.cpp, which include what this file needs and
// classifier.hpp and perhaps editor.hpp after it, and define NSMC_WIDTH, NSMC_TILE and perhaps NSMC_BF16, or
// NSMC_WHOLE and NSMC_VNNI.
//
//   GRU (Cho et al. 2014), of each direction, with W x + b given:
//     r, z = sigmoid(W x + b + U h),  n = tanh(W x + b + r * (U h + b_h)),  h' = n + z * (h - n)
//
// With NSMC_WHOLE, what states are multiplied by is rounded to whole numbers, and so are they (Jacob et al. 2018,
// arXiv:1712.05877): a state from -1 to 1 to a whole number of 1/8192 in the classifier and of 1/127 in the editor, the
// weights of a sum to whole numbers of a part of the largest. Sums of whole numbers are exact.
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

// The same of a type of number
template <class Number>
constexpr size_t ROWS_AT_ONCE = TILE;

#ifdef NSMC_WHOLE
// A product of whole numbers sums those of as many rows as four bytes hold.
template <class Number>
struct WholeProduct {
  typedef Integers Sum;
  NSMC_INLINE static Sum weights(const Number* from) { return load_as<Sum>(from); }
  NSMC_INLINE static Sum factor(const Number* some) { return Integers{} + load_as<std::int32_t>(some); }
  NSMC_INLINE static Vector total(Vector sum) { return __builtin_convertvector((Integers)sum, Vector); }
};

// Numbers of the classifier's states and of its table
typedef std::int16_t State;
typedef float Input;
constexpr int STATE_LEVELS = 8192;

template <>
struct Product<State> : WholeProduct<State> {
  NSMC_INLINE static Sum add(Sum sum, Sum weights, Sum factor) {
#if NSMC_WIDTH == 16 && defined NSMC_VNNI
    return (Sum)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)weights, (__m512i)factor);
#elif NSMC_WIDTH == 16
    return sum + (Sum)_mm512_madd_epi16((__m512i)weights, (__m512i)factor);
#elif defined NSMC_VNNI
    return (Sum)_mm256_dpwssd_avx_epi32((__m256i)sum, (__m256i)weights, (__m256i)factor);
#else
    return sum + (Sum)_mm256_madd_epi16((__m256i)weights, (__m256i)factor);
#endif
  }
};

typedef State States __attribute__((vector_size(2 * W)));
NSMC_INLINE Vector load(const State* from) {
  const auto whole = __builtin_convertvector(load_as<States>(from), Integers);
  return __builtin_convertvector(whole, Vector) * (1.0f / STATE_LEVELS);
}

#elif defined NSMC_BF16
typedef std::uint16_t State;
typedef State Input;
constexpr int STATE_LEVELS = 0;
typedef State States __attribute__((vector_size(2 * W)));

NSMC_INLINE Vector load(const State* from) {
  return (Vector)(__builtin_convertvector(load_as<States>(from), Bits) << 16);
}
NSMC_INLINE void store(State* to, Vector value) {
  auto rounded = _mm512_cvtneps_pbh((__m512)value);
  std::memcpy(to, &rounded, sizeof rounded);
}
// A product of bfloat16 sums two terms at a time, those of a pair of rows.
template <>
struct Product<State> {
  typedef Vector Sum;
  NSMC_INLINE static Vector weights(const State* from) { return load_as<Vector>(from); }
  NSMC_INLINE static Vector factor(const State* pair) { return (Vector)_mm512_set1_epi32(load_as<std::int32_t>(pair)); }
  NSMC_INLINE static Vector add(Vector sum, Vector weights, Vector factor) {
    return (Vector)_mm512_dpbf16_ps((__m512)sum, (__m512bh)weights, (__m512bh)factor);
  }
  NSMC_INLINE static Vector total(Vector sum) { return sum; }
};
#else
typedef float State;
typedef float Input;
constexpr int STATE_LEVELS = 0;
#endif

// What the Python part has to know of numbers, from 0 to 1 of which there are so many levels
template <class Number>
constexpr Form form(std::int32_t levels) {
  return {sizeof(float) / sizeof(Number), levels, std::is_same<Number, std::uint8_t>::value ? 128 : 0};
}

// Store a state in so many levels from 0 to 1, or as it is where there are none. Adding 1.5 * 2^23 rounds to a whole
// number, of two the even one, which the low bits of the sum hold.
template <int LEVELS, class Number>
NSMC_INLINE void keep(Number* to, Vector state) {
  constexpr float magic = 12582912.0f;
  if constexpr (!LEVELS) {
    store(to, state);
  } else if constexpr (std::is_same<Number, float>::value) {
    store(to, (state * float(LEVELS) + magic) - magic);
  } else {
    typedef Number Narrow __attribute__((vector_size(W * sizeof(Number))));
    const Integers shifted = (Integers)(state * float(LEVELS) + (magic + form<Number>(LEVELS).zero));
#if NSMC_WIDTH == 16
    if constexpr (sizeof(Number) == 1) {
      const __m128i bytes = _mm512_maskz_cvtepi32_epi8(0xffff, (__m512i)shifted);
      std::memcpy(to, &bytes, sizeof bytes);
      return;
    }
#endif
    const Narrow narrow = __builtin_convertvector(shifted, Narrow);
    std::memcpy(to, &narrow, sizeof narrow);
  }
}

// One direction of a GRU: numbers of its states and of W x + b, and the levels of a state
template <class Number, class Row, int LEVELS>
struct Cell {
  const Matrix* recurrent;
  const float* bias;  // (H): b_h

  NSMC_INLINE Vector product(const float* sums, size_t block, size_t gate) const {
    const Vector sum = Product<Number>::total(load(sums + gate * W));
    return load(recurrent->scale + (block * GATES + gate) * W) * sum;
  }
};

// One of its steps for several texts
template <class Number, class Row>
struct Step {
  const Row *input[LANES], *next[LANES];
  const Number* before[LANES];
  Number* after[LANES];
  float* carry;  // (LANES, H): the states before and after in float
};

// n + z (h - n) with n = tanh(a), z = sigmoid(b), over one denominator: (z's exponential times (n's - 1) + h (n's + 1))
NSMC_INLINE Vector next_state(Vector a, Vector b, Vector h) {
  const Vector n = exponential(a + a, 40.0f), z = exponential(-b, 40.0f);
  return (z * (n - 1.0f) + h * (n + 1.0f)) / ((z + 1.0f) * (n + 1.0f));
}

// Blocks of W units whose sums are multiplied before their states are found
constexpr size_t CHUNK = 4;

// The units' new states from the sums of their gates. Of all lanes and blocks one part after the other: the processor
// looks only so far ahead for what does not wait for an exponential.
template <class Number, class Row, int LEVELS>
NSMC_INLINE void finish(const Cell<Number, Row, LEVELS>& cell, const Step<Number, Row>& step, size_t hidden,
                        size_t active, size_t first, size_t last, float* sums) {
  constexpr size_t size = GATES * W;
  float* own = sums;
  for (size_t block = first; block < last; ++block)
    for (size_t l = 0; l < active; ++l, own += size) {
      const Row* input = step.input[l] + block * size;
      const Vector r = sigmoid(load(input) + cell.product(own, block, 0));
      store(own, load(input + 2 * W) + r * (load(cell.bias + block * W) + cell.product(own, block, 2)));
    }
  own = sums;
  for (size_t block = first; block < last; ++block)
    for (size_t l = 0; l < active; ++l, own += size) {
      float* carry = step.carry + l * hidden + block * W;
      const Vector z = load(step.input[l] + block * size + W) + cell.product(own, block, 1);
      const Vector state = next_state(load(own), z, load(carry));
      store(carry, state);
      keep<LEVELS>(step.after[l] + block * W, state);
    }
}

// The step of `active` lanes: for each block of W units, tiles of lanes whose sums fit the registers. No state is
// before the first step.
template <class Number, class Row, int LEVELS>
void make_step(const Cell<Number, Row, LEVELS>& cell, const Step<Number, Row>& step, bool is_first, size_t hidden,
               size_t active) {
  constexpr size_t size = GATES * W, tile = ROWS_AT_ONCE<Number>;
  alignas(ALIGNMENT) float sums[CHUNK * LANES * size];
  const Number* panel = static_cast<const Number*>(cell.recurrent->panels);
  for (size_t block = 0, last; block < hidden / W; block = last) {
    float* own = sums;
    for (last = block; last < hidden / W && last < block + CHUNK;
         ++last, panel += size * hidden, own += active * size) {
      for (size_t l = 0; l < active; ++l) {
        const auto* next = (const char*)(step.next[l] + last * size);
        for (size_t line = 0; line < size * sizeof(Row); line += ALIGNMENT) __builtin_prefetch(next + line);
        if (is_first)
          std::memset(own + l * size, 0, size * sizeof(float));
        else
          std::memcpy(own + l * size, cell.recurrent->offset + last * size, size * sizeof(float));
      }
      for (size_t l = 0; !is_first && l < active; l += tile)
        multiply_rows<tile, GATES>(active - l < tile ? active - l : tile, own + l * size, step.before + l, panel,
                                   hidden);
    }
    finish(cell, step, hidden, active, block, last, sums);
  }
}

// The memory of a group of sequences, the longest first
template <class Number>
struct Sequences {
  size_t hidden, count;
  const size_t* lengths;
  Number* const* states;  // (T, 2 H) of each sequence
  float* carry;           // (LANES, H)
};

// States of one direction: each sequence is read from its first place, or from its last; finished ones drop out.
// `input(lane, place)` is W x + b of a place.
template <class Number, class Row, int LEVELS, class Inputs>
void read_sequences(const Sequences<Number>& own, const Cell<Number, Row, LEVELS>& cell, size_t direction,
                    Inputs input) {
  const size_t hidden = own.hidden;
  Step<Number, Row> step;
  step.carry = own.carry;
  std::memset(step.carry, 0, LANES * hidden * sizeof(float));
  size_t active = own.count;
  for (size_t time = 0; time < own.lengths[0]; ++time) {
    while (own.lengths[active - 1] <= time) --active;
    for (size_t lane = 0; lane < active; ++lane) {
      const size_t last = own.lengths[lane] - 1, place = direction ? last - time : time;
      step.input[lane] = input(lane, place);
      step.next[lane] = input(lane, time == last ? place : direction ? place - 1 : place + 1);
      step.before[lane] = time ? step.after[lane] : nullptr;
      step.after[lane] = own.states[lane] + place * DIRECTIONS * hidden + direction * hidden;
    }
    make_step(cell, step, !time, hidden, active);
  }
}

// rows (count, depth), `stride` numbers apart, times panels (panels, depth, C, W): sums (count, panels, C, W) that
// begin with `starts` (panels, C, W), as `end(row, column, sum)` makes them
template <size_t C, class Number, class End>
void multiply_all(const Number* rows, size_t stride, size_t count, size_t depth, const Number* panels,
                  size_t panel_count, const float* starts, float* found, End end) {
  constexpr size_t columns = C * W, tile = ROWS_AT_ONCE<Number>;
  alignas(ALIGNMENT) float sums[tile * columns];
  for (size_t panel = 0; panel < panel_count; ++panel, panels += columns * depth, starts += columns)
    for (size_t first = 0; first < count; first += tile) {
      const size_t own = count - first < tile ? count - first : tile;
      const Number* lanes[tile];
      for (size_t l = 0; l < own; ++l) {
        lanes[l] = rows + (first + l) * stride;
        std::memcpy(sums + l * columns, starts, columns * sizeof(float));
      }
      multiply_rows<tile, C>(own, sums, lanes, panels, depth);
      for (size_t l = 0; l < own; ++l)
        for (size_t c = 0; c < columns; c += W)
          store(found + ((first + l) * panel_count + panel) * columns + c,
                end(first + l, panel * columns + c, load(sums + l * columns + c)));
    }
}

// The same of a matrix, each sum multiplied by the column's scale
template <size_t C, class Number, class End>
void multiply_matrix(const Number* rows, size_t count, size_t depth, const Matrix& own, float* found, End end) {
  multiply_all<C>(rows, depth, count, depth, static_cast<const Number*>(own.panels), own.count, own.offset, found,
                  [&](size_t row, size_t column, Vector sum) {
                    return end(row, column, load(own.scale + column) * Product<Number>::total(sum));
                  });
}

// The sums as they are
NSMC_INLINE Vector same(size_t, size_t, Vector sum) { return sum; }

void make_table(const float* rows, size_t count, size_t depth, const float* panels, size_t panel_count,
                const float* bias, float* found) {
  multiply_all<GATES>(rows, depth, count, depth, panels, panel_count, bias, found, same);
}

}  // namespace
