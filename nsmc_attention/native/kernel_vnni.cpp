// The kernel of editors for AVX-512 with products of bytes, which are summed in whole numbers.
#ifdef __x86_64__
#include "prelude.hpp"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx512vnni,fma"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx512vnni,fma")
#endif
#define NSMC_VNNI
#define NSMC_WIDTH 16
#define NSMC_TILE 8
#include "kernel.hpp"

#include "editor.hpp"
#ifdef __clang__
#pragma clang attribute pop
#endif

const nsmc::Kernel nsmc::vnni_kernel = {"vnni", W, 4, nullptr, nullptr, nullptr, editor_scratch, edit, ZERO};
#endif
