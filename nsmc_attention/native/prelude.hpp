// What the files kernel_*.cpp include before they name an instruction set: nothing of it is compiled for that set.
#pragma once

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <cmath>
#include <cstring>
#include <type_traits>

#include "network.hpp"
