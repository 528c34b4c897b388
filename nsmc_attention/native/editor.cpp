// The editor of `restore` for Python: its parameters in the kernels' layouts, and batches of texts. See editor.hpp for
// the mathematics, network.cpp for the module. Every size is a multiple of ROUNDED already, as Python rounds them up.
#include "packing.hpp"

namespace {

using namespace nsmc;

const char* const CAPSULE = "nsmc_attention.native._network.Editor";

struct LoadedEditor : Store {
  Editor editor = {};
  std::vector<EditorLayer> layers;
};

void release(PyObject* capsule) { delete static_cast<LoadedEditor*>(PyCapsule_GetPointer(capsule, CAPSULE)); }

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
  const Kernel& kernel = *loaded.kernel;
  EditorLayer layer = {};
  if (first) {
    if (rows > LARGEST_TABLE / (row * sizeof(float)))
      raise(PyExc_ValueError, "embedding: expected a table of rows times gates of at most 1 GiB, found a larger one");
    loaded.editor.hidden = hidden;
    float* table = loaded.allocate<float>(rows * row);
    const std::vector<float> panels =
        gate_panels(kernel.width, FLOATS, inputs.as<float>(), hidden, size_t(depth), size_t(depth));
    kernel.multiply(embedding.as<float>(), rows, size_t(depth), panels.data(), row / (GATES * kernel.width),
                    std::vector<float>(row).data(), table);
    loaded.editor.table = table;
  } else {
    add_gates(loaded, kernel.levels, inputs.as<float>(), hidden, size_t(depth), size_t(depth), layer.inputs);
  }
  const std::vector<float> bias = gate_panels(kernel.width, FLOATS, input_biases.as<float>(), hidden, 1, 1);
  layer.bias = padded_rows(loaded, bias.data(), 1, row, row);
  add_gates(loaded, kernel.levels, recurrents.as<float>(), hidden, hidden, hidden, layer.recurrent);
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
  const Kernel& kernel = *loaded->kernel;
  editor.heads = add_dense(*loaded, kernel.levels, heads.as<float>(), 2, size_t(width), GATES);
  editor.head_bias = columns_of(*loaded, head_biases.as<float>(), 2);
  editor.narrow = add_dense(*loaded, kernel.levels, narrows.as<float>(), size_t(units), size_t(width), GATES);
  editor.narrow_bias = columns_of(*loaded, std::vector<float>(size_t(units)).data(), size_t(units));
  // the tags' weights stay floats: what they are multiplied by has no bounds
  const size_t columns = size_t(tags.size(0)), panel = GATES * kernel.width;
  const std::vector<float> panels = dense_panels(panel, FLOATS, tags.as<float>(), columns, size_t(units));
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
