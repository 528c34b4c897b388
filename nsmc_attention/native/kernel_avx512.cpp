// The kernel for AVX-512: vectors of sixteen floats in thirty-two registers.
#ifdef __x86_64__
#include "prelude.hpp"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,fma")
#endif
#define NSMC_WIDTH 16
#define NSMC_TILE 8
#include "kernel.hpp"

#include "classifier.hpp"
#include "editor.hpp"
#ifdef __clang__
#pragma clang attribute pop
#endif

const nsmc::Kernel nsmc::avx512_kernel = {"avx512", W, 1, scratch_size, run, make_table, editor_scratch, edit};
#endif
