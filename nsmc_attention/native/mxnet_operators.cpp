// Operators that MXNet lacks, or has in a slower form, for training and for the gluon engine on a CPU; see
// network/operators.py. MXNet does not tell them where it wants gradients added: they are written.
//
//   nsmc_additive_weights   states, parameters, mask -> the weights of additive self-attention
//   nsmc_dropout            data, 64 random bits -> the data, some of it set to 0
//   nsmc_pool               shares of the queries, weights, states -> the mean of the contexts
//   nsmc_gru                a batch and its lengths, parameters -> the states of a bidirectional GRU
//   nsmc_adam               a step of Adam, called by itself
//
// Each computation is compiled three times, for AVX-512, for AVX2 with FMA and for any processor; the best one that the
// processor has is called. NSMC_ATTENTION_SIMD=avx2 or baseline asks for a lesser one.

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "mxnet_library.hpp"
#include "prelude.hpp"

namespace {

using mxnet_library::Call;
using mxnet_library::Operator;
using mxnet_library::Shapes;

// What is kept of one direction of a GRU until its backward pass, and memory that the next call needs again: what pads
// it stays 0.
struct Memory {
  std::vector<float> gates, gate_panels, input_panels, state_panels;
};

// What is kept of the attention until its backward pass, the queries and keys, and memory that the next call needs
// again.
struct Projection {
  std::vector<float> projected, panels, row_panels;
};

namespace baseline {
constexpr int W = 4;
#include "mxnet_kernels.hpp"
#include "gru.hpp"
}  // namespace baseline

#ifdef __x86_64__
NSMC_TARGET("avx2,fma")
namespace avx2 {
constexpr int W = 8;
#include "mxnet_kernels.hpp"
#include "gru.hpp"
}  // namespace avx2
NSMC_END
NSMC_TARGET("avx512f,fma")
namespace avx512 {
constexpr int W = 16;
#include "mxnet_kernels.hpp"
#include "gru.hpp"
}  // namespace avx512
NSMC_END
#endif

// --------------------------------------------------------------------------------------------------------- processors

// 2: AVX-512, 1: AVX2 with FMA, 0: what any processor has
int most() {
  int found = 0;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found = 1;
  if (found && __builtin_cpu_supports("avx512f")) found = 2;
#endif
  return found;
}

int asked() {
  const char* wanted = std::getenv("NSMC_ATTENTION_SIMD");
  if (wanted && !std::strcmp(wanted, "baseline")) return 0;
  return wanted && !std::strcmp(wanted, "avx2") ? 1 : 2;
}

int level = std::min(most(), asked());

#if defined(__x86_64__)
#define BEST(name) (level == 2 ? avx512::name : level == 1 ? avx2::name : baseline::name)
#else
#define BEST(name) baseline::name
#endif
#define COMPUTATION(name) \
  void best_##name(const Call& call) { BEST(name)(call); }

COMPUTATION(dropout)
COMPUTATION(dropout_backward)
COMPUTATION(pool)
COMPUTATION(pool_backward)

template <class Values>
struct Kept : mxnet_library::State {
  Values values;
  static mxnet_library::State* create() { return new Kept; }
};

void best_weigh(const Call& call) { BEST(weigh)(call, static_cast<Kept<Projection>*>(call.state)->values); }

void best_weigh_backward(const Call& call) {
  BEST(weigh_backward)(call, static_cast<Kept<Projection>*>(call.state)->values);
}

struct Directions {
  Memory each[2];
  std::vector<float> d_embedded;
};

// Each direction once, both at the same time where MXNet may use two threads.
template <class Compute>
void in_both_directions(const Call& call, Compute compute) {
  if (call.attribute("threads") < 2) {
    compute(0);
    compute(1);
    return;
  }
  std::thread other(compute, 1);
  compute(0);
  other.join();
}

void best_gru(const Call& call) {
  Directions& kept = static_cast<Kept<Directions>*>(call.state)->values;
  in_both_directions(call, [&](int number) { BEST(gru)(call, number, kept.each[number]); });
}

void best_gru_backward(const Call& call) {
  Directions& kept = static_cast<Kept<Directions>*>(call.state)->values;
  const int64_t size = call.size(1);
  kept.d_embedded.resize(size);
  in_both_directions(call, [&](int number) {
    BEST(gru_backward)(call, number, kept.each[number], number ? kept.d_embedded.data() : call.out(0));
  });
  for (int64_t i = 0; i < size; ++i) call.out(0)[i] += kept.d_embedded[i];
  std::fill_n(call.out(1), call.size(2), 0.0f);
}

int weights_shape(const Shapes& given, unsigned* sizes) {
  if (given.dimensions[0] != 3) return -1;
  sizes[0] = given.inputs[0][0];
  sizes[1] = sizes[2] = given.inputs[0][1];
  return 3;
}

int same_shape(const Shapes& given, unsigned* sizes) {
  if (given.dimensions[0] > 8) return -1;
  std::copy_n(given.inputs[0], std::max(given.dimensions[0], 0), sizes);
  return given.dimensions[0];
}

int pool_shape(const Shapes& given, unsigned* sizes) {
  if (given.dimensions[2] != 3) return -1;
  sizes[0] = given.inputs[2][0];
  sizes[1] = 1;
  sizes[2] = given.inputs[2][2];
  return 3;
}

int states_shape(const Shapes& given, unsigned* sizes) {
  if (given.dimensions[0] != 3 || given.dimensions[3] != 2) return -1;
  sizes[0] = given.inputs[0][0];
  sizes[1] = given.inputs[0][1];
  sizes[2] = 2 * given.inputs[3][1];
  return 3;
}

const Operator OPERATORS[] = {
    {"nsmc_additive_weights", 6, weights_shape, best_weigh, best_weigh_backward, Kept<Projection>::create},
    {"nsmc_dropout", 2, same_shape, best_dropout, best_dropout_backward, nullptr},
    {"nsmc_pool", 3, pool_shape, best_pool, best_pool_backward, nullptr},
    {"nsmc_gru", 10, states_shape, best_gru, best_gru_backward, Kept<Directions>::create},
};
constexpr int COUNT = sizeof OPERATORS / sizeof *OPERATORS;

}  // namespace

