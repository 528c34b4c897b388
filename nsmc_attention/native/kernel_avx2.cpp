// The kernel for AVX2 with FMA: vectors of eight floats in sixteen registers.
#ifdef __x86_64__
#include "prelude.hpp"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define NSMC_WIDTH 8
#define NSMC_TILE 4
#include "kernel.hpp"

#include "classifier.hpp"
#include "editor.hpp"
#ifdef __clang__
#pragma clang attribute pop
#endif

const nsmc::Kernel nsmc::avx2_kernel = {"avx2", W, 1, scratch_size, run, make_table, editor_scratch, edit};
#endif
