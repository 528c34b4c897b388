// nsmc_attention.native._network: a classifier's network on the processor's vectors.
//
//   kernels() -> names of the kernels that this processor runs, the fastest last, then perhaps "bf16"
//   load(kernel, ...) -> a network (parameters as `kernel_arrays` lists them)
//   run(network, token_ids, ngram_ids, starts, valid_length, probability, weights, contexts, contributions)
//      fills the last four
//   load_editor, edit: the same of an editor (editor.cpp)
//
// Written on Python's C API: a build needs a compiler and nothing else, and there are few functions to bind. Every
// size and id is checked here, so that no parameter and no batch makes a kernel read beyond its arrays; `run` lets
// other threads run Python meanwhile, and any number may call it with one network.

#include "packing.hpp"

#include <iterator>
#include <mutex>

namespace {

using namespace nsmc;

const char* const CAPSULE = "nsmc_attention.native._network.Network";

// What the table of W x + b is computed from: half of the GRU's products, which depend on the word alone. A word's row
// is computed before the first batch that has the word, so that loading does not wait for those that never occur.
struct Table {
  std::unique_ptr<Array> embedding;     // (V, E) of int8, and what a row is multiplied by
  std::vector<float> scale;             // (V)
  std::vector<float> weights, bias;     // in panels
  bool curved = false;                  // values are the tanh of their sum with a bias, and each of one token
  Memory rows;                          // as Network::table
  std::vector<unsigned char> computed;  // (V): whether the row is
  std::mutex mutex;                     // of `rows` and `computed`
};

// A network and what it points to
struct Loaded : Store {
  Network network = {};
  Table table;
  std::unique_ptr<Array> ngrams;
};

std::unique_ptr<Array> array_or_none(PyObject* object, const char* name, char type,
                                     std::initializer_list<Py_ssize_t> shape, bool written = false) {
  return object == Py_None ? nullptr : std::make_unique<Array>(object, name, type, shape, written);
}

// projection (2, A, 2, H) -> (2 A, 2 H), doubled and with the units that are added
std::vector<float> padded_projection(const Network& network, const float* weights, size_t units, size_t hidden) {
  const size_t depth = DIRECTIONS * network.hidden;
  std::vector<float> found(2 * network.units * depth);
  for (size_t column = 0; column < 2 * units; ++column)
    for (size_t row = 0; row < DIRECTIONS * hidden; ++row)
      found[(column / units * network.units + column % units) * depth + row / hidden * network.hidden + row % hidden] =
          2 * *weights++;
  return found;
}

// ---- The table of W x + b

// The gates' numbers of a word, and all, in whole panels of every width
size_t gate_numbers(const Network& network) { return DIRECTIONS * GATES * network.hidden; }
size_t row_numbers(const Network& network) {
  return gate_numbers(network) + round_up(network.window * network.value_units, GATES * ROUNDED);
}

// Add the panels of the values' weights (U, window, depth)
void add_value_panels(Loaded& loaded, const float* weights, size_t units) {
  const Network& network = loaded.network;
  const size_t depth = size_t(loaded.table.embedding->size(1)), first = gate_numbers(network);
  const size_t columns = GATES * loaded.kernel->width;
  loaded.table.weights.resize(depth * network.row);
  loaded.table.bias.resize(network.row);
  for (size_t unit = 0; unit < units; ++unit)
    for (size_t place = 0; place < network.window; ++place, weights += depth) {
      const size_t column = first + place * network.value_units + unit;
      float* panel = loaded.table.weights.data() + column / columns * columns * depth;
      for (size_t k = 0; k < depth; ++k) panel[k * columns + column % columns] = weights[k];
    }
}

// How the table's rows are stored: states and they have levels in no kernel
Form inputs_of(const Kernel& kernel) { return kernel.states.levels ? FLOATS : kernel.states; }

void prepare_table(Loaded& loaded, const float* weights, const float* bias, size_t hidden) {
  const size_t words = loaded.network.vocabulary, depth = size_t(loaded.table.embedding->size(1));
  loaded.table.weights = gate_panels(loaded.kernel->width, FLOATS, weights, hidden, depth, depth);
  loaded.table.bias = gate_panels(loaded.kernel->width, FLOATS, bias, hidden, 1, 1);
  loaded.table.computed.resize(words);
  loaded.table.rows = Memory(words * loaded.network.row * stored_bytes(inputs_of(*loaded.kernel)), false);
  loaded.network.table = loaded.table.rows.as<void>();
}

// The words of a batch whose rows are not computed, each once
std::vector<std::int32_t> missing_words(const Table& table, const std::vector<Review>& reviews) {
  std::vector<std::int32_t> found;
  for (const Review& review : reviews)
    std::copy_if(review.tokens, review.tokens + review.length, std::back_inserter(found),
                 [&](std::int32_t word) { return !table.computed[size_t(word)]; });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// Compute the rows of the words of a batch that no batch had before.
void complete_table(Loaded& loaded, const std::vector<Review>& reviews) {
  Table& table = loaded.table;
  const std::lock_guard<std::mutex> locked(table.mutex);
  const std::vector<std::int32_t> missing = missing_words(table, reviews);
  if (missing.empty()) return;
  const Kernel& kernel = *loaded.kernel;
  const Form form = inputs_of(kernel);
  const size_t depth = size_t(table.embedding->size(1)), row = loaded.network.row, part = 64;
  std::vector<float> words(part * depth), rows(part * row);
  for (size_t first = 0; first < missing.size(); first += part) {
    const size_t count = std::min(part, missing.size() - first);
    const std::int32_t* ids = missing.data() + first;
    for (size_t i = 0; i < count; ++i)
      for (size_t k = 0; k < depth; ++k)
        words[i * depth + k] =
            table.scale[size_t(ids[i])] * table.embedding->as<std::int8_t>()[size_t(ids[i]) * depth + k];
    kernel.multiply(words.data(), count, depth, table.weights.data(), row / (GATES * kernel.width), table.bias.data(),
                    rows.data());
    for (size_t i = 0; i < count; ++i) {
      if (table.curved)
        for (size_t unit = gate_numbers(loaded.network); unit < row; ++unit)
          rows[i * row + unit] = std::tanh(rows[i * row + unit]);
      write_stored(form, rows.data() + i * row, row, table.rows.as<char>() + size_t(ids[i]) * row * stored_bytes(form));
      table.computed[size_t(ids[i])] = true;
    }
  }
}

// ---- Python's functions

PyObject* kernels(PyObject*, PyObject*) {
  const auto found = supported();
  PyObject* names = PyTuple_New(Py_ssize_t(found.size()));
  if (!names) return nullptr;
  for (size_t i = 0; i < found.size(); ++i) {
    PyObject* name = PyUnicode_FromString(found[i]->name);
    if (!name) {
      Py_DECREF(names);
      return nullptr;
    }
    PyTuple_SET_ITEM(names, Py_ssize_t(i), name);
  }
  return names;
}

void release(PyObject* capsule) { delete static_cast<Loaded*>(PyCapsule_GetPointer(capsule, CAPSULE)); }

void set_ngrams(Loaded& loaded, PyObject* table) {
  loaded.ngrams = array_or_none(table, "ngrams", 'e', {-1, 2});
  if (!loaded.ngrams) return;
  loaded.network.ngrams = loaded.ngrams->as<std::uint16_t>();
  loaded.network.buckets = size_t(loaded.ngrams->size(0));
}

std::unique_ptr<Loaded> load_network(PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {
      "kernel",     "embedding",       "embedding_scale", "input_weights", "input_bias", "recurrent",   "hidden_bias",
      "projection", "projection_bias", "evidence",        "score",         "output",     "output_bias", "wide",
      "ngrams",     "values",          "value_bias",      "sign",          "sign_bias",  nullptr};
  const char* name;
  PyObject *embedding, *scale, *input, *input_bias, *recurrent, *hidden_bias, *projection, *bias, *evidence, *score,
      *output, *ngrams, *values, *value_bias, *sign;
  double output_bias, wide, sign_bias;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "sOOOOOOOOOOOddOOOOd:load", const_cast<char**>(names), &name,
                                   &embedding, &scale, &input, &input_bias, &recurrent, &hidden_bias, &projection,
                                   &bias, &evidence, &score, &output, &output_bias, &wide, &ngrams, &values,
                                   &value_bias, &sign, &sign_bias))
    throw Raised();

