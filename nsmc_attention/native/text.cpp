// Korean text to tokens, ids, n-grams and junctions: the fast path of text/tokenizers.py, text/encoding.py,
// text/ngrams.py and restoration/junctions.py.
//
//   code points -> characters with their classes -> lattice of dictionary words -> cheapest path -> tokens -> ids
//
// Decoder reads the compiled files of mecab-ko-dic as MeCab does, and gives the tokens of mecab-ko 0.9.2 for every
// text: the same candidates in the same order, the same costs, and of equally cheap paths the same one. The rules and
// the file formats are those of MeCab (Taku Kudo, Nippon Telegraph and Telephone Corporation) and of mecab-ko's space
// penalty (Eunjeon project), used under MeCab's BSD licence: its notice is in NOTICE.md.
//
// The files are mapped by Python, shared by all processes, and believed only where a check stands: sizes when a Decoder
// is made, indices where they are used. Damaged content gives ValueError or other tokens, never a read outside.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Bytes = std::basic_string_view<unsigned char>;

// ---------------------------------------------------------------------------------------------- dictionary files

// An entry of a dictionary: what may stand left and right of it, its part of speech, its cost.
struct Token {
  std::uint16_t left, right, tag;
  std::int16_t cost;
  std::uint32_t feature, compound;
};

// A node of a double-array trie: the child by byte c of a node with base b is unit b + c + 1 if its check is b; a word
// that ends at the node is unit b, and its base then -1 - (first token << 8 | number of tokens).
struct Unit {
  std::int32_t base;
  std::uint32_t check;
};

inline void prefetch_line(const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#endif
}

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class T>
T read(Bytes file, std::size_t place) {
  if (place + sizeof(T) > file.size()) throw Error("shorter than its header");
  T value;
  std::memcpy(&value, file.data() + place, sizeof(T));
  return value;
}

// sys.dic and unk.dic: ten numbers, the charset, a trie, tokens, their features as strings.
class Words {
 public:
  const Unit* units;
  std::size_t unit_count;
  const Token* tokens;
  std::size_t token_count;
  std::uint32_t left_size, right_size;

  Words(Bytes file, std::uint32_t type) {
    constexpr std::uint32_t magic = 0xef718f77u, version = 102;
    constexpr std::size_t header = 40, charset = 32;
    if ((read<std::uint32_t>(file, 0) ^ magic) != file.size())
      throw Error("not of the size that its first number tells");
    if (read<std::uint32_t>(file, 4) != version) throw Error("not a dictionary of version 102");
    if (read<std::uint32_t>(file, 8) != type) throw Error("a dictionary of another type");
    left_size = read<std::uint32_t>(file, 16);
    right_size = read<std::uint32_t>(file, 20);
    const std::size_t trie = read<std::uint32_t>(file, 24), all = read<std::uint32_t>(file, 28);
    feature_bytes = read<std::uint32_t>(file, 32);
    if (header + charset + trie + all + feature_bytes != file.size()) throw Error("parts that do not fill the file");
    if (trie % sizeof(Unit) || all % sizeof(Token) || !trie || !feature_bytes || file.back())
      throw Error("parts of impossible sizes");
    if (std::strncmp(reinterpret_cast<const char*>(file.data()) + header, "UTF-8", charset))
      throw Error("not a dictionary in UTF-8");
    const unsigned char* start = file.data() + header + charset;
    if (reinterpret_cast<std::uintptr_t>(start) % alignof(Unit)) throw Error("not aligned");
    units = reinterpret_cast<const Unit*>(start);
    unit_count = trie / sizeof(Unit);
    tokens = reinterpret_cast<const Token*>(start + trie);
    token_count = all / sizeof(Token);
    features = reinterpret_cast<const char*>(start + trie + all);
  }

  // The child of a node by a byte; false where there is none. Nodes are their bases.
  bool step(std::uint32_t& node, unsigned char byte) const {
    const std::uint32_t child = node + byte + 1;
    if (child >= unit_count || units[child].check != node) return false;
    node = static_cast<std::uint32_t>(units[child].base);
    return true;
  }

  // The tokens of the word that ends at a node: number 0 where none does.
  struct Range {
    const Token* first;
    std::uint32_t number;
    const Token* begin() const { return first; }
    const Token* end() const { return first + number; }
  };
  Range words_at(std::uint32_t node) const {
    if (node >= unit_count || units[node].check != node || units[node].base >= 0) return {nullptr, 0};
    const std::uint32_t value = ~static_cast<std::uint32_t>(units[node].base), first = value >> 8,
                        number = value & 0xff;
    if (first + number > token_count) throw Error("sys.dic: a word whose tokens are outside the file");
    return {tokens + first, number};
  }

  void prefetch(std::uint32_t node, unsigned char byte) const {
    prefetch_line(units + std::min<std::size_t>(node, unit_count - 1));
    prefetch_line(units + std::min<std::size_t>(node + byte + 1, unit_count - 1));
  }

  bool owns(const Token* token) const { return token >= tokens && token < tokens + token_count; }

  // Ends within the file, whose last byte is 0.
  const char* feature(const Token& token) const {
    if (token.feature >= feature_bytes) throw Error("a feature outside the dictionary");
    return features + token.feature;
  }

 private:
  const char* features;
  std::size_t feature_bytes;
};

// The class of a character, as char.bin packs it: of which types it is (bits), which of them names the unknown words
// that begin with it, up to how many characters these have, whether a run of its kind is one, and whether there are
// such words also where the dictionary has one.
struct Kind {
  std::uint32_t packed;
  std::uint32_t types() const { return packed & 0x3ffff; }
  std::uint32_t default_type() const { return packed >> 18 & 0xff; }
  std::uint32_t length() const { return packed >> 26 & 0xf; }
  bool grouped() const { return packed >> 30 & 1; }
  bool always() const { return packed >> 31; }
};

class Dictionary {
 public:
  const Words words, unknown;
  const std::size_t longest_run;

  Dictionary(Bytes sys, Bytes unk, Bytes kinds, Bytes matrix, std::vector<int> penalties, std::size_t longest_run)
      : words(sys, 0), unknown(unk, 2), longest_run(longest_run), penalties(std::move(penalties)) {
    read_matrix(matrix);
    read_kinds(kinds);
  }

  // MeCab has no kind for U+FFFF, and reads the zeros behind its file; beyond the first plane all are of kind U+0000.
  Kind kind(std::uint32_t character) const {
    if (character > 0xffff) return {kinds[0]};
    return {character == 0xffff ? 0 : kinds[character]};
  }

  Words::Range unknown_of(Kind kind) const { return unknown_tokens[kind.default_type()]; }

  // The costs of standing left of a token, by the right attribute of what stands there.
  const std::int16_t* costs_before(std::uint16_t left) const {
    return costs + static_cast<std::size_t>(left) * words.left_size;
  }

  int penalty(std::uint16_t tag) const { return tag < penalties.size() ? penalties[tag] : 0; }

  bool fits(const Token& token) const { return token.left < words.right_size && token.right < words.left_size; }

 private:
  const std::int16_t* costs;
  const std::uint32_t* kinds;
  std::vector<Words::Range> unknown_tokens;
  std::vector<int> penalties;

  void read_matrix(Bytes file) {
    const std::size_t left = read<std::uint16_t>(file, 0), right = read<std::uint16_t>(file, 2);
    if (file.size() != 4 + sizeof(std::int16_t) * left * right)
      throw Error("matrix.bin: not of the size that it tells");
    if (!left || !right || left != words.left_size || right != words.right_size || left != unknown.left_size ||
        right != unknown.right_size)
      throw Error("matrix.bin: not of this dictionary");
    costs = reinterpret_cast<const std::int16_t*>(file.data() + 4);
  }

  void read_kinds(Bytes file) {
    constexpr std::size_t name = 32, characters = 0xffff;
    const std::size_t types = read<std::uint32_t>(file, 0);
    if (types > 18 || file.size() != 4 + name * types + 4 * characters)
      throw Error("char.bin: not of the size that it tells");
    kinds = reinterpret_cast<const std::uint32_t*>(file.data() + 4 + name * types);
    for (std::size_t type = 0; type < types; ++type) {
      std::uint32_t node = static_cast<std::uint32_t>(unknown.units[0].base);
      const unsigned char* letters = file.data() + 4 + name * type;
      std::size_t length = 0;
      while (length < name && letters[length] && unknown.step(node, letters[length])) ++length;
      const Words::Range found = unknown.words_at(node);
      if (length == name || letters[length] || !found.number) throw Error("unk.dic: lacks a type of char.bin");
      unknown_tokens.push_back(found);
    }
    for (std::size_t each = 0; each < characters; ++each)
      if (Kind{kinds[each]}.default_type() >= types) throw Error("char.bin: a character of no type");
  }
};

