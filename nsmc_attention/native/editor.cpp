// The editor of `restore` for Python: its parameters in the kernels' layouts, and batches of texts. See editor.hpp for
// the mathematics, network.cpp for the module. Every size is a multiple of ROUNDED already, as Python rounds them up.
#include <cmath>

#include "packing.hpp"

namespace {

using namespace nsmc;

// Levels of a state from 0 to 1, and whole numbers of weights
constexpr std::int32_t LEVELS = 127;

const char* const CAPSULE = "nsmc_attention.native._network.Editor";

struct LoadedEditor : Store {
  Editor editor = {};
  std::vector<EditorLayer> layers;
};

void release(PyObject* capsule) { delete static_cast<LoadedEditor*>(PyCapsule_GetPointer(capsule, CAPSULE)); }

// Weights (columns, depth) in 8 bits: whole numbers, what their sums with levels are multiplied by, and what these
// begin with where a level has no sign
struct Rounded {
  std::vector<float> numbers, scale, offset;

  Rounded(const Kernel& kernel, const float* weights, size_t columns, size_t depth)
      : numbers(columns * depth), scale(columns), offset(columns) {
    for (size_t column = 0, place = 0; column < columns; ++column) {
      float largest = 0, sum = 0;
      for (size_t k = 0; k < depth; ++k) largest = std::max(largest, std::abs(weights[place + k]));
      for (size_t k = 0; k < depth; ++k, ++place)
        sum += numbers[place] = largest > 0 ? std::nearbyint(weights[place] / largest * LEVELS) : 0;
      scale[column] = largest / (LEVELS * LEVELS);
      const std::int32_t start = -kernel.zero * std::int32_t(sum);
      std::memcpy(&offset[column], &start, sizeof start);
    }
  }
};

// Of each of two directions: weights (2, 3, H, D) in 8 bits
void add_gates(LoadedEditor& loaded, const float* weights, size_t hidden, size_t depth, Levels* found) {
  const Kernel &kernel = *loaded.kernel, &floats = float_kernel(kernel);
  const size_t row = GATES * hidden;
  const Rounded rounded(kernel, weights, DIRECTIONS * row, depth);
  const auto in_order = [&](const std::vector<float>& columns) {
    return padded_rows(loaded, gate_panels(floats, columns.data(), hidden, 1, 1).data(), DIRECTIONS, row, row);
  };
  const void* panels = stored(loaded, gate_panels(kernel, rounded.numbers.data(), hidden, depth, depth));
  const float *scale = in_order(rounded.scale), *offset = in_order(rounded.offset);
  for (size_t direction = 0; direction < DIRECTIONS; ++direction)
    found[direction] = {static_cast<const char*>(panels) + direction * row * depth * stored_bytes(kernel),
                        scale + direction * row, offset + direction * row, hidden / kernel.width};
}

// Numbers of columns in whole panels of every width, whose rest is `rest`
const float* columns_of(LoadedEditor& loaded, const float* numbers, size_t count, float rest = 0) {
  const size_t padded = round_up(count, GATES * ROUNDED);
  float* found = loaded.allocate<float>(padded);
  std::fill(std::copy_n(numbers, count, found), found + padded, rest);
  return found;
}

// Weights (columns, depth) in 8 bits
Levels add_dense(LoadedEditor& loaded, const Array& weights) {
  const size_t columns = size_t(weights.size(0)), depth = size_t(weights.size(1));
  const size_t panel = GATES * loaded.kernel->width;
  const Rounded rounded(*loaded.kernel, weights.as<float>(), columns, depth);
  return {stored(loaded, dense_panels(*loaded.kernel, rounded.numbers.data(), columns, depth)),
          columns_of(loaded, rounded.scale.data(), columns), columns_of(loaded, rounded.offset.data(), columns),
          round_up(columns, panel) / panel};
}

// One of the layers: input weights (2, 3, H, D), their bias (2, 3, H), recurrent (2, 3, H, H), its bias (2, H) of n
void add_layer(LoadedEditor& loaded, PyObject* tuple, const Array& embedding) {
  PyObject *input, *input_bias, *recurrent, *hidden_bias;
  if (!PyArg_ParseTuple(tuple, "OOOO:layer", &input, &input_bias, &recurrent, &hidden_bias)) throw Raised();
  const bool first = loaded.layers.empty();
  const Array biases(hidden_bias, "hidden_bias", 'f', {2, first ? -1 : Py_ssize_t(loaded.editor.hidden)});
  const Py_ssize_t units = biases.size(1), depth = first ? embedding.size(1) : 2 * units;
  const Array inputs(input, "input_weights", 'f', {2, 3, units, depth}),
      input_biases(input_bias, "input_bias", 'f', {2, 3, units}),
      recurrents(recurrent, "recurrent", 'f', {2, 3, units, units});
  const size_t hidden = size_t(units), rows = size_t(embedding.size(0)), row = DIRECTIONS * GATES * hidden;
  if (hidden % ROUNDED) raise(PyExc_ValueError, "hidden_bias: expected a multiple of 16 units, found others");
  const Kernel& floats = float_kernel(*loaded.kernel);
  EditorLayer layer = {};
  if (first) {
    if (rows > LARGEST_TABLE / (row * sizeof(float)))
      raise(PyExc_ValueError, "embedding: expected a table of rows times gates of at most 1 GiB, found a larger one");
    loaded.editor.hidden = hidden;
    float* table = loaded.allocate<float>(rows * row);
    const std::vector<float> panels = gate_panels(floats, inputs.as<float>(), hidden, size_t(depth), size_t(depth));
    floats.multiply(embedding.as<float>(), rows, size_t(depth), panels.data(), row / (GATES * floats.width),
                    std::vector<float>(row).data(), table);
    loaded.editor.table = table;
  } else {
    add_gates(loaded, inputs.as<float>(), hidden, size_t(depth), layer.inputs);
  }
  const std::vector<float> bias = gate_panels(floats, input_biases.as<float>(), hidden, 1, 1);
  layer.bias = padded_rows(loaded, bias.data(), 1, row, row);
  add_gates(loaded, recurrents.as<float>(), hidden, hidden, layer.recurrent);
  layer.hidden_bias = padded_rows(loaded, biases.as<float>(), DIRECTIONS, hidden, hidden);
  loaded.layers.push_back(layer);
}

std::unique_ptr<LoadedEditor> load(PyObject* arguments) {
  const char* name;
  PyObject *rows, *layers, *head, *head_bias, *narrow, *tag, *tag_bias;
  if (!PyArg_ParseTuple(arguments, "sOO!OOOOO:load_editor", &name, &rows, &PyTuple_Type, &layers, &head, &head_bias,
                        &narrow, &tag, &tag_bias))
    throw Raised();
  auto loaded = std::make_unique<LoadedEditor>();
  loaded->kernel = &kernel_named(name);
  if (!loaded->kernel->edit) raise(PyExc_ValueError, std::string("kernel: expected one of editors, found ") + name);
  const Array embedding(rows, "embedding", 'f', {-1, -1});
  if (!PyTuple_GET_SIZE(layers)) raise(PyExc_ValueError, "layers: expected one or more, found none");
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(layers); ++i) add_layer(*loaded, PyTuple_GET_ITEM(layers, i), embedding);
  Editor& editor = loaded->editor;
  const Array tags(tag, "tag", 'f', {-1, -1}), tag_biases(tag_bias, "tag_bias", 'f', {tags.size(0)});
  const Py_ssize_t units = tags.size(1);
  const Py_ssize_t width = Py_ssize_t(DIRECTIONS * editor.hidden);
  const Array heads(head, "heads", 'f', {2, width}), head_biases(head_bias, "head_bias", 'f', {2}),
      narrows(narrow, "narrow", 'f', {units, width});
  if (size_t(units) % ROUNDED) raise(PyExc_ValueError, "tag: expected a multiple of 16 units, found others");
  editor.rows = size_t(embedding.size(0));
  editor.units = size_t(units);
  editor.layers = loaded->layers.data();
  editor.layer_count = loaded->layers.size();
  editor.heads = add_dense(*loaded, heads);
  editor.head_bias = columns_of(*loaded, head_biases.as<float>(), 2);
  editor.narrow = add_dense(*loaded, narrows);
  editor.narrow_bias = columns_of(*loaded, std::vector<float>(size_t(units)).data(), size_t(units));
  // the tags' weights stay floats: what they are multiplied by has no bounds
  const Kernel& floats = float_kernel(*loaded->kernel);
  const size_t columns = size_t(tags.size(0)), panel = GATES * floats.width;
  const std::vector<float> panels = dense_panels(floats, tags.as<float>(), columns, size_t(units));
  editor.tag = padded_rows(*loaded, panels.data(), 1, panels.size(), panels.size());
  editor.tag_bias = columns_of(*loaded, tag_biases.as<float>(), columns, -INFINITY);
  editor.tag_panels = round_up(columns, panel) / panel;
  return loaded;
}

