// What MXNet 1.9.1 calls in a library of operators: the C functions that mxnet/lib_api.h names, version 11.
//
// Written down here, so that building the library needs no MXNet. MXNet takes the pointers to a library's functions as
// they are and gives them back with each call: each is a pointer to an Operator, or to one of its two computations.
// Include once, after defining `OPERATORS`, an array of Operator.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <locale>
#include <map>
#include <sstream>
#include <string>

namespace mxnet_library {

struct Operator;

// What an operator keeps of a call until its backward pass. MXNet takes it for its own class CustomStatefulOp, of which
// it reads the two flags.
struct State {
  bool no_warning = true, created = true;
  const Operator* found = nullptr;
  std::map<std::string, std::string> attributes;

  virtual ~State() = default;
};

// One computation: the data and shapes of its inputs and outputs, and the operator's attributes.
struct Call {
  const char* const* keys;
  const char* const* values;
  int attributes;
  void** inputs;
  const int64_t** input_shapes;
  const int* input_dimensions;
  void** outputs;
  State* state;

  const float* in(int number) const { return static_cast<const float*>(inputs[number]); }
  float* out(int number) const { return static_cast<float*>(outputs[number]); }
  int64_t size(int number, int axis) const { return input_shapes[number][axis]; }
  int64_t size(int number) const {
    int64_t product = 1;
    for (int axis = 0; axis < input_dimensions[number]; ++axis) product *= size(number, axis);
    return product;
  }
  double attribute(const char* name) const {
    for (int number = 0; number < attributes; ++number)
      if (!std::strcmp(keys[number], name)) {
        // a process may have a locale whose decimal point is a comma
        std::istringstream text(values[number]);
        text.imbue(std::locale::classic());
        double found = 0;
        text >> found;
        return found;
      }
    return 0;
  }
};

using Compute = void (*)(const Call&);

// The shapes of an operator's inputs, as far as they are known.
struct Shapes {
  unsigned** inputs;
  const int* dimensions;
};

// Forward reads the inputs and writes the output. Backward reads the output's gradient, the inputs and the output, and
// writes each input's gradient. All arrays are dense float32. `shape` writes at most 8 sizes and returns their number.
struct Operator {
  const char* name;
  int inputs;
  int (*shape)(const Shapes&, unsigned*);
  Compute forward, backward;
  // Returns what is kept of a call; null if nothing is.
  State* (*keep)();
};

}  // namespace mxnet_library

#define MXNET_CALLS extern "C" __attribute__((visibility("default")))
