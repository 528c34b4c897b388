// A bidirectional GRU (Cho et al. 2014) and its gradients; included by mxnet_operators.cpp after mxnet_kernels.hpp.
//
//   r = sigmoid(Wr x + br + Ur h + cr),  z = sigmoid(Wz x + bz + Uz h + cz),  m = Un h + cn,  n = tanh(Wn x + bn + r m),
//   h' = n + z (h - n)
// Backward, with g the gradient with respect to h', and d. those with respect to the sums of the gates:
//   dn = g (1 - z) (1 - n^2),  dm = dn r,  dr = dn m r (1 - r),  dz = g (h - n) z (1 - z),
//   dx = Wn' dn + Wr' dr + Wz' dz,  dh = g z + Ur' dr + Uz' dz + Un' dm,
// and of each matrix the sum of dn, dr, dz or dm times x or h, of all reviews and steps.
//
// A step computes all reviews of a batch. No review reads padding before one of its tokens: the direction from the right
// begins each review with its last token (and reads the padding after them all).

#include "products.hpp"

// Reviews or gates whose sums the registers hold at once
constexpr int TILE = W == 16 ? 8 : 4;
constexpr int GATES = 3;
// Vectors in a panel of the backward products
constexpr int PANEL = 2;
// Where the derivatives of the gates are in a row: n, r, z read the input and r, z, m the state
constexpr int SIDES = 4;

NSMC_INLINE int up(int size, int multiple) { return (size + multiple - 1) / multiple * multiple; }

// Inputs of the operator: embedded (T, N, E), lengths (N), and of each direction the matrices (3 H, E) and (3 H, H) and the
// biases (3 H) twice, their rows in the order r, z, n. `first` is 0 in the forward call and 1 in the backward call.
struct Direction {
    int steps, reviews, inputs, hidden, blocks, padded, number;
    const float *embedded, *lengths, *input_matrix, *hidden_matrix, *input_bias, *hidden_bias;
    std::vector<float> zeros;

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
          zeros(padded) {}

    // The position that a step reads
    int place(int review, int step) const {
        const int length = static_cast<int>(lengths[review]);
        return number && step < length ? length - 1 - step : step;
    }
    const float* input(int review, int step) const { return embedded + (place(review, step) * reviews + review) * inputs; }
    // Where the state after a step is in (T, N, 2 H)
    int64_t state(int review, int step) const {
        return (int64_t(place(review, step)) * reviews + review) * 2 * hidden + number * hidden;
    }
    const float* before(const float* states, int review, int step) const {
        return step ? states + state(review, step - 1) : zeros.data();
    }
};

// ----------------------------------------------------------------------------------------------------------- forward

