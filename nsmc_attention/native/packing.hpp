// What network.cpp and editor.cpp have in common: Python's arrays, and parameters in the layouts of the kernels.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "network.hpp"

namespace nsmc {

// The table takes most memory; a network whose table is larger is left to other engines
constexpr size_t LARGEST_TABLE = size_t(1) << 30;

// ---- Python's arrays

// Thrown where Python's error is set
struct Raised {};

[[noreturn]] inline void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw Raised();
}

// The memory of an array of a type and shape that were checked; a size of -1 is any
class Array {
 public:
  Array(PyObject* object, const char* name, char type, std::initializer_list<Py_ssize_t> shape, bool written = false) {
    if (PyObject_GetBuffer(object, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (written ? PyBUF_WRITABLE : 0)))
      throw Raised();
    bool fits = view.format && view.format[0] == type && !view.format[1] && size_t(view.ndim) == shape.size();
    for (size_t axis = 0; fits && axis < shape.size(); ++axis) {
      const Py_ssize_t expected = shape.begin()[axis];
      fits = expected < 0 ? view.shape[axis] > 0 : view.shape[axis] == expected;
    }
    if (!fits) {
      std::string expected;
      for (const Py_ssize_t size : shape)
        expected += (expected.empty() ? "" : ", ") + (size < 0 ? "any" : std::to_string(size));
      PyBuffer_Release(&view);
      raise(PyExc_ValueError, std::string(name) + ": expected a C-contiguous array of type '" + type + "' and shape (" +
                                  expected + "), found another");
    }
  }
  Array(const Array&) = delete;
  ~Array() { PyBuffer_Release(&view); }
  Py_ssize_t size(size_t axis) const { return view.shape[axis]; }
  template <class Number>
  Number* as() const {
    return static_cast<Number*>(view.buf);
  }

 private:
  Py_buffer view;
};

// While it lives, other threads may run Python
class WithoutLock {
 public:
  WithoutLock() : state(PyEval_SaveThread()) {}
  WithoutLock(const WithoutLock&) = delete;
  ~WithoutLock() { PyEval_RestoreThread(state); }

 private:
  PyThreadState* state;
};

// ---- Parameters in the kernels' layouts

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// Aligned memory, of zeros or as the system gives it: of what is large and not written, it reserves addresses only
class Memory {
 public:
  explicit Memory(size_t bytes = 0, bool zeros = true)
      : size(round_up(bytes + 1, ALIGNMENT)), memory(std::aligned_alloc(ALIGNMENT, size)) {
    if (!memory) throw std::bad_alloc();
    if (zeros) std::memset(memory.get(), 0, size);
  }
  template <class Number>
  Number* as() const {
    return static_cast<Number*>(memory.get());
  }
  size_t size;

 private:
  std::unique_ptr<void, Free> memory;
};

// The kernel of a network, and the memory that the network points to
struct Store {
  const Kernel* kernel = nullptr;
  std::vector<Memory> memories;

  template <class Number>
  Number* allocate(size_t count) {
    memories.emplace_back(count * sizeof(Number));
    return memories.back().as<Number>();
  }
};