// ------------------------------------------------------------------------------------------------------- decoding

// A text: its code points, the same in UTF-8, where each character begins there, and its kind.
struct Text {
  std::vector<std::uint32_t> characters;
  std::vector<unsigned char> bytes;
  std::vector<std::uint32_t> starts;
  std::vector<Kind> kinds;

  std::size_t size() const { return kinds.size(); }

  void clear() {
    characters.clear();
    bytes.clear();
    kinds.clear();
    starts.assign(1, 0);
  }

  void add(std::uint32_t character, Kind kind) {
    const unsigned more = (character > 0x7f) + (character > 0x7ff) + (character > 0xffff);
    bytes.push_back(static_cast<unsigned char>("\0\xc0\xe0\xf0"[more] | character >> 6 * more));
    for (unsigned each = more; each-- > 0;)
      bytes.push_back(static_cast<unsigned char>(0x80 | (character >> 6 * each & 0x3f)));
    characters.push_back(character);
    starts.push_back(static_cast<std::uint32_t>(bytes.size()));
    kinds.push_back(kind);
  }
};

// A token of the best path: its characters, and the entry of a dictionary that it is.
struct Morpheme {
  std::uint32_t begin, end;
  const Token* token;
};

// The costs of standing left of a token, of the attributes that were met, in the order in which they were: of 2,693
// rows and 3,822 columns 256 each make nine tenths of the pairs, and what these cost is 128 KiB, which a cache holds.
class Costs {
 public:
  explicit Costs(const Dictionary& dictionary)
      : row_of(0x10000, never), column_of(0x10000, never), dictionary(dictionary), height(dictionary.words.right_size) {
    // in memory are the parts in use; the row and the column of both ends of a text are 0
    costs.reset(new std::int16_t[(dictionary.words.left_size + tile - 1) / tile * tile * height]);
    meet(Token{});
  }

  // The rows of tokens that were met, for what stands left of them, and their columns, for what stands right of them.
  std::vector<std::uint16_t> row_of, column_of;

  std::uint32_t row(const Token& token) {
    if (row_of[token.left] == never || column_of[token.right] == never) meet(token);
    return row_of[token.left];
  }

  const std::int16_t* in_row(std::size_t row) const { return costs.get() + row * tile; }
  std::size_t place(std::size_t column) const { return column / tile * tile * height + column % tile; }

 private:
  static constexpr std::size_t tile = 256;
  static constexpr std::uint16_t never = 0xffff;
  const Dictionary& dictionary;
  std::vector<std::uint16_t> rows, columns;
  std::size_t height;
  std::unique_ptr<std::int16_t[]> costs;

  void meet(const Token& token) {
    if (!dictionary.fits(token)) throw Error("a token whose attributes are outside matrix.bin");
    if (row_of[token.left] == never) {
      row_of[token.left] = static_cast<std::uint16_t>(rows.size());
      rows.push_back(token.left);
      for (std::size_t column = 0; column < columns.size(); ++column) fill(rows.size() - 1, column);
    }
    if (column_of[token.right] == never) {
      column_of[token.right] = static_cast<std::uint16_t>(columns.size());
      columns.push_back(token.right);
      for (std::size_t row = 0; row < rows.size(); ++row) fill(row, columns.size() - 1);
    }
  }

  void fill(std::size_t row, std::size_t column) {
    costs[row * tile + place(column)] = dictionary.costs_before(rows[row])[columns[column]];
  }
};

// Finds the cheapest path through the lattice of a text (Viterbi 1967). Each thread has its own.
class Lattice {
 public:
  explicit Lattice(const Dictionary& dictionary)
      : dictionary(dictionary),
        costs(dictionary),
        beginnings(0x4000, Beginning{0xffffffff, 0, false, {}}),
        lefts(dictionary.words.left_size + side),
        known(dictionary.words.right_size),
        rows(dictionary.words.right_size + 1),
        marks(dictionary.words.left_size),
        nodes(0x100) {}

  const std::vector<Morpheme>& decode(const Text& text) {
    const std::uint32_t length = static_cast<std::uint32_t>(text.size());
    begin(text);
    for (std::uint32_t place = 0; place < length; ++place) {
      if (!ending[place]) continue;
      candidates.clear();
      const std::uint32_t first = look_up(text, place);
      collect(ending[place]);
      connect(place, first);
    }
    std::uint32_t last = length;
    while (!ending[last]) --last;
    collect(ending[last]);
    rows[0] = 0;
    find_cheapest(1);
    const std::int64_t best = known[rows[0]].best;
    cheapest_path = static_cast<int>(best >> 32);
    follow(~static_cast<std::uint32_t>(best));
    return path;
  }

  // What the path that was decoded last costs.
  int cost() const { return cheapest_path; }

  // The nodes of one long text are not kept for all the shorter ones after it.
  void shrink() {
    constexpr std::size_t kept = 1 << 15;
    if (nodes.size() > kept) std::vector<Node>(kept).swap(nodes);
  }

 private:
  static constexpr std::uint32_t none = 0;
  static constexpr std::size_t side = 2;
  static constexpr std::int64_t high = std::int64_t{1} << 32, most = std::numeric_limits<std::int64_t>::max() / 2;
  static constexpr Token edge{};

  struct Node {
    int cost;                         // of the cheapest path that ends with it
    std::uint32_t previous, sibling;  // on that path; of those that end where it does, the one added before
    std::uint32_t begin, end, column;
    const Token* token;
  };
  struct Candidates {
    Words::Range tokens;
    std::uint32_t end;
  };
  // A word of the dictionary that ends at a character; the next longer one with the same beginning
  struct Match {
    Words::Range tokens;
    std::uint32_t end, next;
  };
  // A way down the trie: node, next byte of the text, the place where it began, the end of the character that it is in
  struct Walk {
    std::uint32_t node, byte, place, end;
  };
  // Where a way down the trie is after its first character, kept of the characters that were met lately: 11,172
  // syllables have a place each
  struct Beginning {
    std::uint32_t character, node;
    bool leads;
    Words::Range tokens;
  };
  // A node that ends where others begin: its cost above the inverse of its number, as of equally cheap ones the last is
  // MeCab's; and the place of its column in a row
  struct Left {
    std::int64_t key;
    std::size_t column;
  };
  struct Mark {
    std::uint32_t stamp, slot;
  };
  struct Known {
    std::int64_t best;
    std::uint32_t stamp;
  };

  const Dictionary& dictionary;
  Costs costs;
  std::vector<Beginning> beginnings;
  std::vector<std::uint32_t> run_end, ending;
  std::vector<Candidates> candidates;
  std::vector<Match> matches;
  std::vector<std::uint32_t> matched, last_match;  // the first and the last match of each place
  std::vector<Walk> walks;
  std::vector<Left> lefts;
  std::vector<Known> known;
  std::vector<std::uint32_t> rows;
  std::vector<Mark> marks;
  std::uint32_t left_count = 0;
  std::vector<Node> nodes;
  std::uint32_t used = 0;  // of the nodes
  std::vector<Morpheme> path;
  int cheapest_path = 0;
  std::uint32_t stamp = 0;

  // Find the dictionary's words that begin at each character, the shorter ones of a place first. All places take one
  // byte at a time in turn, so that the memory that each needs next arrives while the others take theirs.
  void match(const Text& text) {
    const Words& words = dictionary.words;
    matches.assign(1, Match{});
    matched.assign(text.size(), none);
    last_match.assign(text.size(), none);
    walks.clear();
    for (std::uint32_t place = 0; place < text.size(); ++place) {
      const Beginning& beginning = beginning_of(text, place);
      if (!beginning.leads) continue;
      record(beginning.tokens, place, place + 1);
      if (place + 1 == text.size()) continue;
      walks.push_back({beginning.node, text.starts[place + 1], place, place + 2});
      words.prefetch(beginning.node, text.bytes[text.starts[place + 1]]);
    }
    while (!walks.empty()) {
      std::size_t kept = 0;
      for (Walk walk : walks) {
        if (text.starts[walk.end] == walk.byte) {
          record(words.words_at(walk.node), walk.place, walk.end);
          if (walk.end == text.size()) continue;
          ++walk.end;
        }
        if (!words.step(walk.node, text.bytes[walk.byte])) continue;
        if (++walk.byte < text.bytes.size()) words.prefetch(walk.node, text.bytes[walk.byte]);
        walks[kept++] = walk;
      }
      walks.resize(kept);
    }
  }