// For each block of W units and each column of the matrices the weights of the three gates; those of x, then those of h
NSMC_INLINE std::vector<float> gate_panels(const Direction& own) {
    const int depth = own.inputs + own.hidden;
    std::vector<float> panels(int64_t(own.blocks) * depth * GATES * W);
    for (int gate = 0; gate < GATES; ++gate)
        for (int unit = 0; unit < own.hidden; ++unit) {
            const int row = gate * own.hidden + unit;
            float* to = panels.data() + int64_t(unit / W) * depth * GATES * W + gate * W + unit % W;
            for (int k = 0; k < own.inputs; ++k, to += GATES * W) *to = own.input_matrix[row * own.inputs + k];
            for (int k = 0; k < own.hidden; ++k, to += GATES * W) *to = own.hidden_matrix[row * own.hidden + k];
        }
    return panels;
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

// The sums of x of up to TILE reviews, then those of h; of n the two are kept apart
NSMC_INLINE void gate_sums(int count, const float* const* inputs, const float* const* before, const float* panel, const float* bias,
                           const Direction& own, float* sums, float* candidates) {
    for (int l = 0; l < count; ++l)
        for (int gate = 0; gate < GATES; ++gate) store(sums + (l * GATES + gate) * W, load(bias + gate * own.padded));
    multiply_rows<TILE, GATES>(count, sums, inputs, panel, own.inputs);
    for (int l = 0; l < count; ++l) {
        store(candidates + l * W, load(sums + (l * GATES + 2) * W));
        store(sums + (l * GATES + 2) * W, load(bias + 3 * own.padded));
    }
    if (before[0] != own.zeros.data())
        multiply_rows<TILE, GATES>(count, sums, before, panel + own.inputs * GATES * W, own.hidden);
}

// r, z, n and m of each step, review and block are kept for the backward pass
NSMC_INLINE void gru_direction(const Direction& own, float* states, float* kept) {
    const std::vector<float> panels = gate_panels(own), biases = gate_biases(own);
    const int64_t panel = int64_t(own.inputs + own.hidden) * GATES * W;
    std::vector<const float*> inputs(own.reviews), before(own.reviews);
    alignas(64) float sums[TILE * GATES * W], candidates[TILE * W];
    for (int step = 0; step < own.steps; ++step) {
        for (int n = 0; n < own.reviews; ++n) {
            inputs[n] = own.input(n, step);
            before[n] = own.before(states, n, step);
        }
        for (int block = 0; block < own.blocks; ++block)
            for (int first = 0; first < own.reviews; first += TILE) {
                const int count = std::min(TILE, own.reviews - first), units = own.hidden - block * W;
                gate_sums(count, &inputs[first], &before[first], &panels[block * panel], &biases[block * W], own, sums, candidates);
                for (int l = 0; l < count; ++l) {
                    const float* sum = sums + l * GATES * W;
                    const Vector r = sigmoid(load(sum)), z = sigmoid(load(sum + W)), m = load(sum + 2 * W);
                    const Vector n = tangent(load(candidates + l * W) + r * m);
                    const Vector h = load_some(before[first + l] + block * W, units);
                    store_some(states + own.state(first + l, step) + block * W, n + z * (h - n), units);
                    float* to = kept + (int64_t(step * own.reviews + first + l) * own.blocks + block) * SIDES * W;
                    store(to, r);
                    store(to + W, z);
                    store(to + 2 * W, n);
                    store(to + 3 * W, m);
                }
            }
    }
}

NSMC_INLINE void gru(const Call& call, int number, std::vector<float>& kept) {
    const Direction own(call, 0, number);
    kept.resize(int64_t(own.steps) * own.reviews * own.blocks * SIDES * W);
    gru_direction(own, call.out(0), kept.data());
}

// ---------------------------------------------------------------------------------------------------------- backward

// The rows (3 * padded) of a matrix (3 H, columns), gates in the order of the derivatives, in panels of PANEL vectors
NSMC_INLINE std::vector<float> row_panels(const Direction& own, const float* matrix, int columns, const int* gates) {
    const int width = PANEL * W, panels = up(columns, width) / width, depth = GATES * own.padded;
    std::vector<float> found(int64_t(panels) * depth * width);
    for (int side = 0; side < GATES; ++side)
        for (int unit = 0; unit < own.hidden; ++unit)
            for (int column = 0; column < columns; column += width)
                std::copy_n(matrix + int64_t(gates[side] * own.hidden + unit) * columns + column, std::min(width, columns - column),
                            &found[(int64_t(column / width) * depth + side * own.padded + unit) * width]);
    return found;
}

// The places in r, z, n of the gates whose derivatives are products with the input's matrix, and with the state's
constexpr int OF_INPUT[GATES] = {2, 0, 1}, OF_STATE[GATES] = {0, 1, 2};

// The sums (TILE, PANEL, W) += derivatives (count, TILE) times rows (count, PANEL, W), both with strides
__attribute__((noinline)) void add_products(const float* derivatives, int stride, const float* rows, int width, int count, float* sums,
                                            int sum_stride) {
    Vector sum[TILE][PANEL];
    for (int g = 0; g < TILE; ++g)
        for (int c = 0; c < PANEL; ++c) sum[g][c] = load(sums + g * sum_stride + c * W);
    for (int n = 0; n < count; ++n, derivatives += stride, rows += width) {
        Vector row[PANEL];
        for (int c = 0; c < PANEL; ++c) row[c] = load(rows + c * W);
        for (int g = 0; g < TILE; ++g)
            for (int c = 0; c < PANEL; ++c) sum[g][c] += row[c] * derivatives[g];
    }
    for (int g = 0; g < TILE; ++g)
        for (int c = 0; c < PANEL; ++c) store(sums + g * sum_stride + c * W, sum[g][c]);
}

// The gradient of one side's matrix and bias, of all steps so far
struct Side {
    int columns, width, offset;
    const int* gates;
    std::vector<float> panels, rows, sums;

    Side(const Direction& own, const float* matrix, int columns, int offset, const int* gates)
        : columns(columns),
          width(up(columns, PANEL * W)),
          offset(offset * own.padded),
          gates(gates),
          panels(row_panels(own, matrix, columns, gates)),
          rows(int64_t(own.reviews) * width),
          sums(int64_t(GATES) * own.padded * width) {}

    NSMC_INLINE void add(const Direction& own, const float* derivatives, int stride) {
        for (int column = 0; column < width; column += PANEL * W)
            for (int gate = 0; gate < GATES * own.padded; gate += TILE)
                add_products(derivatives + offset + gate, stride, rows.data() + column, width, own.reviews,
                             sums.data() + int64_t(gate) * width + column, width);
    }

    // sums (N, width) += derivatives times the matrix
    NSMC_INLINE void multiply_derivatives(const Direction& own, const float* derivatives, int stride, float* to) const {
        constexpr int panel = PANEL * W;
        alignas(64) float found[TILE * panel];
        const float* of_reviews[TILE];
        for (int column = 0; column < width; column += panel)
            for (int first = 0; first < own.reviews; first += TILE) {
                const int count = std::min(TILE, own.reviews - first);
                float* corner = to + int64_t(first) * width + column;
                for (int l = 0; l < count; ++l) {
                    of_reviews[l] = derivatives + int64_t(first + l) * stride + offset;
                    std::copy_n(corner + l * width, panel, found + l * panel);
                }
                multiply_rows<TILE, PANEL>(count, found, of_reviews, &panels[int64_t(column) * GATES * own.padded], GATES * own.padded);
                for (int l = 0; l < count; ++l) std::copy_n(found + l * panel, panel, corner + l * width);
            }
    }

    void write(const Direction& own, const std::vector<float>& bias, float* d_matrix, float* d_bias) const {
        for (int side = 0; side < GATES; ++side) {
            std::copy_n(&bias[offset + side * own.padded], own.hidden, d_bias + gates[side] * own.hidden);
            for (int unit = 0; unit < own.hidden; ++unit)
                std::copy_n(&sums[int64_t(side * own.padded + unit) * width], columns,
                            d_matrix + int64_t(gates[side] * own.hidden + unit) * columns);
        }
    }
};

// The derivatives of one review's gates, added to those of the biases, and the part of dh that is g z, in place of g
NSMC_INLINE void differentiate(const Direction& own, const float* kept, const float* before, float* carry, float* derivatives,
                               float* bias) {
    for (int at = 0; at < own.padded; at += W, kept += SIDES * W) {
        const Vector r = load(kept), z = load(kept + W), n = load(kept + 2 * W), m = load(kept + 3 * W), g = load(carry + at);
        const Vector h = own.hidden > at ? load_some(before + at, own.hidden - at) : Vector{};
        const Vector dn = g * (1.0f - z) * (1.0f - n * n);
        const Vector found[SIDES] = {dn, dn * m * r * (1.0f - r), g * (h - n) * z * (1.0f - z), dn * r};
        for (int side = 0; side < SIDES; ++side) {
            store(derivatives + side * own.padded + at, found[side]);
            store(bias + side * own.padded + at, load(bias + side * own.padded + at) + found[side]);
        }
        store(carry + at, g * z);
    }
}

// `gradient` is that of the states, both (T, N, 2 H), d_embedded (T, N, E).
NSMC_INLINE void gru_direction_backward(const Direction& own, const float* gradient, const float* states, const float* kept,
                                        float* d_embedded, float* const* d_parameters) {
    Side input(own, own.input_matrix, own.inputs, 0, OF_INPUT), state(own, own.hidden_matrix, own.hidden, 1, OF_STATE);
    // rows of one cache line more than a power of two do not fall on the same lines of the first cache
    const int stride = SIDES * own.padded + 16;
    std::vector<float> derivatives(int64_t(own.reviews) * stride), carry(int64_t(own.reviews) * state.width), bias(SIDES * own.padded);
    for (int step = own.steps - 1; step >= 0; --step) {
        for (int n = 0; n < own.reviews; ++n) {
            float* own_carry = &carry[int64_t(n) * state.width];
            const float *more = gradient + own.state(n, step), *before = own.before(states, n, step);
            for (int unit = 0; unit < own.hidden; ++unit) own_carry[unit] += more[unit];
            differentiate(own, kept + int64_t(step * own.reviews + n) * own.blocks * SIDES * W, before, own_carry,
                          &derivatives[int64_t(n) * stride], bias.data());
            std::copy_n(own.input(n, step), own.inputs, &input.rows[int64_t(n) * input.width]);
            std::copy_n(before, own.hidden, &state.rows[int64_t(n) * state.width]);
        }
        input.add(own, derivatives.data(), stride);
        std::fill(input.rows.begin(), input.rows.end(), 0.0f);
        input.multiply_derivatives(own, derivatives.data(), stride, input.rows.data());
        for (int n = 0; n < own.reviews; ++n)
            std::copy_n(&input.rows[int64_t(n) * input.width], own.inputs, d_embedded + (own.input(n, step) - own.embedded));
        if (!step) break;
        state.add(own, derivatives.data(), stride);
        state.multiply_derivatives(own, derivatives.data(), stride, carry.data());
    }
    input.write(own, bias, d_parameters[0], d_parameters[2]);
    state.write(own, bias, d_parameters[1], d_parameters[3]);
}

// The gradient of the direction from the right with respect to the input is added by `gru_join`.
NSMC_INLINE void gru_backward(const Call& call, int number, const std::vector<float>& kept, float* d_embedded) {
    const Direction own(call, 1, number);
    float* d_parameters[4];
    for (int each = 0; each < 4; ++each) d_parameters[each] = call.out(2 + 4 * number + each);
    gru_direction_backward(own, call.in(0), call.in(11), kept.data(), d_embedded, d_parameters);
}
