// A bidirectional GRU (Cho et al. 2014) and its gradients; included by mxnet_operators.cpp after mxnet_kernels.hpp.
//
//   r = sigmoid(Wr x + br + Ur h + cr),  z = sigmoid(Wz x + bz + Uz h + cz),  m = Un h + cn,  n = tanh(Wn x + bn + r
//   m), h' = n + z (h - n)
// Backward, with g the gradient with respect to h', and d. those with respect to the sums of the gates:
//   dn = g (1 - z) (1 - n^2),  dm = dn r,  dr = dn m r (1 - r),  dz = g (h - n) z (1 - z),
//   dx = Wn' dn + Wr' dr + Wz' dz,  dh = g z + Ur' dr + Uz' dz + Un' dm,
// and of each matrix the sum of dn, dr, dz or dm times x or h, of all reviews and steps.
//
// A step computes all reviews of a batch, first those whose input is not 0 throughout: the others, whose token was
// dropped, have no products with the input. No review reads padding before one of its tokens: the direction from the
// right begins each review with its last token (and reads the padding after them all).

constexpr int GATES = 3;
// Where the derivatives of the gates are in a row: n, r, z are multiplied with the input's matrix and r, z, m with the
// state's
constexpr int SIDES = 4;

NSMC_INLINE bool all_zero(const float* numbers, int count) {
  Bits found = {};
  for (int i = 0; i < count; i += W) found |= (Bits)load_some(numbers + i, count - i);
  std::uint32_t bits = 0;
  for (int w = 0; w < W; ++w) bits |= found[w];
  return !bits;
}

// Inputs of the operator: embedded (T, N, E), lengths (N), and of each direction the matrices (3 H, E) and (3 H, H) and
// the biases (3 H) twice, their rows in the order r, z, n. `first` is 0 in the forward call and 1 in the backward call.
struct Direction {
  int steps, reviews, inputs, hidden, blocks, padded, number;
  const float *embedded, *lengths, *input_matrix, *hidden_matrix, *input_bias, *hidden_bias;
  std::vector<float> zeros;
  std::vector<int> order;

  Direction(const Call& call, int first, int number)
      : steps(call.size(first, 0)),
        reviews(call.size(first, 1)),
        inputs(call.size(first, 2)),
        hidden(call.size(first + 3, 1)),
        blocks(up(hidden, W) / W),
        padded(blocks * W),
        number(number),
        embedded(call.in(first)),
        lengths(call.in(first + 1)),
        input_matrix(call.in(first + 2 + 4 * number)),
        hidden_matrix(call.in(first + 3 + 4 * number)),
        input_bias(call.in(first + 4 + 4 * number)),
        hidden_bias(call.in(first + 5 + 4 * number)),
        zeros(padded),
        order(reviews) {}

  // The position that a step reads
  int place(int review, int step) const {
    const int length = std::min(steps, static_cast<int>(lengths[review]));
    return number && step < length ? length - 1 - step : step;
  }
  int64_t row(int review, int step) const { return int64_t(place(review, step)) * reviews + review; }
  const float* input(int review, int step) const { return embedded + row(review, step) * inputs; }
  // Where the state after a step is in (T, N, 2 H)
  int64_t state(int review, int step) const { return row(review, step) * 2 * hidden + number * hidden; }
  const float* before(const float* states, int review, int step) const {
    return step ? states + state(review, step - 1) : zeros.data();
  }
  // Brings the reviews into the order of a step; returns the number of those that read something
  NSMC_INLINE int put_in_order(int step) {
    int reading = 0, dropped = reviews;
    for (int n = 0; n < reviews; ++n) order[all_zero(input(n, step), inputs) ? --dropped : reading++] = n;
    return reading;
  }
};

// ----------------------------------------------------------------------------------------------------------- forward

// Of a matrix (3 H, columns) the weights (columns, 3, W) of a block's units
NSMC_INLINE void fill_gate_panel(const Direction& own, const float* matrix, int columns, int block, float* panel) {
  const int units = std::min(W, own.hidden - block * W);
  for (int gate = 0; gate < GATES; ++gate) {
    const float* rows = matrix + int64_t(gate * own.hidden + block * W) * columns;
    for (int k = 0; k < columns; ++k)
      for (int unit = 0; unit < units; ++unit) panel[(k * GATES + gate) * W + unit] = rows[unit * columns + k];
  }
}

// The biases (SIDES, padded) of r, z and n, each the sum of both where it adds both, and of m
NSMC_INLINE std::vector<float> gate_biases(const Direction& own) {
  const int hidden = own.hidden;
  std::vector<float> biases(SIDES * own.padded);
  for (int unit = 0; unit < hidden; ++unit) {
    for (int gate = 0; gate < 2; ++gate)
      biases[gate * own.padded + unit] = own.input_bias[gate * hidden + unit] + own.hidden_bias[gate * hidden + unit];
    biases[2 * own.padded + unit] = own.input_bias[2 * hidden + unit];
    biases[3 * own.padded + unit] = own.hidden_bias[2 * hidden + unit];
  }
  return biases;
}