  const Beginning& beginning_of(const Text& text, std::uint32_t place) {
    const std::uint32_t character = text.characters[place];
    Beginning& beginning = beginnings[character % beginnings.size()];
    if (beginning.character == character) return beginning;
    const Words& words = dictionary.words;
    beginning = {character, static_cast<std::uint32_t>(words.units[0].base), true, {}};
    for (std::uint32_t byte = text.starts[place]; byte < text.starts[place + 1] && beginning.leads; ++byte)
      beginning.leads = words.step(beginning.node, text.bytes[byte]);
    if (beginning.leads) beginning.tokens = words.words_at(beginning.node);
    return beginning;
  }

  void record(Words::Range tokens, std::uint32_t place, std::uint32_t end) {
    if (!tokens.number) return;
    const std::uint32_t match = static_cast<std::uint32_t>(matches.size());
    matches.push_back({tokens, end, none});
    (last_match[place] ? matches[last_match[place]].next : matched[place]) = match;
    last_match[place] = match;
    prefetch_line(tokens.first);
  }

  void begin(const Text& text) {
    match(text);
    const std::size_t length = text.size();
    // a run goes on while neighbours share a type
    run_end.resize(length);
    for (std::size_t place = length; place-- > 0;) {
      const bool goes_on = place + 1 < length && text.kinds[place].types() & text.kinds[place + 1].types();
      run_end[place] = goes_on ? run_end[place + 1] : static_cast<std::uint32_t>(place + 1);
    }
    // the first stands for none, the second for the beginning
    nodes[1] = Node{0, none, none, 0, 0, 0, &edge};
    used = 2;
    ending.assign(length + 1, none);
    ending[0] = 1;
  }

  // Put the words that begin at a place, after spaces, into `candidates`; return where they begin.
  std::uint32_t look_up(const Text& text, std::uint32_t place) {
    const std::uint32_t length = static_cast<std::uint32_t>(text.size());
    std::uint32_t first = place;
    for (Kind kind = dictionary.kind(' '); first < length && kind.types() & text.kinds[first].types(); ++first)
      kind = text.kinds[first];
    if (first == length) return first;
    for (std::uint32_t match = matched[first]; match; match = matches[match].next)
      candidates.push_back({matches[match].tokens, matches[match].end});
    const Kind kind = text.kinds[first];
    if (candidates.empty() || kind.always()) add_unknown(text, first, kind);
    return first;
  }

  void add_unknown(const Text& text, std::uint32_t first, Kind kind) {
    const std::uint32_t length = static_cast<std::uint32_t>(text.size());
    const Words::Range tokens = dictionary.unknown_of(kind);
    std::uint32_t end = first + 1, run = none;
    if (kind.grouped()) {
      run = run_end[first];
      if (run - end <= dictionary.longest_run) candidates.push_back({tokens, run});
    }
    for (std::uint32_t size = 1; size <= kind.length() && end != run; ++size, ++end) {
      candidates.push_back({tokens, end});
      if (end == length || !(kind.types() & text.kinds[end].types())) break;
    }
    if (candidates.empty()) candidates.push_back({tokens, end});
  }

  // Put the nodes of a list of ends into `lefts`, of those with one column the cheapest; of equals the last node, which
  // the highest number is.
  void collect(std::uint32_t node) {
    if (++stamp == 0) {
      known.assign(known.size(), Known{});
      marks.assign(marks.size(), Mark{});
      stamp = 1;
    }
    left_count = 0;
    for (; node; node = nodes[node].sibling) {
      const Node& left = nodes[node];
      const std::int64_t key = left.cost * high + static_cast<std::int64_t>(~node);
      Mark& mark = marks[left.column];
      const bool fresh = mark.stamp != stamp;
      mark = {stamp, fresh ? left_count : mark.slot};
      lefts[mark.slot] = {std::min(key, fresh ? key : lefts[mark.slot].key), costs.place(left.column)};
      left_count += fresh;
    }
    while (left_count % side) lefts[left_count++] = {most, 0};
  }

  // Find which of `lefts` is the cheapest to stand left of a token with each of the first rows of costs, two at a time.
  // Costs stand above numbers of nodes: the least is found without a branch that waits for them.
  void find_cheapest(std::size_t number) {
    rows[number] = rows[0];
    const Left* const end = lefts.data() + left_count;
    for (std::size_t each = 0; each < number; each += 2) {
      const std::int16_t *one = costs.in_row(rows[each]), *two = costs.in_row(rows[each + 1]);
      std::int64_t best[] = {most, most, most, most};
      for (const Left* left = lefts.data(); left != end; left += side) {
        best[0] = std::min(best[0], left[0].key + one[left[0].column] * high);
        best[1] = std::min(best[1], left[0].key + two[left[0].column] * high);
        best[2] = std::min(best[2], left[1].key + one[left[1].column] * high);
        best[3] = std::min(best[3], left[1].key + two[left[1].column] * high);
      }
      known[rows[each]].best = std::min(best[0], best[2]);
      known[rows[each + 1]].best = std::min(best[1], best[3]);
    }
  }

  // Put the different rows of the candidates into `rows`, and the cheapest for each in `known`; return the number of
  // nodes.
  std::size_t weigh() {
    std::size_t number = 0, count = 0;
    Known* const of_rows = known.data();
    std::uint32_t* const found = rows.data();
    for (const Candidates& word : candidates) {
      for (const Token& token : word.tokens) {
        const std::uint32_t row = costs.row(token);
        found[count] = row;
        count += of_rows[row].stamp != stamp;
        of_rows[row].stamp = stamp;
      }
      number += word.tokens.number;
    }
    find_cheapest(count);
    return number;
  }

  // Make nodes of the candidates, the last first, as MeCab does: the order decides between paths of equal cost.
  void connect(std::uint32_t place, std::uint32_t first) {
    const std::size_t number = weigh();
    if (nodes.size() < used + number) nodes.resize(2 * (used + number));
    const bool spaced = first > place;
    Node* const all = nodes.data();
    const std::uint16_t *const row_of = costs.row_of.data(), *const column_of = costs.column_of.data();
    std::uint32_t node = used;
    for (std::size_t each = candidates.size(); each-- > 0;) {
      const Candidates word = candidates[each];
      std::uint32_t sibling = ending[word.end];
      for (const Token* token = word.tokens.end(); token-- != word.tokens.first; sibling = node++) {
        const std::int64_t best = known[row_of[token->left]].best;
        const int cost = static_cast<int>(best >> 32) + token->cost + (spaced ? dictionary.penalty(token->tag) : 0);
        all[node] = {cost, ~static_cast<std::uint32_t>(best), sibling, first, word.end, column_of[token->right], token};
      }
      ending[word.end] = sibling;
    }
    used = node;
  }

  void follow(std::uint32_t node) {
    path.clear();
    for (; node > 1; node = nodes[node].previous)
      path.push_back({nodes[node].begin, nodes[node].end, nodes[node].token});
    std::reverse(path.begin(), path.end());
  }
};

// ----------------------------------------------------------------------------------------------------- vocabulary

// The units of a vocabulary by their bytes in UTF-8: a hash table with open addresses (FNV-1a, begun with a number that
// each process draws and mixed at the end as MurmurHash3 does: no vocabulary can be made whose units share few
// addresses).
class Vocabulary {
 public:
  static constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();
  const std::size_t max_length;
  const bool cut_rare;

  Vocabulary(std::size_t entries, std::size_t max_length, bool cut_rare) : max_length(max_length), cut_rare(cut_rare) {
    std::size_t size = 4;
    while (size < 2 * entries) size *= 2;
    slots.assign(size, Slot{0, unknown});
    places.assign(1, 0);
  }