// For tests: use at most this level; returns the one in use.
MXNET_CALLS int nsmc_level(int at_most) { return level = std::min(most(), at_most); }

// `places` are the rows of the gradients in the parameters.
MXNET_CALLS void nsmc_adam(int64_t rows, const int64_t* places, int64_t width, float* parameters,
                           const float* gradients, float* means, float* squares, float rate, float scale, float beta1,
                           float beta2, float epsilon) {
  BEST(adam_rows)(rows, places, width, parameters, gradients, means, squares, rate, scale, beta1, beta2, epsilon);
}

// ------------------------------------------------------------------------------------------------------ MXNet's calls
// A call returns 1 for success.

MXNET_CALLS int initialize(int version) { return version == 10901; }
MXNET_CALLS int _opVersion() { return 11; }
MXNET_CALLS int _opRegSize() { return COUNT; }
MXNET_CALLS void _opCallFree(void* memory) { std::free(memory); }

MXNET_CALLS void _opRegGet(int number, const char** name, int* is_subgraph, const char*** forward_devices,
                           const void*** forward, int* forwards, const char*** backward_devices, const void*** backward,
                           int* backwards, const char*** state_devices, const void*** state, int* states,
                           const void** parse, const void** type, const void** storage, const void** shape,
                           const void** mutate) {
  static const char* cpu[] = {"cpu"};
  static const void* computations[COUNT][3];
  const Operator& found = OPERATORS[number];
  computations[number][0] = reinterpret_cast<const void*>(found.forward);
  computations[number][1] = reinterpret_cast<const void*>(found.backward);
  computations[number][2] = &found;
  *name = found.name;
  *is_subgraph = 0;
  *states = found.keep != nullptr;
  *forwards = *backwards = !*states;
  *forward_devices = *backward_devices = *state_devices = cpu;
  *forward = computations[number];
  *backward = computations[number] + 1;
  *state = computations[number] + 2;
  *parse = *type = *shape = &found;
  *storage = *mutate = nullptr;
}