// The nearest bfloat16, of two the even one
inline std::uint16_t to_bf16(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return std::uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Write numbers, which are whole where there are levels, as a form stores them
inline void write_stored(const Form& form, const float* from, size_t count, void* to) {
  if (form.pair == 1) std::memcpy(to, from, count * sizeof(float));
  if (form.pair == 2 && !form.levels) std::transform(from, from + count, static_cast<std::uint16_t*>(to), to_bf16);
  if (form.pair == 2 && form.levels) std::copy(from, from + count, static_cast<std::int16_t*>(to));
  if (form.pair == 4) std::copy(from, from + count, static_cast<std::int8_t*>(to));
}

inline size_t stored_bytes(const Form& form) { return sizeof(float) / form.pair; }

// Floats, as they are
constexpr Form FLOATS = {1, 0, 0};

// The place of row k in a panel of `columns` whose rows are stored side by side
inline size_t in_panel(const Form& form, size_t k, size_t column, size_t columns) {
  return (k / form.pair * columns + column) * form.pair + k % form.pair;
}

// weights (2, 3, H, depth) -> panels (2, H / W, depth rounded up to `rows`, 3, W) of float
inline std::vector<float> gate_panels(size_t width, const Form& form, const float* weights, size_t hidden, size_t depth,
                                      size_t rows) {
  const size_t padded = round_up(hidden), columns = GATES * width;
  std::vector<float> found(DIRECTIONS * padded * GATES * rows);
  for (size_t direction = 0; direction < DIRECTIONS; ++direction)
    for (size_t gate = 0; gate < GATES; ++gate)
      for (size_t unit = 0; unit < hidden; ++unit, weights += depth) {
        float* panel = found.data() + (direction * padded + unit / width * width) * GATES * rows;
        for (size_t k = 0; k < depth; ++k) panel[in_panel(form, k, gate * width + unit % width, columns)] = weights[k];
      }
  return found;
}

// weights (columns, depth) -> panels (columns / `panel` rounded up, depth, panel) of float
inline std::vector<float> dense_panels(size_t panel, const Form& form, const float* weights, size_t columns,
                                       size_t depth) {
  std::vector<float> found(round_up(columns, GATES * ROUNDED) * depth);
  for (size_t column = 0; column < columns; ++column, weights += depth)
    for (size_t k = 0; k < depth; ++k)
      found[column / panel * panel * depth + in_panel(form, k, column % panel, panel)] = weights[k];
  return found;
}

inline const void* stored(Store& loaded, const Form& form, const std::vector<float>& numbers) {
  void* found = loaded.allocate<char>(numbers.size() * stored_bytes(form));
  write_stored(form, numbers.data(), numbers.size(), found);
  return found;
}

// (rows, size) -> (rows, padded)
inline float* padded_rows(Store& loaded, const float* from, size_t rows, size_t size, size_t padded, float factor = 1) {
  float* found = loaded.allocate<float>(rows * padded);
  for (size_t row = 0; row < rows; ++row)
    for (size_t i = 0; i < size; ++i) found[row * padded + i] = factor * from[row * size + i];
  return found;
}

// ---- Weights of states

// Weights (columns, depth) as a form has them: whole numbers where there are levels, what their sums with levels are
// multiplied by, and what these begin with where a level has no sign. The largest is so large that no sum of 16 bits
// has more than 31.
struct Rounded {
  std::vector<float> numbers, scale, offset;

  Rounded(const Form& form, const float* weights, size_t columns, size_t depth)
      : numbers(weights, weights + columns * depth), scale(columns, 1), offset(columns) {
    for (size_t column = 0; form.levels && column < columns; ++column) {
      float largest = 0, sum = 0, total = 0, *own = &numbers[column * depth];
      for (size_t k = 0; k < depth; ++k) largest = std::max(largest, std::abs(own[k])), total += std::abs(own[k]);
      const float room = float(0x7fffffff) / float(form.levels) - float(depth);
      const float most = form.levels > 127 ? std::floor(std::min(32767.0f, room * largest / total)) : 127;
      for (size_t k = 0; k < depth; ++k) sum += own[k] = largest > 0 ? std::nearbyint(own[k] / largest * most) : 0;
      scale[column] = largest > 0 ? largest / (float(form.levels) * most) : 0;
      const std::int32_t start = -form.zero * std::int32_t(sum);
      std::memcpy(&offset[column], &start, sizeof start);
    }
  }
};

// Of each of two directions: weights (2, 3, H, depth)
inline void add_gates(Store& loaded, const Form& form, const float* weights, size_t hidden, size_t depth, size_t rows,
                      Matrix* found) {
  const size_t width = loaded.kernel->width, padded = round_up(hidden), row = GATES * padded;
  const Rounded rounded(form, weights, DIRECTIONS * GATES * hidden, depth);
  const auto in_order = [&](const std::vector<float>& columns) {
    return padded_rows(loaded, gate_panels(width, FLOATS, columns.data(), hidden, 1, 1).data(), DIRECTIONS, row, row);
  };
  const void* panels = stored(loaded, form, gate_panels(width, form, rounded.numbers.data(), hidden, depth, rows));
  const float *scale = in_order(rounded.scale), *offset = in_order(rounded.offset);
  for (size_t direction = 0; direction < DIRECTIONS; ++direction)
    found[direction] = {static_cast<const char*>(panels) + direction * row * rows * stored_bytes(form),
                        scale + direction * row, offset + direction * row, padded / width};
}

// Numbers of columns in whole panels of every width, whose rest is `rest`
inline const float* columns_of(Store& loaded, const float* numbers, size_t count, float rest = 0) {
  const size_t padded = round_up(count, GATES * ROUNDED);
  float* found = loaded.allocate<float>(padded);
  std::fill(std::copy_n(numbers, count, found), found + padded, rest);
  return found;
}

// Weights (columns, depth), in panels of so many vectors
inline Matrix add_dense(Store& loaded, const Form& form, const float* weights, size_t columns, size_t depth,
                        size_t vectors) {
  const size_t panel = vectors * loaded.kernel->width;
  const Rounded rounded(form, weights, columns, depth);
  return {stored(loaded, form, dense_panels(panel, form, rounded.numbers.data(), columns, depth)),
          columns_of(loaded, rounded.scale.data(), columns), columns_of(loaded, rounded.offset.data(), columns),
          round_up(columns, panel) / panel};
}

// ---- Kernels, the fastest last but for that of bfloat16

inline std::vector<const Kernel*> supported() {
  std::vector<const Kernel*> found = {&baseline_kernel};
#ifdef __x86_64__
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    found.push_back(&avx2_kernel);
#ifdef NSMC_AVXVNNI
    unsigned a, b, c, d;
    // by its bit, as compilers may not know its name
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d) && a & 1 << 4) found.push_back(&avxvnni_kernel);
#endif
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw")) {
      found.push_back(&avx512_kernel);
      if (__builtin_cpu_supports("avx512vnni")) found.push_back(&vnni_kernel);
      if (__builtin_cpu_supports("avx512bf16")) found.push_back(&bf16_kernel);
    }
  }
#endif
  return found;
}

inline const Kernel& kernel_named(const char* name) {
  for (const Kernel* kernel : supported())
    if (!std::strcmp(kernel->name, name)) return *kernel;
  raise(PyExc_ValueError, std::string("kernel: this processor runs none called ") + name);
}

// Raise ValueError for a number that is not from `low` to `high`
inline void check_range(const char* name, const std::int32_t* numbers, size_t count, std::int64_t low,
                        std::int64_t high) {
  for (size_t i = 0; i < count; ++i)
    if (numbers[i] < low || numbers[i] > high)
      raise(PyExc_ValueError, std::string(name) + ": expected " + std::to_string(low) + " to " + std::to_string(high) +
                                  ", found " + std::to_string(numbers[i]));
}

// Return what `function` does, nullptr where Python's error is set
template <class Function>
PyObject* guarded(Function function) {
  try {
    return function();
  } catch (const Raised&) {
    return nullptr;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

// Functions of the module that editor.cpp defines
PyObject* load_editor(PyObject*, PyObject* arguments);
PyObject* edit(PyObject*, PyObject* arguments);

}  // namespace nsmc
