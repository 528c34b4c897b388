// The kernel for AVX-512 without VNNI: products of whole numbers by two and three instructions.
#ifdef __x86_64__
#include "prelude.hpp"

NSMC_TARGET("avx512f,avx512vl,avx512dq,avx512bw,fma")
#define NSMC_WHOLE
#define NSMC_WIDTH 16
#define NSMC_TILE 8
#include "kernel.hpp"

#include "classifier.hpp"
#include "editor.hpp"
NSMC_END

const nsmc::Kernel nsmc::avx512_kernel = {
    "avx512", W, form<State>(STATE_LEVELS), scratch_size, run, make_table, form<Level>(LEVELS), editor_scratch, edit};
#endif
