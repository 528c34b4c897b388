// The kernel for AVX-512 with products of bfloat16, which are summed in float.
#ifdef __x86_64__
#include "prelude.hpp"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx512bf16,fma"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx512bf16,fma")
#endif
#define NSMC_BF16
#define NSMC_WIDTH 16
#define NSMC_TILE 8
#include "kernel.hpp"

#include "classifier.hpp"
#ifdef __clang__
#pragma clang attribute pop
#endif

const nsmc::Kernel nsmc::bf16_kernel = {"bf16", W, 2, scratch_size, run, nullptr, nullptr, nullptr};
#endif
