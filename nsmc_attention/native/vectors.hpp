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

// The smaller of both; what is not a number stays so, as no comparison with it holds
NSMC_INLINE Vector limited(Vector x, float limit) { return x > limit ? all(limit) : x; }

// e^x = 2^n e^r with n = round(x / ln 2), |r| <= ln 2 / 2; the polynomial is that of Cephes' expf. Relative error 2e-7
// for |x| <= 86 = limit, beyond which x is limited: e^86 = 2e37.
NSMC_INLINE Vector exponential(Vector x, float limit = 86.0f) {
  x = -limited(-limited(x, limit), limit);
  // adding 1.5 * 2^23 rounds to a whole number, which the low bits of the sum hold
  const Vector shifted = x * 1.44269504f + 12582912.0f;
  const Vector n = shifted - 12582912.0f;
  const Vector r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  Vector sum = all(1.9875691500e-4f);
  sum = sum * r + 1.3981999507e-3f;
  sum = sum * r + 8.3334519073e-3f;
  sum = sum * r + 4.1665795894e-2f;
  sum = sum * r + 1.6666665459e-1f;
  sum = sum * r + 5.0000001201e-1f;
  sum = sum * (r * r) + r + 1.0f;
  return (Vector)((Bits)sum + ((Bits)shifted << 23));
}

NSMC_INLINE Vector sigmoid(Vector x) { return 1.0f / (1.0f + exponential(-x)); }
NSMC_INLINE Vector tangent(Vector x) { return 1.0f - 2.0f / (1.0f + exponential(x + x)); }