  auto loaded = std::make_unique<Loaded>();
  const Kernel& kernel = kernel_named(name);
  loaded->table.embedding =
      std::make_unique<Array>(embedding, "embedding", 'b', std::initializer_list<Py_ssize_t>{-1, -1});
  const Array& words = *loaded->table.embedding;
  const Array scales(scale, "embedding_scale", 'f', {words.size(0)}), scores(score, "score", 'f', {-1}),
      hidden_biases(hidden_bias, "hidden_bias", 'f', {2, -1});
  const Py_ssize_t depth = words.size(1), units = scores.size(0), hidden = hidden_biases.size(1);
  const Array inputs(input, "input_weights", 'f', {2, 3, hidden, depth}),
      input_biases(input_bias, "input_bias", 'f', {2, 3, hidden});
  const Array recurrents(recurrent, "recurrent", 'f', {2, 3, hidden, hidden});
  const Array projections(projection, "projection", 'f', {2, units, 2, hidden}),
      biases(bias, "projection_bias", 'f', {2, units});
  const Array evidences(evidence, "evidence", 'f', {2, 2, units});
  const auto near = array_or_none(values, "values", 'f', {-1, -1, depth});
  const auto near_bias = array_or_none(near ? value_bias : Py_None, "value_bias", 'f', {near ? near->size(0) : 0});
  const auto signs = array_or_none(near ? sign : Py_None, "sign", 'f', {2, hidden});
  const Py_ssize_t read = near ? near->size(0) : 2 * hidden;
  const Array outputs(output, "output", 'f', {read});

