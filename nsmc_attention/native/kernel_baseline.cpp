// The kernel for every processor: vectors of four floats, SSE2 on x86-64 and NEON on ARM.
#include "prelude.hpp"

#define NSMC_WIDTH 4
#ifdef __aarch64__
#define NSMC_TILE 8
#else
#define NSMC_TILE 4
#endif
#include "kernel.hpp"

#include "classifier.hpp"
#include "editor.hpp"

const nsmc::Kernel nsmc::baseline_kernel = {
    "baseline", W, form<State>(STATE_LEVELS), scratch_size, run, make_table, form<Level>(LEVELS), editor_scratch, edit};