  static std::uint64_t empty_hash() {
    static const std::uint64_t drawn = std::uint64_t(std::random_device()()) << 32 | std::random_device()();
    return drawn;
  }
  static std::uint64_t add_to_hash(std::uint64_t hash, unsigned char byte) { return (hash ^ byte) * 0x100000001b3u; }
  static std::uint64_t hash_of(Bytes unit, std::uint64_t hash = empty_hash()) {
    for (unsigned char byte : unit) hash = add_to_hash(hash, byte);
    return hash;
  }

  // Add the next entry; no two have the same bytes.
  void add(Bytes unit) {
    const std::uint64_t hash = mixed(hash_of(unit));
    std::size_t slot = first_slot(hash);
    while (slots[slot].entry != unknown) slot = (slot + 1) & (slots.size() - 1);
    slots[slot] = {mark(hash), static_cast<std::uint32_t>(places.size() - 1)};
    letters.insert(letters.end(), unit.begin(), unit.end());
    places.push_back(letters.size());
  }

  // The number of an entry, or `unknown`.
  std::uint32_t find(Bytes unit) const { return find(unit, hash_of(unit)); }
  std::uint32_t find(Bytes unit, std::uint64_t hash) const {
    hash = mixed(hash);
    for (std::size_t slot = first_slot(hash); slots[slot].entry != unknown; slot = (slot + 1) & (slots.size() - 1)) {
      const std::uint32_t entry = slots[slot].entry;
      if (slots[slot].mark == mark(hash) && places[entry + 1] - places[entry] == unit.size() &&
          !std::memcmp(letters.data() + places[entry], unit.data(), unit.size()))
        return entry;
    }
    return unknown;
  }

 private:
  struct Slot {
    std::uint32_t mark, entry;
  };
  std::vector<Slot> slots;
  std::vector<unsigned char> letters;
  std::vector<std::size_t> places;

  static std::uint64_t mixed(std::uint64_t hash) {
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
    return hash ^ hash >> 33;
  }
  static std::uint32_t mark(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  std::size_t first_slot(std::uint64_t hash) const { return hash & (slots.size() - 1); }
};

// A token as the network reads it: its characters, and its entry of the vocabulary.
struct UnitOfText {
  std::uint32_t begin, end, entry;
};

// Append the units of a word: itself, or the longest known pieces from the left, or single characters.
void add_units(const Text& text, Morpheme word, const Vocabulary& vocabulary, std::size_t most,
               std::vector<UnitOfText>& units) {
  constexpr std::uint32_t longest_piece = 64;
  const auto bytes = [&](std::uint32_t begin, std::uint32_t end) {
    return Bytes(text.bytes.data() + text.starts[begin], text.starts[end] - text.starts[begin]);
  };
  const std::uint32_t whole = vocabulary.find(bytes(word.begin, word.end));
  if (whole != Vocabulary::unknown || !vocabulary.cut_rare) return units.push_back({word.begin, word.end, whole});
  std::uint64_t hashes[longest_piece];  // of the pieces that begin at `begin`, by their length - 1
  for (std::uint32_t begin = word.begin; begin < word.end && units.size() < most; begin = units.back().end) {
    const std::uint32_t last = std::min(word.end, begin + longest_piece);
    std::uint64_t hash = Vocabulary::empty_hash();
    for (std::uint32_t end = begin; end < last; ++end)
      hashes[end - begin] = hash = Vocabulary::hash_of(bytes(end, end + 1), hash);
    UnitOfText unit{begin, begin + 1, Vocabulary::unknown};
    for (std::uint32_t end = last; end > begin && unit.entry == Vocabulary::unknown; --end) {
      unit.entry = vocabulary.find(bytes(begin, end), hashes[end - begin - 1]);
      if (unit.entry != Vocabulary::unknown) unit.end = end;
    }
    units.push_back(unit);
  }
}

// Append at most so many units of a path, symbols amid its words as `with_symbols` of text/symbols.py has them.
void add_path(const Text& text, const std::vector<Morpheme>& path, const std::vector<UnitOfText>& symbols,
              const Vocabulary& vocabulary, std::size_t most, std::vector<UnitOfText>& units) {
  const auto add = [&](std::uint32_t begin, std::uint32_t end) {
    if (begin < end && units.size() < most) add_units(text, {begin, end, nullptr}, vocabulary, most, units);
  };
  const UnitOfText* symbol = symbols.data();
  const UnitOfText* const last = symbol + symbols.size();
  for (const Morpheme& word : path) {
    std::uint32_t at = word.begin;
    while (symbol != last && symbol->end <= at) ++symbol;
    for (const UnitOfText* each = symbol; each != last && each->begin < word.end; ++each) {
      add(at, each->begin);
      // of several words in one symbol, the first brings it
      if (each->begin >= word.begin && units.size() < most)
        units.push_back({each->begin, std::min(each->end, path.back().end), each->entry});
      at = std::max(at, each->end);
    }
    add(at, word.end);
  }
}

// ------------------------------------------------------------------------------------------------------ junctions

// CRC-32 of each byte
struct Remainders {
  std::uint32_t of[256] = {};

  constexpr Remainders() {
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      of[byte] = byte;
      for (int bit = 0; bit < 8; ++bit) of[byte] = of[byte] >> 1 ^ (of[byte] & 1 ? 0xedb88320u : 0);
    }
  }
};
constexpr Remainders remainders{};

// The first bytes of a key, by the state of their CRC-32, which is zlib's.
class Key {
 public:
  std::uint32_t hash() const { return ~state; }

  Key operator+(std::string_view bytes) const {
    Key key = *this;
    for (char byte : bytes)
      key.state = remainders.of[(key.state ^ static_cast<unsigned char>(byte)) & 0xff] ^ key.state >> 8;
    return key;
  }

  Key operator+(std::size_t number) const {
    const Key most = number < 10 ? *this : *this + number / 10;
    return most + std::string_view("0123456789").substr(number % 10, 1);
  }

 private:
  std::uint32_t state = 0xffffffffu;
};

// The hashes of the keys of the place after a character; none after the last one.
struct Place {
  static constexpr std::uint32_t at_junction = 11;
  std::uint32_t number = 0, hashes[at_junction] = {};

  void add(Key key) { hashes[number++] = key.hash(); }
};

// A morpheme with its tag, the first of its features.
struct Tagged {
  std::string_view surface, tag;
  std::size_t length;  // in characters
};

// The morphemes of a text and the keys of its places: those of `keys_of` of restoration/junctions.py, in its order.
class Places {
 public:
  // Put the places of a text into `found`.
  const std::vector<Place>& find(const Text& text, const std::vector<Morpheme>& path, const Dictionary& dictionary) {
    read(text, path, dictionary);
    found.assign(letters.size() - 3, Place{});
    Place* place = found.data();
    const std::string_view* around = letters.data();
    for (const Tagged *word = morphemes.data() + 1, *last = &morphemes.back() - 1; word <= last; ++word) {
      const Key surface = Key() + word->surface + "@", tag = Key() + word->tag + "@",
                between = Key() + word[-1].tag + "<" + word->tag + ">" + word[1].tag;
      for (std::size_t before = 1; before < word->length; ++before, ++place, ++around) {
        place->add(surface + before);
        place->add(tag + before + "@" + (word->length - before));
        place->add(between);
        add_letters(*place, around, ".");
      }
      if (word < last) {
        add_words(*place, word);
        add_letters(*place, around, "");
      }
      ++place, ++around;
    }
    return found;
  }

 private:
  std::vector<Tagged> morphemes;          // between two without a tag
  std::vector<std::string_view> letters;  // after one blank, before two
  std::vector<Place> found;

  void read(const Text& text, const std::vector<Morpheme>& path, const Dictionary& dictionary) {
    const char* bytes = reinterpret_cast<const char*>(text.bytes.data());
    const auto part = [&](std::size_t begin, std::size_t end) {
      return std::string_view(bytes + text.starts[begin], text.starts[end] - text.starts[begin]);
    };
    morphemes.assign(1, Tagged{});
    letters.assign(1, " ");
    for (const Morpheme& each : path) {
      const Words& words = dictionary.words.owns(each.token) ? dictionary.words : dictionary.unknown;
      const char* features = words.feature(*each.token);
      const std::string_view tag(features, std::strcspn(features, ","));
      morphemes.push_back({part(each.begin, each.end), tag, each.end - each.begin});
      for (std::size_t place = each.begin; place < each.end; ++place) {
        const std::string_view letter = part(place, place + 1);
        letters.push_back(letter.size() == 1 && letter[0] >= '1' && letter[0] <= '9' ? "0" : letter);
      }
    }
    morphemes.push_back({});
    letters.insert(letters.end(), 2, " ");
  }