  Network& network = loaded->network;
  loaded->kernel = &kernel;
  network.vocabulary = size_t(words.size(0));
  network.hidden = round_up(size_t(hidden));
  network.units = round_up(size_t(units));
  network.output_bias = float(output_bias);
  network.wide = float(wide);
  network.sign_bias = float(sign_bias);
  if (near) {
    network.window = size_t(near->size(1));
    network.value_units = round_up(size_t(read));
  }
  network.row = row_numbers(network);
  if (network.vocabulary > LARGEST_TABLE / (network.row * stored_bytes(inputs_of(kernel))))
    raise(PyExc_ValueError, "embedding: expected a table of words times gates of at most 1 GiB, found a larger one");
  set_ngrams(*loaded, ngrams);

  const WithoutLock unlocked;
  loaded->table.scale.assign(scales.as<float>(), scales.as<float>() + network.vocabulary);
  prepare_table(*loaded, inputs.as<float>(), input_biases.as<float>(), size_t(hidden));
  if (near) add_value_panels(*loaded, near->as<float>(), size_t(read));
  loaded->table.curved = near_bias && network.window == 1;
  if (loaded->table.curved)
    std::copy_n(near_bias->as<float>(), read, &loaded->table.bias[gate_numbers(network)]);
  else if (near_bias)
    network.value_bias = padded_rows(*loaded, near_bias->as<float>(), 1, size_t(read), network.value_units);
  if (signs) network.sign = padded_rows(*loaded, signs->as<float>(), DIRECTIONS, size_t(hidden), network.hidden);
  add_gates(*loaded, kernel.states, recurrents.as<float>(), size_t(hidden), size_t(hidden), network.hidden,
            network.recurrent);
  network.hidden_bias = padded_rows(*loaded, hidden_biases.as<float>(), DIRECTIONS, size_t(hidden), network.hidden);
  network.projection = add_dense(
      *loaded, kernel.states, padded_projection(network, projections.as<float>(), size_t(units), size_t(hidden)).data(),
      2 * network.units, DIRECTIONS * network.hidden, 2);
  network.bias = padded_rows(*loaded, biases.as<float>(), 2, size_t(units), network.units, 2);
  network.evidence = padded_rows(*loaded, evidences.as<float>(), 4, size_t(units), network.units, 2);
  network.score = padded_rows(*loaded, scores.as<float>(), 1, size_t(units), network.units, -2);
  network.output = near ? padded_rows(*loaded, outputs.as<float>(), 1, size_t(read), network.value_units)
                        : padded_rows(*loaded, outputs.as<float>(), DIRECTIONS, size_t(hidden), network.hidden);
  return loaded;
}

// Compute the reviews, those of similar lengths beside each other, and fill the padding of their weights with 0.
void compute(const Loaded& loaded, std::vector<Review>& reviews) {
  static thread_local Memory scratch;
  std::stable_sort(reviews.begin(), reviews.end(),
                   [](const Review& one, const Review& other) { return one.length > other.length; });
  const size_t needed = loaded.kernel->scratch_size(loaded.network, reviews[0].length);
  if (scratch.size < needed) scratch = Memory(needed);
  for (size_t first = 0; first < reviews.size(); first += LANES)
    loaded.kernel->run(loaded.network, &reviews[first], std::min(LANES, reviews.size() - first), scratch.as<void>());
  for (const Review& review : reviews)
    for (size_t i = 0; review.weights && i < review.stride; ++i) {
      const size_t inside = i < review.length ? review.length : 0;
      std::fill(review.weights + i * review.stride + inside, review.weights + (i + 1) * review.stride, 0.0f);
    }
}

