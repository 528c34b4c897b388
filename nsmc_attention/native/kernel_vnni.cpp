// The kernel for AVX-512 with products of 16 bits and of bytes, which are summed in whole numbers.
#ifdef __x86_64__
#include "prelude.hpp"

NSMC_TARGET("avx512f,avx512vl,avx512dq,avx512bw,avx512vnni,fma")
#define NSMC_WHOLE
#define NSMC_VNNI
#define NSMC_WIDTH 16
#define NSMC_TILE 8
#include "kernel.hpp"

#include "classifier.hpp"
#include "editor.hpp"
NSMC_END

const nsmc::Kernel nsmc::vnni_kernel = {
    "vnni", W, form<State>(STATE_LEVELS), scratch_size, run, make_table, form<Level>(LEVELS), editor_scratch, edit};
#endif