  static void add_words(Place& place, const Tagged* word) {
    const auto size = [](const Tagged& each) { return std::min<std::size_t>(each.length, 3); };
    const std::string_view left = word->surface, right = word[1].surface, before = word->tag, after = word[1].tag;
    const Key both = Key() + before + "|" + after;
    place.add(both);
    place.add(Key() + left + "/" + before + "|" + after);
    place.add(both + "/" + right);
    place.add(Key() + left + "+" + right);
    place.add(Key() + size(*word) + before + "|" + after + size(word[1]));
    place.add(Key() + word[-1].tag + " " + before + "|" + after);
    place.add(both + " " + word[2].tag);
  }

  static void add_letters(Place& place, const std::string_view* around, std::string_view end) {
    const Key two = Key() + around[1] + "_" + around[2], three = Key() + around[0] + around[1] + "_" + around[2];
    place.add(two + end);
    place.add(three + end);
    place.add(two + around[3] + end);
    place.add(three + around[3] + end);
  }
};

// The log-odds of a space at each place, as restoration/junctions.py defines them: a test holds both to the same.
// Weights are in a hash table with open addresses, multiplied with a number that each process draws: no weights can be
// made whose keys share few addresses.
class Junctions {
 public:
  Junctions(Bytes hashes, Bytes weights, double junction, double inside) : junction(junction), inside(inside) {
    if (hashes.size() != sizeof(std::uint32_t) * weights.size()) throw Error("expected a weight for each hash");
    while (std::size_t{1} << (64 - shift) < 2 * weights.size()) --shift;
    slots.resize(std::size_t{1} << (64 - shift));
    for (std::size_t each = 0; each < weights.size(); ++each) {
      const std::uint32_t hash = read<std::uint32_t>(hashes, sizeof(std::uint32_t) * each);
      slots[slot_of(hash)] = {hash, static_cast<signed char>(weights[each])};
    }
  }

  double log_odds(const Place& place) const {
    int sum = 0;
    for (std::uint32_t each = 0; each < place.number; ++each) sum += slots[slot_of(place.hashes[each])].weight;
    return (place.number == Place::at_junction ? junction : inside) + sum / 20.0;
  }

 private:
  // An empty one has no weight
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t weight = 0;
  };
  std::vector<Slot> slots;
  int shift = 62;
  const double junction, inside;
  const std::uint64_t drawn = Vocabulary::empty_hash() | 1;

  std::size_t slot_of(std::uint32_t hash) const {
    std::size_t slot = hash * drawn >> shift;
    while (slots[slot].weight && slots[slot].hash != hash) slot = (slot + 1) & (slots.size() - 1);
    return slot;
  }
};

// -------------------------------------------------------------------------------------------------------- n-grams

// The hashed n-grams of reviews, as text/ngrams.py defines them.
class NGrams {
 public:
  static constexpr std::size_t first = 4, sizes = 2, columns = first * sizes;  // FIRST, len(SIZES), NGRAMS

  explicit NGrams(std::uint32_t buckets) : range(std::max(buckets, 2u) - 1), inverse(~std::uint64_t{0} / range + 1) {}

  void add(std::uint32_t character) { characters.push_back(character); }
  void end_token() { ends.push_back(characters.size()); }

  // Write the ids of the review whose tokens were added, `columns` a token, each at most once; begin the next one.
  void write(std::int32_t* ids) {
    characters.insert(characters.end(), 2, 0);
    forget(2 * columns * ends.size());
    std::size_t begin = 0;
    for (std::size_t end : ends) {
      for (std::size_t step = 0; step < first && begin + step < end; ++step) hash(begin + step, ids + step);
      for (std::size_t column = 0; column < columns; ++column)
        if (ids[column] && !is_new(ids[column])) ids[column] = 0;
      ids += columns;
      begin = end;
    }
    characters.clear();
    ends.clear();
  }

 private:
  std::uint32_t range;
  std::uint64_t inverse;  // 2^64 divided by it
  std::vector<std::uint32_t> characters;
  std::vector<std::size_t> ends;
  std::vector<std::int32_t> seen;

  // The n-grams of 2 and 3 characters from a place; odd constants of xxHash
  void hash(std::size_t place, std::int32_t* ids) const {
    const std::uint32_t* next = characters.data() + place;
    std::uint64_t value = next[0] * 0x9E3779B97F4A7C15u;
    for (std::size_t size = 0; size < sizes; ++size) {
      value = (value + next[size + 1]) * 0xC2B2AE3D27D4EB4Fu;
      value ^= value >> 31;
      // the remainder of 32 bits by multiplications (Lemire, Kaser & Kurz 2019)
      const std::uint64_t part = inverse * (value * 0x165667B19E3779F9u >> 32), low = (part & 0xffffffff) * range >> 32;
      ids[size * first] = static_cast<std::int32_t>(((part >> 32) * range + low) >> 32) + 1;
    }
  }

  void forget(std::size_t room) {
    std::size_t size = 64;
    while (size < room) size *= 2;
    seen.assign(size, 0);
  }

  bool is_new(std::int32_t id) {
    std::size_t slot = static_cast<std::uint32_t>(id) * 0x9E3779B1u >> 7 & (seen.size() - 1);
    while (seen[slot]) {
      if (seen[slot] == id) return false;
      slot = (slot + 1) & (seen.size() - 1);
    }
    seen[slot] = id;
    return true;
  }
};

// --------------------------------------------------------------------------------------------------------- Python

// Characters of a text that is decoded at once: the sum of its costs fits an int
constexpr Py_ssize_t LONGEST = 20000;
// Texts, and characters of them, that are decoded while other threads may run; a shorter call is done before they could
constexpr std::size_t TEXTS = 256, CHARACTERS = 256;

template <class T>
struct Free {
  void operator()(T* object) const { Py_DECREF(object); }
};
using Object = std::unique_ptr<PyObject, Free<PyObject>>;

// Lets other threads run while it lives, if there is enough to do.
class Unlocked {
 public:
  explicit Unlocked(bool worth) : state(worth ? PyEval_SaveThread() : nullptr) {}
  ~Unlocked() {
    if (state) PyEval_RestoreThread(state);
  }

 private:
  PyThreadState* state;
};

struct Buffers {
  Py_buffer views[4] = {};
  ~Buffers() {
    for (Py_buffer& view : views)
      if (view.obj) PyBuffer_Release(&view);
  }
  Bytes operator[](int each) const {
    return {static_cast<const unsigned char*>(views[each].buf), static_cast<std::size_t>(views[each].len)};
  }
};

struct Work {
  std::vector<Text> texts;
  Lattice lattice;
  std::vector<UnitOfText> units;
  std::vector<std::size_t> ends;  // of the units of each text
  Places places;
  explicit Work(const Dictionary& dictionary) : texts(TEXTS), lattice(dictionary) {}
};

struct Decoder {
  Buffers buffers;
  std::unique_ptr<Dictionary> dictionary;
  std::vector<std::unique_ptr<Work>> idle;
};

struct Entries {
  std::unique_ptr<Vocabulary> vocabulary;
  std::vector<Object> units, ids;
  std::vector<std::int32_t> numbers;  // the same as the ids
  Object unknown;
  std::int32_t unknown_number;
};

// A Python object that holds one of these
template <class Held>
struct Holder {
  PyObject_HEAD Held* held;
};
template <class Held>
Held& held_by(PyObject* object) {
  return *reinterpret_cast<Holder<Held>*>(object)->held;
}

PyTypeObject *vocabulary_type, *junctions_type;

// A Work for one call, given back at its end; taken and given under the interpreter's lock.
class Borrowed {
 public:
  explicit Borrowed(Decoder& decoder) : decoder(decoder) {
    if (decoder.idle.empty()) {
      work = std::make_unique<Work>(*decoder.dictionary);
    } else {
      work = std::move(decoder.idle.back());
      decoder.idle.pop_back();
    }
  }
  ~Borrowed() {
    work->lattice.shrink();
    decoder.idle.push_back(std::move(work));
  }
  Work* operator->() const { return work.get(); }

