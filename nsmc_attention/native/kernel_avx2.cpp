// The kernel for AVX2 with FMA: products of 16 bits and of bytes by two and three instructions.
#ifdef __x86_64__
#include "prelude.hpp"

NSMC_TARGET("avx2,fma")
#define NSMC_WHOLE
#define NSMC_WIDTH 8
#define NSMC_TILE 4
#include "kernel.hpp"

#include "classifier.hpp"
#include "editor.hpp"
NSMC_END

const nsmc::Kernel nsmc::avx2_kernel = {
    "avx2", W, form<State>(STATE_LEVELS), scratch_size, run, make_table, form<Level>(LEVELS), editor_scratch, edit};
#endif