// Compute the texts, those of similar lengths beside each other
void compute(const LoadedEditor& loaded, std::vector<Text>& texts) {
  static thread_local Memory scratch;
  std::stable_sort(texts.begin(), texts.end(),
                   [](const Text& one, const Text& other) { return one.length > other.length; });
  const size_t needed = loaded.kernel->editor_scratch(loaded.editor, texts[0].length);
  if (scratch.size < needed) scratch = Memory(needed, false);
  for (size_t first = 0; first < texts.size(); first += LANES)
    loaded.kernel->edit(loaded.editor, &texts[first], std::min(LANES, texts.size() - first), scratch.as<void>());
}

void edit_batch(PyObject* arguments) {
  PyObject *capsule, *ids, *lengths, *tag, *certain, *space;
  if (!PyArg_ParseTuple(arguments, "OOOOOO:edit", &capsule, &ids, &lengths, &tag, &certain, &space)) throw Raised();
  auto* loaded = static_cast<LoadedEditor*>(PyCapsule_GetPointer(capsule, CAPSULE));
  if (!loaded) throw Raised();
  const Array source_ids(ids, "source_ids", 'i', {-1, -1, Py_ssize_t(ROWS)});
  const Py_ssize_t count = source_ids.size(0), width = source_ids.size(1);
  const Array source_length(lengths, "source_length", 'i', {count}), tags(tag, "tags", 'i', {count, width}, true),
      certainty(certain, "certainty", 'f', {count, width}, true), spaces(space, "spaces", 'f', {count, width}, true);
  const auto* valid = source_length.as<std::int32_t>();
  check_range("source_length", valid, size_t(count), 1, width);
  std::vector<Text> texts;
  for (size_t i = 0; i < size_t(count); ++i) {
    const size_t place = i * size_t(width);
    texts.push_back({source_ids.as<std::int32_t>() + place * ROWS, size_t(valid[i]), tags.as<std::int32_t>() + place,
                     certainty.as<float>() + place, spaces.as<float>() + place});
    check_range("source_ids", texts.back().rows, texts.back().length * ROWS, 0, std::int64_t(loaded->editor.rows) - 1);
  }
  const WithoutLock unlocked;
  compute(*loaded, texts);
}

}  // namespace

PyObject* nsmc::load_editor(PyObject*, PyObject* arguments) {
  return guarded([&] {
    auto loaded = load(arguments);
    PyObject* capsule = PyCapsule_New(loaded.get(), CAPSULE, release);
    if (capsule) loaded.release();
    return capsule;
  });
}

PyObject* nsmc::edit(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    edit_batch(arguments);
    Py_RETURN_NONE;
  });
}