 private:
  Decoder& decoder;
  std::unique_ptr<Work> work;
};

// A Python error was set.
struct Raised {};

// Call a function that makes an object; what it throws becomes a Python error.
template <class Make>
PyObject* guarded(Make make) {
  try {
    return make();
  } catch (const Raised&) {
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& problem) {
    PyErr_SetString(PyExc_ValueError, problem.what());
  }
  return nullptr;
}

Object checked(PyObject* object) {
  if (!object) throw Raised();
  return Object(object);
}

void check_str(PyObject* object) {
  if (PyUnicode_Check(object) && !PyUnicode_READY(object)) return;
  PyErr_Format(PyExc_TypeError, "expected str, found %R", object);
  throw Raised();
}

// Read a str into a Text, up to its first NUL, where MeCab ends. A lone surrogate is no UTF-8: UnicodeEncodeError.
void read_text(PyObject* string, const Dictionary& dictionary, Text& text) {
  check_str(string);
  text.clear();
  const int kind = PyUnicode_KIND(string);
  const void* data = PyUnicode_DATA(string);
  const Py_ssize_t length = PyUnicode_GET_LENGTH(string);
  if (length > LONGEST)
    throw Error("expected a text of at most " + std::to_string(LONGEST) + " characters, found more");
  for (Py_ssize_t place = 0; place < length; ++place) {
    const std::uint32_t character = PyUnicode_READ(kind, data, place);
    if (!character) break;
    if (character >= 0xd800 && character < 0xe000 && !PyUnicode_AsUTF8(string)) throw Raised();
    text.add(character, dictionary.kind(character));
  }
}

const std::vector<Morpheme>& decode_one(PyObject* string, const Dictionary& dictionary, Borrowed& work) {
  read_text(string, dictionary, work->texts[0]);
  Unlocked unlocked(work->texts[0].size() > CHARACTERS);
  return work->lattice.decode(work->texts[0]);
}

PyObject* decoder_tokens(PyObject* self, PyObject* string) {
  return guarded([=] {
    Decoder& decoder = held_by<Decoder>(self);
    Borrowed work(decoder);
    const std::vector<Morpheme>& path = decode_one(string, *decoder.dictionary, work);
    Object tokens = checked(PyList_New(static_cast<Py_ssize_t>(path.size())));
    for (std::size_t each = 0; each < path.size(); ++each) {
      Object token = checked(PyUnicode_Substring(string, path[each].begin, path[each].end));
      PyList_SET_ITEM(tokens.get(), static_cast<Py_ssize_t>(each), token.release());
    }
    return tokens.release();
  });
}

PyObject* decoder_morphemes(PyObject* self, PyObject* string) {
  return guarded([=] {
    Decoder& decoder = held_by<Decoder>(self);
    const Dictionary& dictionary = *decoder.dictionary;
    Borrowed work(decoder);
    Object morphemes = checked(PyList_New(0));
    for (const Morpheme& each : decode_one(string, dictionary, work)) {
      const Words& words = dictionary.words.owns(each.token) ? dictionary.words : dictionary.unknown;
      Object surface = checked(PyUnicode_Substring(string, each.begin, each.end));
      Object pair = checked(Py_BuildValue("(Os)", surface.get(), words.feature(*each.token)));
      if (PyList_Append(morphemes.get(), pair.get()) < 0) throw Raised();
    }
    return morphemes.release();
  });
}

PyObject* decoder_cost(PyObject* self, PyObject* string) {
  return guarded([=] {
    Decoder& decoder = held_by<Decoder>(self);
    Borrowed work(decoder);
    decode_one(string, *decoder.dictionary, work);
    return checked(PyLong_FromLong(work->lattice.cost())).release();
  });
}

// Read texts [first, last) of a list; return how many characters they have.
std::size_t read_some(PyObject* texts, Py_ssize_t first, Py_ssize_t last, const Dictionary& dictionary,
                      Borrowed& work) {
  std::size_t characters = 0;
  for (Py_ssize_t each = first; each < last; ++each) {
    Text& text = work->texts[static_cast<std::size_t>(each - first)];
    read_text(PyList_GET_ITEM(texts, each), dictionary, text);
    characters += text.size();
  }
  return characters;
}

// Decode texts [first, last) of a list into the units of each, and call `visit(text, number of its first unit)`.
template <class Visit>
void decode_some(PyObject* texts, Py_ssize_t first, Py_ssize_t last, const Dictionary& dictionary,
                 const Vocabulary& vocabulary, Borrowed& work, const std::vector<UnitOfText>* symbols, Visit visit) {
  const std::vector<UnitOfText> no_symbols;
  Unlocked unlocked(read_some(texts, first, last, dictionary, work) > CHARACTERS);
  work->units.clear();
  work->ends.clear();
  for (Py_ssize_t each = first; each < last; ++each) {
    const Text& text = work->texts[static_cast<std::size_t>(each - first)];
    const std::size_t begin = work->units.size(), most = begin + vocabulary.max_length;
    add_path(text, work->lattice.decode(text), symbols ? symbols[each] : no_symbols, vocabulary, most, work->units);
    work->ends.push_back(work->units.size());
    visit(text, begin);
  }
}

// Make (tokens, ids) of the units [first, last).
PyObject* pair_of(PyObject* string, const Work& work, std::size_t first, std::size_t last, const Entries& known) {
  Object tokens = checked(PyTuple_New(static_cast<Py_ssize_t>(last - first)));
  Object ids = checked(PyTuple_New(static_cast<Py_ssize_t>(last - first)));
  for (std::size_t each = first; each < last; ++each) {
    const UnitOfText& unit = work.units[each];
    PyObject *token, *id = known.unknown.get();
    if (unit.entry == Vocabulary::unknown) {
      token = checked(PyUnicode_Substring(string, unit.begin, unit.end)).release();
    } else {
      token = known.units[unit.entry].get();
      id = known.ids[unit.entry].get();
      Py_INCREF(token);
    }
    Py_INCREF(id);
    PyTuple_SET_ITEM(tokens.get(), static_cast<Py_ssize_t>(each - first), token);
    PyTuple_SET_ITEM(ids.get(), static_cast<Py_ssize_t>(each - first), id);
  }
  return PyTuple_Pack(2, tokens.get(), ids.get());
}

PyObject* decoder_encode(PyObject* self, PyObject* arguments) {
  return guarded([=]() -> PyObject* {
    PyObject *given, *vocabulary;
    if (!PyArg_ParseTuple(arguments, "O!O!:encode", &PyList_Type, &given, vocabulary_type, &vocabulary)) return nullptr;
    Decoder& decoder = held_by<Decoder>(self);
    const Entries& known = held_by<Entries>(vocabulary);
    // other threads may change the list
    Object texts = checked(PyList_GetSlice(given, 0, PyList_GET_SIZE(given)));
    const Py_ssize_t number = PyList_GET_SIZE(texts.get());
    Object pairs = checked(PyList_New(number));
    Borrowed work(decoder);
    for (Py_ssize_t first = 0; first < number; first += TEXTS) {
      const Py_ssize_t last = std::min(number, first + static_cast<Py_ssize_t>(TEXTS));
      decode_some(texts.get(), first, last, *decoder.dictionary, *known.vocabulary, work, nullptr,
                  [](const Text&, std::size_t) {});
      std::size_t begin = 0;
      for (Py_ssize_t each = first; each < last; ++each) {
        const std::size_t end = work->ends[static_cast<std::size_t>(each - first)];
        Object pair = checked(pair_of(PyList_GET_ITEM(texts.get(), each), *work.operator->(), begin, end, known));
        PyList_SET_ITEM(pairs.get(), each, pair.release());
        begin = end;
      }
    }
    return pairs.release();
  });
}

// The classes of a text's characters by a table, that of classifier/windows.py; `unclean` where spaces are to go.
constexpr unsigned unclean = 0x80, signs = 0x3f;

