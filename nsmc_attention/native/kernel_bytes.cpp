// The kernel of editors for AVX2: products of bytes, by two instructions.
#ifdef __x86_64__
#include "prelude.hpp"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define NSMC_BYTES
#define NSMC_WIDTH 8
#define NSMC_TILE 3
#include "kernel.hpp"

#include "editor.hpp"
#ifdef __clang__
#pragma clang attribute pop
#endif

const nsmc::Kernel nsmc::bytes_kernel = {"bytes", W, 4, nullptr, nullptr, nullptr, editor_scratch, edit, ZERO};
#endif
