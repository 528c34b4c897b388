// The kernel of classifiers for AVX-512 with products of bfloat16, which are summed in float.
#ifdef __x86_64__
#include "prelude.hpp"

NSMC_TARGET("avx512f,avx512vl,avx512dq,avx512bw,avx512bf16,fma")
#define NSMC_BF16
#define NSMC_WIDTH 16
#define NSMC_TILE 8
#include "kernel.hpp"

#include "classifier.hpp"
NSMC_END

const nsmc::Kernel nsmc::bf16_kernel = {"bf16",  W,      form<State>(STATE_LEVELS), scratch_size, run, make_table, {},
                                        nullptr, nullptr};
#endif