unsigned classes_of(PyObject* string, Bytes classes) {
  check_str(string);
  const int kind = PyUnicode_KIND(string);
  const void* data = PyUnicode_DATA(string);
  const Py_ssize_t length = PyUnicode_GET_LENGTH(string);
  unsigned found = 0;
  std::uint32_t before = ' ';
  for (Py_ssize_t place = 0; place < length; ++place) {
    const std::uint32_t letter = PyUnicode_READ(kind, data, place);
    found |=
        classes[std::min<std::size_t>(letter, classes.size() - 1)] | (letter == ' ' && before == ' ' ? unclean : 0);
    before = letter;
  }
  return found | (length && before == ' ' ? unclean : 0);
}

// The bytes of a str; none at all of one with a lone surrogate, which is never found: no text has one.
Bytes utf8(PyObject* string) {
  check_str(string);
  Py_ssize_t length = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(string, &length);
  if (!bytes) PyErr_Clear();
  return {reinterpret_cast<const unsigned char*>(bytes), static_cast<std::size_t>(length)};
}

// What a function of Python finds in a text: a list of (start, end, entry of the vocabulary).
std::vector<UnitOfText> symbols_in(PyObject* text, unsigned classes, PyObject* function, const Vocabulary& vocabulary) {
  std::vector<UnitOfText> symbols;
  Object found = checked(PyObject_CallFunction(function, "OI", text, classes));
  for (Py_ssize_t each = 0; PyList_Check(found.get()) && each < PyList_GET_SIZE(found.get()); ++each) {
    unsigned int begin, end;
    PyObject* entry;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(found.get(), each), "IIO", &begin, &end, &entry)) throw Raised();
    if (begin >= end || end > PyUnicode_GET_LENGTH(text)) throw Error("expected symbols within their text");
    symbols.push_back({begin, end, vocabulary.find(utf8(entry))});
  }
  return symbols;
}

Object array_of(const std::vector<std::int32_t>& numbers) {
  const char* bytes = reinterpret_cast<const char*>(numbers.data());
  return checked(PyByteArray_FromStringAndSize(bytes, static_cast<Py_ssize_t>(sizeof(std::int32_t) * numbers.size())));
}

PyObject* decoder_window(PyObject* self, PyObject* arguments) {
  return guarded([=]() -> PyObject* {
    PyObject *given, *vocabulary, *clean, *find_symbols;
    Py_ssize_t longest, longest_number;
    unsigned int buckets;
    Buffers buffers;
    if (!PyArg_ParseTuple(arguments, "O!O!OOy*nnI:window", &PyList_Type, &given, vocabulary_type, &vocabulary, &clean,
                          &find_symbols, &buffers.views[0], &longest, &longest_number, &buckets))
      return nullptr;
    if (!buffers[0].size()) throw Error("expected a class for each character");
    Decoder& decoder = held_by<Decoder>(self);
    const Entries& known = held_by<Entries>(vocabulary);
    const Py_ssize_t number = PyList_GET_SIZE(given);
    Object texts = checked(PyList_GetSlice(given, 0, number)), heads = checked(PyList_New(number));
    Object kinds = checked(PyByteArray_FromStringAndSize(nullptr, number));
    std::vector<std::vector<UnitOfText>> symbols(static_cast<std::size_t>(number));
    for (Py_ssize_t each = 0; each < number; ++each) {
      PyObject* text = PyList_GET_ITEM(texts.get(), each);
      unsigned classes = classes_of(text, buffers[0]);
      if (classes & unclean) {
        text = checked(PyObject_CallOneArg(clean, text)).release();
        PyList_SetItem(texts.get(), each, text);
        classes = classes_of(text, buffers[0]);
      }
      PyObject* head = checked(PyUnicode_Substring(text, 0, longest)).release();
      PyList_SET_ITEM(heads.get(), each, head);
      if (find_symbols != Py_None && (classes & signs || PyUnicode_GET_LENGTH(head) <= longest_number))
        symbols[static_cast<std::size_t>(each)] = symbols_in(head, classes, find_symbols, *known.vocabulary);
      PyByteArray_AS_STRING(kinds.get())[each] = static_cast<char>(classes);
    }
    // the first row is that of padding
    std::vector<std::int32_t> lengths, ids(1), ngram_ids(buckets ? NGrams::columns : 0);
    NGrams ngrams(buckets);
    Borrowed work(decoder);
    const auto add = [&](const Text& text, std::size_t begin) {
      lengths.push_back(static_cast<std::int32_t>(work->units.size() - begin));
      for (std::size_t each = begin; each < work->units.size(); ++each) {
        const UnitOfText& unit = work->units[each];
        ids.push_back(unit.entry == Vocabulary::unknown ? known.unknown_number : known.numbers[unit.entry]);
        if (!buckets) continue;
        for (std::uint32_t place = unit.begin; place < unit.end; ++place) ngrams.add(text.characters[place]);
        ngrams.end_token();
      }
      const std::size_t row = ngram_ids.size();
      ngram_ids.resize(buckets ? ids.size() * NGrams::columns : 0);
      if (buckets) ngrams.write(ngram_ids.data() + row);
    };
    for (Py_ssize_t first = 0; first < number; first += TEXTS) {
      const Py_ssize_t last = std::min(number, first + static_cast<Py_ssize_t>(TEXTS));
      decode_some(heads.get(), first, last, *decoder.dictionary, *known.vocabulary, work, symbols.data(), add);
    }
    return PyTuple_Pack(5, texts.get(), kinds.get(), array_of(lengths).get(), array_of(ids).get(),
                        array_of(ngram_ids).get());
  });
}

// Call `visit(places, number of the first one)` for each text of a list, whose characters are as many as fit `room`.
template <class Visit>
void visit_places(Decoder& decoder, PyObject* given, std::size_t room, Visit visit) {
  const Dictionary& dictionary = *decoder.dictionary;
  Object texts = checked(PyList_GetSlice(given, 0, PyList_GET_SIZE(given)));
  const Py_ssize_t number = PyList_GET_SIZE(texts.get());
  Borrowed work(decoder);
  std::size_t begin = 0;
  for (Py_ssize_t first = 0; first < number; first += TEXTS) {
    const Py_ssize_t last = std::min(number, first + static_cast<Py_ssize_t>(TEXTS));
    Unlocked unlocked(read_some(texts.get(), first, last, dictionary, work) > CHARACTERS);
    for (Py_ssize_t each = first; each < last; ++each) {
      const Text& text = work->texts[static_cast<std::size_t>(each - first)];
      const std::size_t length = static_cast<std::size_t>(PyUnicode_GET_LENGTH(PyList_GET_ITEM(texts.get(), each)));
      if (length > room - begin) throw Error("expected an array with a row for each character, found a smaller one");
      visit(work->places.find(text, work->lattice.decode(text), dictionary), begin);
      begin += length;
    }
  }
}

PyObject* decoder_keys(PyObject* self, PyObject* arguments) {
  return guarded([=]() -> PyObject* {
    PyObject* texts;
    Buffers buffers;
    Py_buffer& keys = buffers.views[0];
    if (!PyArg_ParseTuple(arguments, "O!w*:keys", &PyList_Type, &texts, &keys)) return nullptr;
    Place* found = static_cast<Place*>(keys.buf);
    const auto copy = [=](const std::vector<Place>& places, std::size_t begin) {
      std::copy(places.begin(), places.end(), found + begin);
    };
    visit_places(held_by<Decoder>(self), texts, static_cast<std::size_t>(keys.len) / sizeof(Place), copy);
    Py_RETURN_NONE;
  });
}

PyObject* decoder_log_odds(PyObject* self, PyObject* arguments) {
  return guarded([=]() -> PyObject* {
    PyObject *texts, *weights;
    Buffers buffers;
    Py_buffer& log_odds = buffers.views[0];
    if (!PyArg_ParseTuple(arguments, "O!O!w*:log_odds", &PyList_Type, &texts, junctions_type, &weights, &log_odds))
      return nullptr;
    const Junctions& junctions = held_by<Junctions>(weights);
    double* found = static_cast<double*>(log_odds.buf);
    const auto write = [&](const std::vector<Place>& places, std::size_t begin) {
      for (const Place& place : places) found[begin++] = junctions.log_odds(place);
    };
    visit_places(held_by<Decoder>(self), texts, static_cast<std::size_t>(log_odds.len) / sizeof(double), write);
    Py_RETURN_NONE;
  });
}

