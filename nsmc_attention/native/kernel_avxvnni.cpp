// The kernel of editors for AVX2 with products of bytes (AVX-VNNI), which processors without AVX-512 may have.
#include "network.hpp"
#ifdef NSMC_AVXVNNI
#include "prelude.hpp"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,avxvnni"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,avxvnni")
#endif
#define NSMC_VNNI
#define NSMC_WIDTH 8
#define NSMC_TILE 4
#include "kernel.hpp"

#include "editor.hpp"
#ifdef __clang__
#pragma clang attribute pop
#endif

const nsmc::Kernel nsmc::avxvnni_kernel = {"avxvnni", W, 4, nullptr, nullptr, nullptr, editor_scratch, edit, ZERO};
#endif
