// The editor's forward pass; after kernel.hpp. Of each character the rows of the table are added, which are the first
// layer's W x; further layers read the states of both directions below, then
//   change = sigmoid(c . h + c_0),  space = sigmoid(s . h + s_0),  tag = argmax(T N h + t), softmax(T N h + t) of it
// The tag and change * softmax are the results where that is more than 1 - change, else KEEP and 1 - change.
// States and weights are rounded to 8 bits by every kernel; one that has no products of bytes takes floats.

namespace {

constexpr int LEVELS = 127;

#ifdef NSMC_WHOLE
// The left numbers of a product have no sign: 128 is level 0, and the sums begin with what makes up for that. Without
// an instruction for all of it, two terms are added in 16 bits, of which none is lost (`Rounded`), then those of two
// pairs.
typedef std::uint8_t Level;

template <>
struct Product<Level> : WholeProduct<Level> {
  NSMC_INLINE static Sum add(Sum sum, Sum weights, Sum factor) {
#if NSMC_WIDTH == 16 && defined NSMC_VNNI
    return (Sum)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)factor, (__m512i)weights);
#elif NSMC_WIDTH == 16
    const __m512i pairs = _mm512_maddubs_epi16((__m512i)factor, (__m512i)weights);
    return sum + (Sum)_mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
#elif defined NSMC_VNNI
    return (Sum)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)factor, (__m256i)weights);
#else
    const __m256i pairs = _mm256_maddubs_epi16((__m256i)factor, (__m256i)weights);
    return sum + (Sum)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#endif
  }
};

#else
typedef float Level;
#endif

// levels (count, depth) times weights plus bias (panels, 3, W) -> (count, panels, 3, W)
void multiply_levels(const Level* rows, size_t count, size_t depth, const Matrix& weights, const float* bias,
                     float* found) {
  multiply_matrix<GATES>(rows, count, depth, weights, found,
                         [&](size_t, size_t column, Vector sum) { return load(bias + column) + sum; });
}

// Where the results of a character go
struct Place {
  std::int32_t* tag;
  float* certainty;
};

// The memory of a group of texts, which have P characters together
struct EditorScratch {
  Level *below, *states;   // (P, 2 H) each
  float* carry;            // (LANES, H)
  float* inputs;           // (P, 3 H): W x + b of one direction
  float* heads;            // (P, columns of a panel)
  Level* changed;          // (TILE, 2 H)
  float *narrow, *logits;  // (TILE, narrow columns), (TILE, tag columns)
};

size_t carve(const Editor& editor, size_t characters, char* memory, EditorScratch& scratch) {
  size_t used = 0;
  const auto take = [&](size_t bytes) {
    char* found = memory + used;
    used += round_up(bytes, ALIGNMENT);
    return found;
  };
  const size_t width = DIRECTIONS * editor.hidden;
  scratch.below = (Level*)take(characters * width * sizeof(Level));
  scratch.states = (Level*)take(characters * width * sizeof(Level));
  scratch.carry = (float*)take(LANES * editor.hidden * sizeof(float));
  scratch.inputs = (float*)take(characters * GATES * editor.hidden * sizeof(float));
  scratch.heads = (float*)take(characters * GATES * W * sizeof(float));
  scratch.changed = (Level*)take(TILE * width * sizeof(Level));
  scratch.narrow = (float*)take(TILE * editor.narrow.count * GATES * W * sizeof(float));
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
    const std::int32_t *ids = text.rows + place * ROWS, *next = place + 1 < text.length ? ids + ROWS : ids;
    const float *own[ROWS], *coming = table + size_t(next[0]) * DIRECTIONS * row;
    for (size_t i = 0; i < ROWS; ++i) own[i] = table + size_t(ids[i]) * DIRECTIONS * row;
    for (size_t c = 0; c < row; c += W) {
      // rows of syllables are many: the next character's is seldom in the cache
      __builtin_prefetch(coming + c);
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
  float highest = best[0];
  tag = where[0];
  for (size_t w = 1; w < W; ++w) {
    const std::int32_t place = where[w] + std::int32_t(w);
    if (best[w] > highest || (best[w] == highest && place < tag)) highest = best[w], tag = place;
  }
  Vector totals = {};
  for (size_t c = 0; c < columns; c += W) totals += exponential(load(logits + c) - highest);
  certainty = 1 / sum_of(totals);
}

// The tags of characters that are likelier to change, by their places in the group; their states are scratch.changed
void choose_all(const Editor& editor, const Place* places, size_t count, const EditorScratch& scratch) {
  const size_t columns = editor.tag_panels * GATES * W;
  multiply_levels(scratch.changed, count, DIRECTIONS * editor.hidden, editor.narrow, editor.narrow_bias,
                  scratch.narrow);
  multiply_all<GATES>(scratch.narrow, editor.narrow.count * GATES * W, count, editor.units, editor.tag,
                      editor.tag_panels, editor.tag_bias, scratch.logits, same);
  for (size_t l = 0; l < count; ++l) {
    std::int32_t tag;
    float certainty;
    choose(scratch.logits + l * columns, columns, tag, certainty);
    certainty *= 1 - *places[l].certainty;
    // the first tag is KEEP
    if (!(certainty <= *places[l].certainty)) *places[l].tag = tag + 1, *places[l].certainty = certainty;
  }
}

// The results of texts from their states (P, 2 H), one after the other
void decide(const Editor& editor, const Text* texts, size_t count, const Level* states, const EditorScratch& scratch) {
  const size_t width = DIRECTIONS * editor.hidden;
  const float* heads = scratch.heads;
  Place places[TILE];
  size_t waiting = 0;
  for (size_t lane = 0; lane < count; ++lane)
    for (size_t place = 0; place < texts[lane].length; ++place, states += width, heads += GATES * W) {
      const Vector odds = load(heads);
      const float keep = sigmoid(-odds)[0];
      texts[lane].spaces[place] = sigmoid(odds)[1];
      texts[lane].tags[place] = 0;
      texts[lane].certainty[place] = keep;
      if (keep >= 0.5f) continue;
      std::memcpy(scratch.changed + waiting * width, states, width * sizeof(Level));
      places[waiting++] = {texts[lane].tags + place, texts[lane].certainty + place};
      if (waiting == TILE) choose_all(editor, places, waiting, scratch), waiting = 0;
    }
  if (waiting) choose_all(editor, places, waiting, scratch);
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
    Level* states[LANES];
    for (size_t lane = 0; lane < count; ++lane) states[lane] = scratch.states + starts[lane] * width;
    const Sequences<Level> sequences = {hidden, count, lengths, states, scratch.carry};
    for (size_t direction = 0; direction < DIRECTIONS; ++direction) {
      const float* bias = own.bias + direction * row;
      if (number)
        multiply_levels(scratch.below, characters, width, own.inputs[direction], bias, scratch.inputs);
      else
        for (size_t lane = 0; lane < count; ++lane)
          add_rows(editor, texts[lane], bias, direction, scratch.inputs + starts[lane] * row);
      const Cell<Level, float, LEVELS> cell = {&own.recurrent[direction], own.hidden_bias + direction * hidden};
      read_sequences(sequences, cell, direction,
                     [&](size_t lane, size_t place) { return scratch.inputs + (starts[lane] + place) * row; });
    }
    Level* free = scratch.below;
    scratch.below = scratch.states;
    scratch.states = free;
  }
  multiply_levels(scratch.below, characters, width, editor.heads, editor.head_bias, scratch.heads);
  decide(editor, texts, count, scratch.below, scratch);
}

}  // namespace