MXNET_CALLS int _opCallParseAttrs(const Operator* found, const char* const*, const char* const*, int, int* inputs,
                                  int* outputs) {
  *inputs = found->inputs;
  *outputs = 1;
  return 1;
}

MXNET_CALLS int _opCallInferType(const Operator*, const char* const*, const char* const*, int, int* inputs, int count,
                                 int* outputs, int) {
  // 0 is float32
  std::fill_n(inputs, count, 0);
  outputs[0] = 0;
  return 1;
}

// MXNet frees what is allocated here by _opCallFree. The inputs' shapes stay as they are.
MXNET_CALLS int _opCallInferShape(const Operator* found, const char* const*, const char* const*, int, unsigned** shapes,
                                  int* dimensions, int count, unsigned*** new_shapes, int** new_dimensions,
                                  unsigned*** out_shapes, int** out_dimensions, int) {
  const auto allocate = [](size_t size) { return std::malloc(std::max<size_t>(size, 1)); };
  *new_shapes = static_cast<unsigned**>(allocate(count * sizeof(unsigned*)));
  *new_dimensions = static_cast<int*>(allocate(count * sizeof(int)));
  for (int number = 0; number < count; ++number) {
    const size_t size = std::max(dimensions[number], 0) * sizeof(unsigned);
    (*new_shapes)[number] = static_cast<unsigned*>(allocate(size));
    std::memcpy((*new_shapes)[number], shapes[number], size);
    (*new_dimensions)[number] = dimensions[number];
  }
  *out_shapes = static_cast<unsigned**>(allocate(sizeof(unsigned*)));
  *out_dimensions = static_cast<int*>(allocate(sizeof(int)));
  (*out_shapes)[0] = static_cast<unsigned*>(allocate(8 * sizeof(unsigned)));
  (*out_dimensions)[0] = found->shape({shapes, dimensions}, (*out_shapes)[0]);
  return 1;
}

MXNET_CALLS int _opCallFCompute(mxnet_library::Compute compute, const char* const* keys, const char* const* values,
                                int attributes, const int64_t** shapes, int* dimensions, void** inputs, int*, size_t*,
                                const char**, int*, int, const int64_t**, int*, void** outputs) {
  compute({keys, values, attributes, inputs, shapes, dimensions, outputs, nullptr});
  return 1;
}

MXNET_CALLS int _opCallCreateOpState(const Operator* found, const char* const* keys, const char* const* values,
                                     int attributes, const char*, int, unsigned**, int*, int, const int*,
                                     mxnet_library::State** state) {
  *state = found->keep();
  (*state)->found = found;
  for (int number = 0; number < attributes; ++number) (*state)->attributes[keys[number]] = values[number];
  return 1;
}

MXNET_CALLS void _opCallDestroyOpState(mxnet_library::State* state) { delete state; }

MXNET_CALLS int _opCallFStatefulCompute(int forward, mxnet_library::State* state, const int64_t** shapes,
                                        int* dimensions, void** inputs, int*, size_t*, const char**, int*, int,
                                        const int64_t**, int*, void** outputs) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : state->attributes) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  const int count = static_cast<int>(keys.size());
  (forward ? state->found->forward
           : state->found->backward)({keys.data(), values.data(), count, inputs, shapes, dimensions, outputs, state});
  return 1;
}

// What MXNet asks for when it loads a library, and never calls where nothing of its kind is registered.
#define UNUSED(name) \
  MXNET_CALLS int name() { return 0; }
UNUSED(_opCallInferSType)
UNUSED(_opCallMutateInputs)
UNUSED(_partRegSize)
UNUSED(_partRegGetCount)
UNUSED(_partRegGet)
UNUSED(_partCallSupportedOps)
UNUSED(_partCallCreateSelector)
UNUSED(_partCallSelect)
UNUSED(_partCallSelectInput)
UNUSED(_partCallSelectOutput)
UNUSED(_partCallFilter)
UNUSED(_partCallReset)
UNUSED(_partCallReviewSubgraph)
UNUSED(_passRegSize)
UNUSED(_passRegGet)
UNUSED(_passCallGraphPass)
UNUSED(_msgSize)
UNUSED(_msgGet)