void run_batch(PyObject* arguments) {
  PyObject *capsule, *ids, *ngram_ids, *first, *valid, *found, *pairs, *pooled, *added;
  if (!PyArg_ParseTuple(arguments, "OOOOOOOOO:run", &capsule, &ids, &ngram_ids, &first, &valid, &found, &pairs, &pooled,
                        &added))
    throw Raised();
  auto* loaded = static_cast<Loaded*>(PyCapsule_GetPointer(capsule, CAPSULE));
  if (!loaded) throw Raised();
  const Network& network = loaded->network;
  const Array token_ids(ids, "token_ids", 'i', {-1}), starts(first, "starts", 'i', {-1});
  const Py_ssize_t tokens = token_ids.size(0), count = starts.size(0);
  const Py_ssize_t width = Py_ssize_t(DIRECTIONS * network.hidden + (network.window ? network.value_units : 1));
  const Array lengths(valid, "valid_length", 'i', {count}), probability(found, "probability", 'f', {count}, true);
  const auto ngrams = array_or_none(ngram_ids, "ngram_ids", 'i', {tokens, Py_ssize_t(NGRAMS)});
  const auto weights = array_or_none(pairs, "weights", 'f', {count, -1, -1}, true);
  const auto contexts = array_or_none(pooled, "contexts", 'f', {count, width}, true);
  const auto contributions = array_or_none(added, "contributions", 'f', {count, -1}, true);
  if (!ngrams != !network.ngrams || (contributions && !network.window))
    raise(PyExc_TypeError,
          "run: expected ngram_ids if and only if there is a table of n-grams, and contributions of "
          "values near the token alone");

  if (weights && weights->size(1) != weights->size(2))
    raise(PyExc_ValueError, "weights: expected as many keys as queries, found " + std::to_string(weights->size(2)));
  const Py_ssize_t stride = weights ? weights->size(1) : tokens;
  const Py_ssize_t longest = contributions ? std::min(stride, contributions->size(1)) : stride;
  const auto *own = token_ids.as<std::int32_t>(), *start = starts.as<std::int32_t>(),
             *length = lengths.as<std::int32_t>();
  check_range("valid_length", length, size_t(count), 1, longest);
  std::vector<Review> reviews;
  for (size_t i = 0; i < size_t(count); ++i) {
    check_range("starts", start + i, 1, 0, tokens - length[i]);
    const size_t at = size_t(start[i]), some = size_t(length[i]);
    const std::int32_t* own_ngrams = ngrams ? ngrams->as<std::int32_t>() + at * NGRAMS : nullptr;
    check_range("token_ids", own + at, some, 0, std::int64_t(network.vocabulary) - 1);
    if (ngrams) check_range("ngram_ids", own_ngrams, some * NGRAMS, 0, std::int64_t(network.buckets) - 1);
    reviews.push_back({own + at, own_ngrams, some, probability.as<float>() + i,
                       weights ? weights->as<float>() + i * size_t(stride * stride) : nullptr, size_t(stride),
                       contexts ? contexts->as<float>() + i * size_t(width) : nullptr,
                       contributions ? contributions->as<float>() + i * size_t(contributions->size(1)) : nullptr});
  }
  const WithoutLock unlocked;
  complete_table(*loaded, reviews);
  compute(*loaded, reviews);
}

PyObject* load(PyObject*, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    auto loaded = load_network(arguments, keywords);
    PyObject* capsule = PyCapsule_New(loaded.get(), CAPSULE, release);
    if (capsule) loaded.release();
    return capsule;
  });
}

PyObject* run(PyObject*, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    run_batch(arguments);
    Py_RETURN_NONE;
  });
}

PyMethodDef methods[] = {
    {"kernels", kernels, METH_NOARGS, "Return the names of the kernels that this processor runs."},
    {"load", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(load)), METH_VARARGS | METH_KEYWORDS,
     "Return a network for `run`."},
    {"run", run, METH_VARARGS, "Fill probability (N,) of reviews, and what else is wanted."},
    {"load_editor", load_editor, METH_VARARGS, "Return an editor for `edit`."},
    {"edit", edit, METH_VARARGS, "Fill tags, certainty and spaces (N, S) of a batch."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {PyModuleDef_HEAD_INIT, "_network", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

// Raised with every change of the functions' arguments: Python refuses a compiled part of another version
PyMODINIT_FUNC PyInit__network() {
  PyObject* self = PyModule_Create(&module);
  if (self && PyModule_AddIntConstant(self, "VERSION", 10)) Py_CLEAR(self);
  return self;
}