// The reviews of one tile, in the order of a step: where their inputs are, their states before and after, and their
// gates
struct Tile {
  const float *const *inputs, *const *before;
  float *const *after, *const *gates;
  int count, reading;
};

// The sums of h of a tile's reviews and of x of those that read; of n the two are kept apart. At step 0 h is 0.
NSMC_INLINE void gate_sums(const Direction& own, const Tile& tile, int step, const float* panel, const float* bias,
                           float* sums, float* candidates) {
  for (int l = 0; l < tile.count; ++l)
    for (int gate = 0; gate < GATES; ++gate) store(sums + (l * GATES + gate) * W, load(bias + gate * own.padded));
  if (tile.reading > 0) multiply_rows<TILE, GATES>(tile.reading, sums, tile.inputs, panel, own.inputs);
  for (int l = 0; l < tile.count; ++l) {
    store(candidates + l * W, load(sums + (l * GATES + 2) * W));
    store(sums + (l * GATES + 2) * W, load(bias + 3 * own.padded));
  }
  if (step) multiply_rows<TILE, GATES>(tile.count, sums, tile.before, panel + own.inputs * GATES * W, own.hidden);
}

// The states of W units, from unit `at` on, from the sums of their gates; r, z, n and m are kept. Of all reviews one
// part after the other: the processor looks only so far ahead for what does not wait for an exponential.
NSMC_INLINE void finish(const Direction& own, const Tile& tile, int at, const float* sums, const float* candidates) {
  for (int l = 0; l < tile.count; ++l, sums += GATES * W) {
    float* to = tile.gates[l] + at * SIDES;
    store(to, sigmoid(load(sums)));
    store(to + W, sigmoid(load(sums + W)));
    store(to + 3 * W, load(sums + 2 * W));
  }
  for (int l = 0; l < tile.count; ++l, candidates += W) {
    float* to = tile.gates[l] + at * SIDES;
    const Vector n = tangent(load(candidates) + load(to) * load(to + 3 * W));
    const Vector h = load_some(tile.before[l] + at, own.hidden - at);
    store_some(tile.after[l] + at, n + load(to + W) * (h - n), own.hidden - at);
    store(to + 2 * W, n);
  }
}

NSMC_INLINE void gru(const Call& call, int number, Memory& memory) {
  Direction own(call, 0, number);
  float* states = call.out(0);
  memory.gates.resize(int64_t(own.steps) * own.reviews * own.blocks * SIDES * W);
  const int64_t panel = int64_t(own.inputs + own.hidden) * GATES * W;
  memory.gate_panels.resize(own.blocks * panel);
  for (int block = 0; block < own.blocks; ++block) {
    float* to = &memory.gate_panels[block * panel];
    fill_gate_panel(own, own.input_matrix, own.inputs, block, to);
    fill_gate_panel(own, own.hidden_matrix, own.hidden, block, to + own.inputs * GATES * W);
  }
  const std::vector<float> biases = gate_biases(own);
  std::vector<const float*> inputs(own.reviews), before(own.reviews);
  std::vector<float*> after(own.reviews), gates(own.reviews);
  alignas(64) float sums[TILE * GATES * W], candidates[TILE * W];
  for (int step = 0; step < own.steps; ++step) {
    const int reading = own.put_in_order(step);
    for (int i = 0; i < own.reviews; ++i) {
      const int n = own.order[i];
      inputs[i] = own.input(n, step);
      before[i] = own.before(states, n, step);
      after[i] = states + own.state(n, step);
      gates[i] = &memory.gates[(int64_t(step) * own.reviews + n) * own.padded * SIDES];
    }
    for (int block = 0; block < own.blocks; ++block)
      for (int first = 0; first < own.reviews; first += TILE) {
        const int count = std::min(TILE, own.reviews - first);
        const Tile tile = {&inputs[first], &before[first], &after[first],
                           &gates[first],  count,          std::min(count, reading - first)};
        gate_sums(own, tile, step, &memory.gate_panels[block * panel], &biases[block * W], sums, candidates);
        finish(own, tile, block * W, sums, candidates);
      }
  }
}

// ---------------------------------------------------------------------------------------------------------- backward

// The places in r, z, n of the gates whose derivatives are products with the input's matrix, and with the state's
constexpr int OF_INPUT[GATES] = {2, 0, 1}, OF_STATE[GATES] = {0, 1, 2};

// The backward pass of the products with one of the matrices (3 H, columns)
struct Side {
  int offset;
  const int* gates;
  Backward product;
  std::vector<float> rows;

