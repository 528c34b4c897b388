// Vectors of W floats and their exponential: what kernel.hpp and mxnet_kernels.hpp have in common. Included once for
// each instruction set, where W is known, in a namespace of its own: hence no include guard.

#ifndef NSMC_INLINE
#define NSMC_INLINE inline __attribute__((always_inline))
#endif

typedef float Vector __attribute__((vector_size(4 * W)));
typedef std::int32_t Integers __attribute__((vector_size(4 * W)));
typedef std::uint32_t Bits __attribute__((vector_size(4 * W)));

template <class Value, class Number>
NSMC_INLINE Value load_as(const Number* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

NSMC_INLINE Vector load(const float* from) { return load_as<Vector>(from); }
NSMC_INLINE void store(float* to, Vector value) { std::memcpy(to, &value, sizeof value); }
NSMC_INLINE Vector all(float value) { return value - Vector{}; }

// The smaller and the larger of both, b where one is not a number; GCC knows no instruction for it
template <class Value>
NSMC_INLINE Value least(Value a, Value b) {
#ifdef __x86_64__
  if constexpr (sizeof(Value) == 64) return (Value)_mm512_maskz_min_ps(0xffff, (__m512)a, (__m512)b);
  if constexpr (sizeof(Value) == 32) return (Value)_mm256_min_ps((__m256)a, (__m256)b);
#endif
  return a < b ? a : b;
}
template <class Value>
NSMC_INLINE Value greatest(Value a, Value b) {
#ifdef __x86_64__
  if constexpr (sizeof(Value) == 64) return (Value)_mm512_maskz_max_ps(0xffff, (__m512)a, (__m512)b);
  if constexpr (sizeof(Value) == 32) return (Value)_mm256_max_ps((__m256)a, (__m256)b);
#endif
  return a > b ? a : b;
}

// What is left of a vector by a function of two, such as their sum, of its halves, and theirs
template <class Value, class Function>
NSMC_INLINE float folded(const Value& value, Function function) {
  if constexpr (sizeof(Value) == 2 * sizeof(float)) {
    return function(value[0], value[1]);
  } else {
    typedef float Half __attribute__((vector_size(sizeof(Value) / 2)));
    Half halves[2];
    std::memcpy(halves, &value, sizeof value);
    return folded(function(halves[0], halves[1]), function);
  }
}
template <class Value>
NSMC_INLINE float sum_of(const Value& value) {
  return folded(value, [](auto a, auto b) { return a + b; });
}

// e^x = 2^n e^r with n = round(x / ln 2), |r| <= ln 2 / 2; the polynomial has the least relative error of its degree,
// 1e-7. Beyond |x| = limit x is limited: e^86 = 2e37.
NSMC_INLINE Vector exponential(Vector x, float limit = 86.0f) {
  constexpr float TERMS[] = {4.189797556e-2f, 1.666763658e-1f, 4.999914919e-1f, 9.999997070e-1f, 1.0f};
  x = greatest(all(-limit), least(all(limit), x));
  // adding 1.5 * 2^23 rounds to a whole number, which the low bits of the sum hold
  const Vector shifted = x * 1.44269504f + 12582912.0f;
  const Vector r = x - (shifted - 12582912.0f) * 0.693147181f;
  Vector sum = all(8.290306227e-3f);
  for (const float term : TERMS) sum = sum * r + term;
  return (Vector)((Bits)sum + ((Bits)shifted << 23));
}

NSMC_INLINE Vector sigmoid(Vector x) { return 1.0f / (1.0f + exponential(-x)); }
NSMC_INLINE Vector tangent(Vector x) { return 1.0f - 2.0f / (1.0f + exponential(x + x)); }
