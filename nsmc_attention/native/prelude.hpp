// What the files kernel_*.cpp include before they name an instruction set: nothing of it is compiled for that set.
#pragma once

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <cmath>
#include <cstring>
#include <type_traits>

#include "network.hpp"

// What stands between NSMC_TARGET and NSMC_END is compiled for an instruction set.
#define NSMC_PRAGMA(...) _Pragma(#__VA_ARGS__)
#ifdef __clang__
#define NSMC_TARGET(names) NSMC_PRAGMA(clang attribute push(__attribute__((target(names))), apply_to = function))
#define NSMC_END NSMC_PRAGMA(clang attribute pop)
#else
#define NSMC_TARGET(names) NSMC_PRAGMA(GCC push_options) NSMC_PRAGMA(GCC target(names))
#define NSMC_END NSMC_PRAGMA(GCC pop_options)
#endif
