// The kernel for AVX2 with products of whole numbers (AVX-VNNI), which processors without AVX-512 may have.
#include "network.hpp"
#ifdef NSMC_AVXVNNI
#include "prelude.hpp"

NSMC_TARGET("avx2,fma,avxvnni")
#define NSMC_WHOLE
#define NSMC_VNNI
#define NSMC_WIDTH 8
#define NSMC_TILE 4
#include "kernel.hpp"

#include "classifier.hpp"
#include "editor.hpp"
NSMC_END

const nsmc::Kernel nsmc::avxvnni_kernel = {
    "avxvnni", W, form<State>(STATE_LEVELS), scratch_size, run, make_table, form<Level>(LEVELS), editor_scratch, edit};
#endif
