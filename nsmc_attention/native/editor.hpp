// The editor's forward pass; part of kernel.hpp. Of each character the rows of the table are added, which are the first
// layer's W x; further layers read the states of both directions below, then
//   tag = argmax(T N h + t),  certainty = softmax(T N h + t) of it,  space = sigmoid(s . h + s_0)

// The memory of a group of texts, which have P characters together
struct EditorScratch {
  Stored *below, *states;  // (P, 2 H) each
  Stored* zeros;           // (H)
  float* carry;            // (LANES, H)
  float* inputs;           // (P, 3 H): W x + b of one direction
  Stored* narrow;          // (P, narrow columns)
  float* logits;           // (TILE, tag columns)
};

size_t carve(const Editor& editor, size_t characters, char* memory, EditorScratch& scratch) {
  size_t used = 0;
  const auto take = [&](size_t bytes) {
    char* found = memory + used;
    used += round_up(bytes, ALIGNMENT);
    return found;
  };
  const size_t width = DIRECTIONS * editor.hidden;
  scratch.below = (Stored*)take(characters * width * sizeof(Stored));
  scratch.states = (Stored*)take(characters * width * sizeof(Stored));
  scratch.zeros = (Stored*)take(editor.hidden * sizeof(Stored));
  scratch.carry = (float*)take(LANES * editor.hidden * sizeof(float));
  scratch.inputs = (float*)take(characters * GATES * editor.hidden * sizeof(float));
  scratch.narrow = (Stored*)take(characters * editor.narrow_panels * GATES * W * sizeof(Stored));
  scratch.logits = (float*)take(TILE * editor.tag_panels * GATES * W * sizeof(float));
  return used;
}

size_t editor_scratch(const Editor& editor, size_t longest) {
  EditorScratch scratch;
  return carve(editor, LANES * longest, nullptr, scratch);
}

// The sums of the rows of each character, and the bias (3 H)
void add_rows(const Editor& editor, const Text& text, const float* bias, size_t direction, float* found) {
  const size_t row = GATES * editor.hidden;
  const float* table = editor.table + direction * row;
  for (size_t place = 0; place < text.length; ++place, found += row) {
    const float* own[ROWS];
    for (size_t i = 0; i < ROWS; ++i) own[i] = table + size_t(text.rows[place * ROWS + i]) * DIRECTIONS * row;
    for (size_t c = 0; c < row; c += W) {
      Vector sum = load(bias + c);
      for (size_t i = 0; i < ROWS; ++i) sum += load(own[i] + c);
      store(found + c, sum);
    }
  }
}

// The likeliest tag of a row of logits, and its probability
NSMC_INLINE void choose(const float* logits, size_t columns, std::int32_t& tag, float& certainty) {
  Vector best = load(logits);
  Integers where = {};
  for (size_t c = W; c < columns; c += W) {
    const Vector value = load(logits + c);
    const Integers larger = value > best;
    where = larger ? Integers{} + std::int32_t(c) : where;
    best = larger ? value : best;
  }
  float highest = best[0], total = 0;
  tag = where[0];
  for (size_t w = 1; w < W; ++w) {
    const std::int32_t place = where[w] + std::int32_t(w);
    if (best[w] > highest || (best[w] == highest && place < tag)) highest = best[w], tag = place;
  }
  Vector totals = {};
  for (size_t c = 0; c < columns; c += W) totals += exponential(load(logits + c) - highest);
  for (size_t w = 0; w < W; ++w) total += totals[w];
  certainty = 1 / total;
}

// The results of one text from its states (S, 2 H)
void decide(const Editor& editor, const Text& text, const Stored* narrow, float* logits) {
  const size_t wide = editor.narrow_panels * GATES * W, columns = editor.tag_panels * GATES * W;
  for (size_t first = 0; first < text.length; first += TILE) {
    const size_t own = text.length - first < TILE ? text.length - first : TILE;
    const Stored* rows = narrow + first * wide;
    multiply_all(rows, wide, own, editor.units, static_cast<const Stored*>(editor.tag), editor.tag_panels,
                 editor.tag_bias, logits);
    for (size_t l = 0; l < own; ++l) {
      choose(logits + l * columns, columns, text.tags[first + l], text.certainty[first + l]);
      // the column after those that the tags are made of
      text.spaces[first + l] = sigmoid(load(rows + l * wide + editor.units))[0];
    }
  }
}

void edit(const Editor& editor, const Text* texts, size_t count, void* memory) {
  const size_t hidden = editor.hidden, width = DIRECTIONS * hidden, row = GATES * hidden;
  size_t lengths[LANES] = {}, starts[LANES] = {}, characters = 0;
  for (size_t lane = 0; lane < count; characters += lengths[lane++]) {
    lengths[lane] = texts[lane].length;
    starts[lane] = characters;
  }
  EditorScratch scratch;
  carve(editor, characters, static_cast<char*>(memory), scratch);
  for (size_t number = 0; number < editor.layer_count; ++number) {
    const EditorLayer& own = editor.layers[number];
    Stored* states[LANES];
    for (size_t lane = 0; lane < count; ++lane) states[lane] = scratch.states + starts[lane] * width;
    const Layer layer = {hidden, count, lengths, own.recurrent, own.hidden_bias, states, scratch.zeros, scratch.carry};
    for (size_t direction = 0; direction < DIRECTIONS; ++direction) {
      const float* bias = own.bias + direction * row;
      if (own.inputs)
        multiply_all(scratch.below, width, characters, width,
                     static_cast<const Stored*>(own.inputs) + direction * row * width, hidden / W, bias,
                     scratch.inputs);
      else
        for (size_t lane = 0; lane < count; ++lane)
          add_rows(editor, texts[lane], bias, direction, scratch.inputs + starts[lane] * row);
      read_sequences<float>(layer, direction,
                            [&](size_t lane, size_t place) { return scratch.inputs + (starts[lane] + place) * row; });
    }
    Stored* free = scratch.below;
    scratch.below = scratch.states;
    scratch.states = free;
  }
  multiply_all(scratch.below, width, characters, width, static_cast<const Stored*>(editor.narrow), editor.narrow_panels,
               editor.narrow_bias, scratch.narrow);
  for (size_t lane = 0; lane < count; ++lane)
    decide(editor, texts[lane], scratch.narrow + starts[lane] * editor.narrow_panels * GATES * W, scratch.logits);
}