  Side(const Direction& own, const float* matrix, int columns, int offset, const int* gates, std::vector<float>& panels)
      : offset(offset * own.padded),
        gates(gates),
        product(GATES * own.padded, columns, panels),
        rows(int64_t(own.reviews) * product.width) {
    for (int side = 0; side < GATES; ++side)
      for (int unit = 0; unit < own.hidden; ++unit)
        product.set_row(side * own.padded + unit, matrix + int64_t(gates[side] * own.hidden + unit) * columns);
  }

  void write(const Direction& own, const std::vector<float>& bias, float* d_matrix, float* d_bias) const {
    for (int side = 0; side < GATES; ++side) {
      std::copy_n(&bias[offset + side * own.padded], own.hidden, d_bias + gates[side] * own.hidden);
      for (int unit = 0; unit < own.hidden; ++unit)
        product.get_row(side * own.padded + unit,
                        d_matrix + int64_t(gates[side] * own.hidden + unit) * product.columns);
    }
  }
};

// The derivatives of one review's gates, added to those of the biases, and the part of dh that is g z, in place of g
NSMC_INLINE void differentiate(const Direction& own, const float* kept, const float* before, float* carry,
                               float* derivatives, float* bias) {
  for (int at = 0; at < own.padded; at += W, kept += SIDES * W) {
    const Vector r = load(kept), z = load(kept + W), n = load(kept + 2 * W), m = load(kept + 3 * W),
                 g = load(carry + at);
    const Vector h = load_some(before + at, own.hidden - at);
    const Vector dn = g * (1.0f - z) * (1.0f - n * n);
    const Vector found[SIDES] = {dn, dn * m * r * (1.0f - r), g * (h - n) * z * (1.0f - z), dn * r};
    for (int side = 0; side < SIDES; ++side) {
      store(derivatives + side * own.padded + at, found[side]);
      store(bias + side * own.padded + at, load(bias + side * own.padded + at) + found[side]);
    }
    store(carry + at, g * z);
  }
}

// The gradient of one direction with respect to the input is written to d_embedded (T, N, E).
NSMC_INLINE void gru_backward(const Call& call, int number, Memory& memory, float* d_embedded) {
  Direction own(call, 1, number);
  const float *gradient = call.in(0), *states = call.in(11);
  Side input(own, own.input_matrix, own.inputs, 0, OF_INPUT, memory.input_panels);
  Side state(own, own.hidden_matrix, own.hidden, 1, OF_STATE, memory.state_panels);
  const int input_width = input.product.width, state_width = state.product.width;
  // rows of one cache line more than a power of two do not fall on the same lines of the first cache
  const int stride = SIDES * own.padded + 16;
  std::vector<float> derivatives(int64_t(own.reviews) * stride), carry(int64_t(own.reviews) * state_width),
      bias(SIDES * own.padded);
  const float *of_input = &derivatives[input.offset], *of_state = &derivatives[state.offset];
  std::vector<float*> input_rows(own.reviews), carries(own.reviews);
  for (int i = 0; i < own.reviews; ++i) input_rows[i] = &input.rows[int64_t(i) * input_width];
  for (int step = own.steps - 1; step >= 0; --step) {
    const int reading = own.put_in_order(step);
    for (int i = 0; i < own.reviews; ++i) {
      const int n = own.order[i];
      const float *more = gradient + own.state(n, step), *before = own.before(states, n, step);
      carries[i] = &carry[int64_t(n) * state_width];
      for (int unit = 0; unit < own.hidden; ++unit) carries[i][unit] += more[unit];
      differentiate(own, &memory.gates[(int64_t(step) * own.reviews + n) * own.padded * SIDES], before, carries[i],
                    &derivatives[int64_t(i) * stride], bias.data());
      std::copy_n(own.input(n, step), own.inputs, input_rows[i]);
      std::copy_n(before, own.hidden, &state.rows[int64_t(i) * state_width]);
    }
    input.product.add(of_input, stride, input.rows.data(), reading);
    std::fill(input.rows.begin(), input.rows.end(), 0.0f);
    input.product.multiply(of_input, stride, input_rows.data(), own.reviews);
    for (int i = 0; i < own.reviews; ++i)
      std::copy_n(input_rows[i], own.inputs, d_embedded + (own.input(own.order[i], step) - own.embedded));
    if (!step) break;
    state.product.add(of_state, stride, state.rows.data(), own.reviews);
    state.product.multiply(of_state, stride, carries.data(), own.reviews);
  }
  float* d_parameters[4];
  for (int each = 0; each < 4; ++each) d_parameters[each] = call.out(2 + 4 * number + each);
  input.write(own, bias, d_parameters[0], d_parameters[2]);
  state.write(own, bias, d_parameters[1], d_parameters[3]);
}