// Add the type of objects that hold a `Held`, made by a function of the arguments of Python's call, to the module.
template <class Held, std::unique_ptr<Held> (*make)(PyObject*)>
PyTypeObject* add_type(PyObject* module, const char* name, const char* doc, PyMethodDef* methods = nullptr) {
  const newfunc create = [](PyTypeObject* type, PyObject* arguments, PyObject*) {
    return guarded([=] {
      std::unique_ptr<Held> held = make(arguments);
      Object self = checked(type->tp_alloc(type, 0));
      reinterpret_cast<Holder<Held>*>(self.get())->held = held.release();
      return self.release();
    });
  };
  const destructor end = [](PyObject* self) {
    delete reinterpret_cast<Holder<Held>*>(self)->held;
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
  };
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>(doc)},
      {Py_tp_new, reinterpret_cast<void*>(create)},
      {Py_tp_dealloc, reinterpret_cast<void*>(end)},
      {methods ? Py_tp_methods : 0, methods},
      {0, nullptr},
  };
  PyType_Spec spec = {name, sizeof(Holder<Held>), 0, Py_TPFLAGS_DEFAULT, slots};
  // the module has one reference, another stays
  PyObject* type = checked(PyType_FromSpec(&spec)).release();
  Py_INCREF(type);
  if (PyModule_AddObject(module, std::strrchr(name, '.') + 1, type) < 0) throw Raised();
  return reinterpret_cast<PyTypeObject*>(type);
}

std::unique_ptr<Decoder> make_decoder(PyObject* arguments) {
  auto decoder = std::make_unique<Decoder>();
  PyObject* factors;
  Py_ssize_t longest_run;
  Buffers& buffers = decoder->buffers;
  Py_buffer* views = buffers.views;
  if (!PyArg_ParseTuple(arguments, "y*y*y*y*O!n:Decoder", &views[0], &views[1], &views[2], &views[3], &PyTuple_Type,
                        &factors, &longest_run))
    throw Raised();
  std::vector<int> penalties;
  for (Py_ssize_t each = 0; each < PyTuple_GET_SIZE(factors); ++each) {
    const long penalty = PyLong_AsLong(PyTuple_GET_ITEM(factors, each));
    if (PyErr_Occurred()) throw Raised();
    if (penalty < -0x8000 || penalty > 0x7fff) throw Error("a penalty that is no 16-bit number");
    penalties.push_back(static_cast<int>(penalty));
  }
  decoder->dictionary = std::make_unique<Dictionary>(buffers[0], buffers[1], buffers[2], buffers[3],
                                                     std::move(penalties), static_cast<std::size_t>(longest_run));
  return decoder;
}

Object shared(PyObject* object) {
  Py_INCREF(object);
  return Object(object);
}

std::unique_ptr<Entries> make_vocabulary(PyObject* arguments) {
  PyObject *numbers, *unit, *id, *unknown;
  Py_ssize_t max_length, place = 0;
  int cut_rare;
  if (!PyArg_ParseTuple(arguments, "O!O!np:Vocabulary", &PyDict_Type, &numbers, &PyLong_Type, &unknown, &max_length,
                        &cut_rare))
    throw Raised();
  auto known = std::make_unique<Entries>();
  known->vocabulary = std::make_unique<Vocabulary>(static_cast<std::size_t>(PyDict_GET_SIZE(numbers)),
                                                   static_cast<std::size_t>(max_length), cut_rare != 0);
  while (PyDict_Next(numbers, &place, &unit, &id)) {
    const Bytes bytes = utf8(unit);
    if (!bytes.data()) continue;
    known->vocabulary->add(bytes);
    known->units.push_back(shared(unit));
    known->ids.push_back(shared(id));
    known->numbers.push_back(static_cast<std::int32_t>(PyLong_AsLong(id)));
  }
  known->unknown = shared(unknown);
  known->unknown_number = static_cast<std::int32_t>(PyLong_AsLong(unknown));
  if (PyErr_Occurred()) throw Raised();
  return known;
}

std::unique_ptr<Junctions> make_junctions(PyObject* arguments) {
  Buffers buffers;
  double junction, inside;
  if (!PyArg_ParseTuple(arguments, "y*y*dd:Junctions", &buffers.views[0], &buffers.views[1], &junction, &inside))
    throw Raised();
  return std::make_unique<Junctions>(buffers[0], buffers[1], junction, inside);
}

// Read the first `width` tokens of a review.
void read_tokens(PyObject* tokens, Py_ssize_t width, NGrams& ngrams) {
  Object fast = checked(PySequence_Fast(tokens, "expected a sequence of str"));
  const Py_ssize_t number = std::min(width, PySequence_Fast_GET_SIZE(fast.get()));
  for (Py_ssize_t each = 0; each < number; ++each) {
    PyObject* token = PySequence_Fast_GET_ITEM(fast.get(), each);
    check_str(token);
    const int kind = PyUnicode_KIND(token);
    const void* data = PyUnicode_DATA(token);
    for (Py_ssize_t place = 0; place < PyUnicode_GET_LENGTH(token); ++place)
      ngrams.add(PyUnicode_READ(kind, data, place));
    ngrams.end_token();
  }
}

PyObject* write_ngrams(PyObject*, PyObject* arguments) {
  return guarded([=]() -> PyObject* {
    PyObject* token_lists;
    unsigned int buckets;
    Buffers buffers;
    Py_buffer& ids = buffers.views[0];
    if (!PyArg_ParseTuple(arguments, "O!Iw*:write_ngrams", &PyList_Type, &token_lists, &buckets, &ids)) return nullptr;
    const Py_ssize_t reviews = PyList_GET_SIZE(token_lists), row = reviews ? ids.len / 4 / reviews : 0;
    const Py_ssize_t width = row / static_cast<Py_ssize_t>(NGrams::columns);
    if (buckets < 2 || ids.len != 4 * reviews * width * static_cast<Py_ssize_t>(NGrams::columns))
      throw Error("expected at least 2 buckets and an int32 array (N, T, 8) of N reviews");
    NGrams ngrams(buckets);
    for (Py_ssize_t each = 0; each < reviews; ++each) {
      read_tokens(PyList_GET_ITEM(token_lists, each), width, ngrams);
      ngrams.write(static_cast<std::int32_t*>(ids.buf) + each * row);
    }
    Py_RETURN_NONE;
  });
}

PyMethodDef decoder_methods[] = {
    {"tokens", decoder_tokens, METH_O, "tokens(text) -> list of str"},
    {"morphemes", decoder_morphemes, METH_O, "morphemes(text) -> list of (surface, features)"},
    {"cost", decoder_cost, METH_O, "cost(text) -> int"},
    {"encode", decoder_encode, METH_VARARGS, "encode(texts, vocabulary) -> list of (tokens, ids), two tuples"},
    {"window", decoder_window, METH_VARARGS,
     "window(texts, vocabulary, clean, symbols, classes, longest, longest_number, buckets) -> clean texts, their "
     "classes (bytes), lengths, ids, n-grams (int32)"},
    {"keys", decoder_keys, METH_VARARGS, "keys(texts, zeros): fill uint32 (S, 12)"},
    {"log_odds", decoder_log_odds, METH_VARARGS, "log_odds(texts, junctions, numbers): fill float64 (S,)"},
    {nullptr, nullptr, 0, nullptr},
};
PyMethodDef functions[] = {
    {"write_ngrams", write_ngrams, METH_VARARGS, "write_ngrams(token_lists, buckets, zeros): fill int32 (N, T, 8)"},
    {nullptr, nullptr, 0, nullptr},
};
PyModuleDef module = {PyModuleDef_HEAD_INIT, "_text", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__text() {
  return guarded([] {
    Object self = checked(PyModule_Create(&module));
    vocabulary_type = add_type<Entries, make_vocabulary>(self.get(), "nsmc_attention.native._text.Vocabulary",
                                                         "Vocabulary(token_to_idx, unknown, max_length, cut_rare)");
    junctions_type = add_type<Junctions, make_junctions>(self.get(), "nsmc_attention.native._text.Junctions",
                                                         "Junctions(hashes, weights, junction, inside)");
    add_type<Decoder, make_decoder>(self.get(), "nsmc_attention.native._text.Decoder",
                                    "Decoder(sys_dic, unk_dic, char_bin, matrix_bin, penalties, longest_run)",
                                    decoder_methods);
    return self.release();
  });
}
