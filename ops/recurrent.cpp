// Recurrences: the formulas of the cells, each written once for numbers and tensors; a kernel that goes through all
// steps and back; and the composed form that it is held against.
#include "recurrent.h"

#include <algorithm>
#include <array>
#include <vector>

#include "../core/grad.h"
#include "../core/parallel.h"
#include "../core/record.h"
#include "arithmetic.h"
#include "blas.h"
#include "create.h"
#include "elementwise.h"
#include "index.h"
#include "matmul.h"
#include "reduce.h"
#include "kernels/rows.h"
#include "shape.h"

namespace xgrad {
namespace {

// ---- The cells ------------------------------------------------------------------------------------------------------

// One step. V is a Pack or a Tensor: x the input's part of each gate, u the state's part, `carried` what the cell takes
// over from the step before without a product (an lstm's c, a gru's h).
template <class V, std::size_t kept_count>
struct Stepped {
  V h, c;                          // the new state, and an lstm's new memory
  std::array<V, kept_count> kept;  // what the way back needs
};

// One step back: the gradients of x, of u where it is another, and of what was carried.
template <std::size_t gates>
struct SteppedBack {
  std::array<Pack, gates> x, u;
  Pack carried;
};

Pack relu(const Pack& v) { return maximum(v, 0); }

template <Squash squash>
struct Rnn {
  static constexpr const char* name = "rnn";
  static constexpr std::size_t gates = 1, kept = 1;
  static constexpr bool memory = false;    // carries a c besides h
  static constexpr bool separate = false;  // the gradients of x and u differ
  static constexpr bool has_bias = false;  // u has a bias of its own

  template <class V>
  static Stepped<V, kept> step(const std::array<V, 1>& x, const std::array<V, 1>& u, const V&) {
    V h;
    if constexpr (squash == Squash::tanh) {
      h = tanh(x[0] + u[0]);
    } else {
      h = relu(x[0] + u[0]);
    }
    return {.h = h, .c = {}, .kept = {h}};
  }
  static SteppedBack<1> back(const Pack& gh, const Pack&, const std::array<Pack, kept>& y, const Pack&) {
    if constexpr (squash == Squash::tanh) {
      return {.x = {gh * (1 - y[0] * y[0])}, .u = {}, .carried = 0};
    } else {
      return {.x = {where(y[0] > 0, gh, Pack(0))}, .u = {}, .carried = 0};
    }
  }
};

struct Lstm {
  static constexpr const char* name = "lstm";
  static constexpr std::size_t gates = 4, kept = 5;
  static constexpr bool memory = true, separate = false, has_bias = false;

  template <class V>
  static Stepped<V, kept> step(const std::array<V, 4>& x, const std::array<V, 4>& u, const V& c) {
    const V i = sigmoid(x[0] + u[0]), f = sigmoid(x[1] + u[1]), g = tanh(x[2] + u[2]), o = sigmoid(x[3] + u[3]);
    const V next = f * c + i * g, squashed = tanh(next);
    return {.h = o * squashed, .c = next, .kept = {i, f, g, o, squashed}};
  }
  static SteppedBack<4> back(const Pack& gh, const Pack& gc_later, const std::array<Pack, kept>& values,
                             const Pack& c) {
    const auto& [i, f, g, o, squashed] = values;
    const Pack gc = gc_later + gh * o * (1 - squashed * squashed);
    return {.x = {gc * g * i * (1 - i), gc * c * f * (1 - f), gc * i * (1 - g * g), gh * squashed * o * (1 - o)},
            .u = {},
            .carried = gc * f};
  }
};

struct Gru {
  static constexpr const char* name = "gru";
  static constexpr std::size_t gates = 3, kept = 4;
  static constexpr bool memory = false, separate = true, has_bias = true;

  template <class V>
  static Stepped<V, kept> step(const std::array<V, 3>& x, const std::array<V, 3>& u, const V& h) {
    const V r = sigmoid(x[0] + u[0]), z = sigmoid(x[1] + u[1]), n = tanh(x[2] + r * u[2]);
    return {.h = n + z * (h - n), .c = {}, .kept = {r, z, n, u[2]}};
  }
  static SteppedBack<3> back(const Pack& gh, const Pack&, const std::array<Pack, kept>& values, const Pack& h) {
    const auto& [r, z, n, u] = values;
    const Pack gn = gh * (1 - z) * (1 - n * n), gr = gn * u * r * (1 - r), gz = gh * (h - n) * z * (1 - z);
    return {.x = {gr, gz, gn}, .u = {gr, gz, gn * r}, .carried = gh * z};
  }
};

// ---- The way through the steps --------------------------------------------------------------------------------------

// The checked sizes and options of a recurrence.
class Course {
 public:
  Course(const char* op, const Tensor& x, std::int64_t gates, std::int64_t width, const RecurrenceOptions& options)
      : B(x.rank() == 3 ? x.dim(0) : 0), T(x.rank() == 3 ? x.dim(1) : 0), h(width), options_(options) {
    if (x.rank() != 3 || x.dim(2) != gates * h || T == 0) {
      fail<ShapeError>(op, "projected inputs must be (B, T, ", gates * h, ") with T >= 1, got ", x.shape());
    }
    if (!options.lengths) return;
    if (options.lengths->shape() != Shape{B}) {
      fail<ShapeError>(op, "lengths of shape ", options.lengths->shape(), " for ", B, " sequences");
    }
    for (std::int64_t b = 0; b < B; ++b) {
      const std::int64_t length = options.lengths->data()[b];
      if (length < 1 || length > T) fail<ValueError>(op, "length ", length, " of sequence ", b, " not in [1, ", T, "]");
    }
  }

  // Where step number `step` takes place, and whether it counts for sequence b. Sequences that have not begun, or have
  // ended, keep their state. So all of them are at the same place at the same time, in both directions.
  std::int64_t place(std::int64_t step) const { return options_.reverse ? T - 1 - step : step; }
  bool counts(std::int64_t b, std::int64_t t) const { return !options_.lengths || t < options_.lengths->data()[b]; }
  bool all_count() const { return !options_.lengths; }

  // The state after all steps that count.
  Tensor last(const Tensor& output) const {
    if (options_.reverse) return output[{_, 0}];
    if (all_count()) return output[{_, -1}];
    Index index(Shape{B, 1, output.dim(2)});
    for (std::int64_t b = 0; b < B; ++b) {
      std::fill_n(index.mutable_data() + b * output.dim(2), output.dim(2), options_.lengths->data()[b] - 1);
    }
    return squeeze(gather(output, 1, index), {1});
  }

  const std::int64_t B, T, h;

 private:
  RecurrenceOptions options_;
};

void check_shape(const char* op, const char* what, const Tensor& x, const Shape& expected) {
  if (x.shape() != expected) fail<ShapeError>(op, what, " of shape ", x.shape(), ", expected ", expected);
}

// ---- Step by step, in operations ------------------------------------------------------------------------------------

// The inputs of the operation in their order: x, weight, h and, where the cell has it, c or the bias.
template <class Cell>
inline constexpr std::size_t input_count = Cell::memory || Cell::has_bias ? 4 : 3;
template <class Cell>
using Inputs = std::array<Tensor, input_count<Cell>>;

struct Unrolled {
  Tensor output, c;
};

template <class Cell>
Unrolled unrolled(const Course& course, const Inputs<Cell>& inputs, const Tensor& projection = {}) {
  const auto parts = [](const Tensor& x) {
    const Tensors list = chunk(x, Cell::gates, -1);
    std::array<Tensor, Cell::gates> gates;
    std::ranges::copy(list, gates.begin());
    return gates;
  };
  Tensor h = inputs[2], c = Cell::memory ? inputs[3] : Tensor();
  const Tensor bias = Cell::has_bias ? inputs[3] : Tensor();
  Tensors outputs(static_cast<std::size_t>(course.T));
  for (std::int64_t step = 0; step < course.T; ++step) {
    const std::int64_t t = course.place(step);
    auto next = Cell::step(parts(inputs[0][{_, t}]), parts(linear(h, inputs[1], bias)), Cell::memory ? c : h);
    if (projection.defined()) next.h = linear(next.h, projection);
    Tensor& output = outputs[static_cast<std::size_t>(t)] = next.h;
    if (!course.all_count()) {
      Mask counts(Shape{course.B, 1});
      for (std::int64_t b = 0; b < course.B; ++b) counts.mutable_data()[b] = course.counts(b, t);
      output = where(counts, next.h, 0);
      next.h = where(counts, next.h, h);
      if (Cell::memory) next.c = where(counts, next.c, c);
    }
    h = next.h;
    c = next.c;
  }
  return {stack(outputs, 1), c};
}

// ---- All steps in one kernel ----------------------------------------------------------------------------------------

// Sequences that one thread takes through all steps.
constexpr std::int64_t sequences_per_block = 16;

// A factor that many products share, (depth, columns), packed once into panels of two registers' width. A BLAS would
// pack it again for every product, which costs as much as a product of few rows itself.
class Panels {
 public:
  explicit Panels(const Array& factor)
      : depth_(factor.dim(0)), columns_(factor.dim(1)), numbers_(Shape{(columns_ + width - 1) / width, depth_, width}) {
    Real* to = numbers_.mutable_data();
    for (std::int64_t first = 0; first < columns_; first += width) {
      const std::int64_t count = std::min(width, columns_ - first);
      for (std::int64_t k = 0; k < depth_; ++k, to += width) {
        std::fill(std::copy_n(factor.data() + k * columns_ + first, count, to), to + width, Real(0));
      }
    }
  }

  // c (rows, columns) = a (rows, depth) times the factor, plus c if `add`; rows lie so many elements apart.
  template <bool add>
  void multiply(std::int64_t rows, const Real* a, std::int64_t a_step, Real* c, std::int64_t c_step) const {
    for (std::int64_t first = 0; first < columns_; first += width) {
      const Real* panel = numbers_.data() + first * depth_;
      std::int64_t i = 0;
      const auto take = [&]<int together>(std::integral_constant<int, together>) {
        for (; i + together <= rows; i += together) {
          block<together, add>(panel, a + i * a_step, a_step, c + i * c_step + first, c_step,
                               std::min(width, columns_ - first));
        }
      };
      // As many rows at once as there are registers for the sums.
      if constexpr (Pack::avx512) take(std::integral_constant<int, 8>());
      take(std::integral_constant<int, 4>());
      take(std::integral_constant<int, 1>());
    }
  }

 private:
  static constexpr std::int64_t width = 2 * pack_width;

  template <int rows, bool add>
  void block(const Real* panel, const Real* a, std::int64_t a_step, Real* c, std::int64_t c_step,
             std::int64_t columns) const {
    Pack left[rows], right[rows];
    for (std::int64_t k = 0; k < depth_; ++k) {
      const Pack b_left = Pack::load(panel + k * width), b_right = Pack::load(panel + k * width + pack_width);
      for (int i = 0; i < rows; ++i) {
        const Pack factor(a[i * a_step + k]);
        left[i] = multiply_add(factor, b_left, left[i]);
        right[i] = multiply_add(factor, b_right, right[i]);
      }
    }
    for (int i = 0; i < rows; ++i) {
      const std::array<Pack, 2> sums{left[i], right[i]};
      each_pack(columns, [&](std::int64_t j, auto part) {
        Real* to = c + i * c_step + j;
        const Pack& sum = sums[j < pack_width ? 0 : 1];
        part.store(add ? part.load(to) + sum : sum, to);
      });
    }
  }

  std::int64_t depth_, columns_;
  Array numbers_;
};

// What the way back needs of each step.
struct Kept {
  Array h;      // (B, T, h): the state before the step
  Array c;      // (B, T, h): an lstm's memory before the step
  Array gates;  // (B, T, kept, h)
};

// Rows of numbers that stand side by side, one register of each.
template <std::size_t count, class Part>
std::array<Pack, count> load_each(const Real* from, std::int64_t apart, const Part& part) {
  std::array<Pack, count> packs;
  for (std::size_t k = 0; k < count; ++k) packs[k] = part.load(from + static_cast<std::int64_t>(k) * apart);
  return packs;
}
template <std::size_t count, class Part>
void store_each(const std::array<Pack, count>& packs, Real* to, std::int64_t apart, const Part& part) {
  for (std::size_t k = 0; k < count; ++k) part.store(packs[k], to + static_cast<std::int64_t>(k) * apart);
}

template <class Cell>
Array run(const Course& course, const Inputs<Cell>& inputs, Kept& kept) {
  const std::int64_t B = course.B, T = course.T, h = course.h;
  constexpr auto gates = static_cast<std::int64_t>(Cell::gates), K = static_cast<std::int64_t>(Cell::kept);
  const std::int64_t rows = Cell::memory ? T + 1 : T;  // of the result
  Array y(Shape{B, rows, h});
  kept.h = Array(Shape{B, T, h});
  const bool keep =
      recording() && std::ranges::any_of(inputs, [](const Tensor& input) { return input.requires_grad(); });
  if (keep) kept.gates = Array(Shape{B, T, K, h});
  if (Cell::memory) kept.c = Array(Shape{B, T, h});
  const Panels weight(transpose(inputs[1].value()));  // (h, gates h)
  const Real *x = inputs[0].value().data(), *bias = Cell::has_bias ? inputs[3].value().data() : nullptr;
  const Real *first_h = inputs[2].value().data(), *first_c = Cell::memory ? inputs[3].value().data() : nullptr;
  Real *out = y.mutable_data(), *keep_h = kept.h.mutable_data(), *keep_gates = kept.gates.mutable_data();
  Real* keep_c = Cell::memory ? kept.c.mutable_data() : nullptr;

  parallel_for(B, sequences_per_block, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t count = end - begin;
    Array product(Shape{count, gates * h});
    Real* u = product.mutable_data();
    const std::int64_t first = course.place(0);
    for (std::int64_t b = begin; b < end; ++b) {
      std::copy_n(first_h + b * h, h, keep_h + (b * T + first) * h);
      if (Cell::memory) std::copy_n(first_c + b * h, h, keep_c + (b * T + first) * h);
    }
    for (std::int64_t step = 0; step < T; ++step) {
      const std::int64_t t = course.place(step);
      weight.multiply<false>(count, keep_h + (begin * T + t) * h, T * h, u, gates * h);
      for (std::int64_t b = begin; b < end; ++b) {
        const std::int64_t at = b * T + t;
        Real* output = out + (b * rows + t) * h;
        // Where the new state is read again: before the next step, or at the end.
        const bool last = step + 1 == T;
        Real* next_h = last ? nullptr : keep_h + (b * T + course.place(step + 1)) * h;
        Real* next_c = !Cell::memory ? nullptr
                       : last        ? out + (b * rows + T) * h
                                     : keep_c + (b * T + course.place(step + 1)) * h;
        if (!course.counts(b, t)) {
          std::fill_n(output, h, Real(0));
          if (next_h) std::copy_n(keep_h + at * h, h, next_h);
          if (next_c) std::copy_n(keep_c + at * h, h, next_c);
          continue;
        }
        const Real* x_row = x + at * gates * h;
        const Real* u_row = u + (b - begin) * gates * h;
        const Real* carried = (Cell::memory ? keep_c : keep_h) + at * h;
        each_pack(h, [&](std::int64_t i, auto part) {
          auto parts = load_each<Cell::gates>(u_row + i, h, part);
          if (Cell::has_bias) {
            const auto biases = load_each<Cell::gates>(bias + i, h, part);
            for (std::size_t k = 0; k < Cell::gates; ++k) parts[k] = parts[k] + biases[k];
          }
          const auto next = Cell::step(load_each<Cell::gates>(x_row + i, h, part), parts, part.load(carried + i));
          part.store(next.h, output + i);
          if (next_h) part.store(next.h, next_h + i);
          if (next_c) part.store(next.c, next_c + i);
          if (keep) store_each(next.kept, keep_gates + at * K * h + i, h, part);
        });
      }
    }
  });
  return y;
}

template <class Cell>
Inputs<Cell> gradients(const Course& course, const Inputs<Cell>& inputs, const Kept& kept, const Tensor& gy,
                       Wanted wanted) {
  const std::int64_t B = course.B, T = course.T, h = course.h;
  constexpr auto gates = static_cast<std::int64_t>(Cell::gates), K = static_cast<std::int64_t>(Cell::kept);
  const std::int64_t rows = Cell::memory ? T + 1 : T;
  Array gx(Shape{B, T, gates * h}), gu_own(Cell::separate ? gx.shape() : Shape{0}), gh({B, h}, Real(0));
  Array gc(Cell::memory ? Shape{B, h} : Shape{0});
  Real *to_x = gx.mutable_data(), *to_u = Cell::separate ? gu_own.mutable_data() : to_x;
  Real *to_h = gh.mutable_data(), *to_c = gc.mutable_data();
  const Real* g = gy.value().data();
  const Panels weight(inputs[1].value());  // (gates h, h)

  parallel_for(B, sequences_per_block, [&](std::int64_t begin, std::int64_t end) {
    if (Cell::memory) {
      for (std::int64_t b = begin; b < end; ++b) std::copy_n(g + (b * rows + T) * h, h, to_c + b * h);
    }
    for (std::int64_t step = T; step-- > 0;) {
      const std::int64_t t = course.place(step);
      for (std::int64_t b = begin; b < end; ++b) {
        const std::int64_t at = b * T + t;
        Real *x_row = to_x + at * gates * h, *u_row = to_u + at * gates * h;
        if (!course.counts(b, t)) {
          std::fill_n(x_row, gates * h, Real(0));
          if (Cell::separate) std::fill_n(u_row, gates * h, Real(0));
          continue;
        }
        const Real* g_row = g + (b * rows + t) * h;
        const Real* carried = (Cell::memory ? kept.c : kept.h).data() + at * h;
        Real *h_row = to_h + b * h, *c_row = Cell::memory ? to_c + b * h : h_row;
        each_pack(h, [&](std::int64_t i, auto part) {
          const auto back =
              Cell::back(part.load(g_row + i) + part.load(h_row + i), part.load(c_row + i),
                         load_each<Cell::kept>(kept.gates.data() + at * K * h + i, h, part), part.load(carried + i));
          store_each(back.x, x_row + i, h, part);
          if (Cell::separate) store_each(back.u, u_row + i, h, part);
          if (Cell::memory) part.store(Pack(0), h_row + i);
          part.store(back.carried, c_row + i);
        });
      }
      weight.multiply<true>(end - begin, to_u + (begin * T + t) * gates * h, T * gates * h, to_h + begin * h, h);
    }
  });

  const Array& gu = Cell::separate ? gu_own : gx;
  Inputs<Cell> result;
  if (wanted[1]) {
    Array gw(Shape{gates * h, h});
    gemm({.m = gates * h, .n = h, .k = B * T}, {gu.data(), gates * h, true}, {kept.h.data(), h}, gw.mutable_data(), h);
    result[1] = Tensor(std::move(gw));
  }
  if constexpr (Cell::memory) result[3] = Tensor(std::move(gc));
  if constexpr (Cell::has_bias) {
    if (wanted[3]) result[3] = sum(Tensor(gu), {.axis = {0, 1}});
  }
  result[0] = Tensor(std::move(gx));
  result[2] = Tensor(std::move(gh));
  return result;
}

template <class Cell>
Recurrence recurrence(const Course& course, const Inputs<Cell>& inputs) {
  Kept kept;
  Array value = run<Cell>(course, inputs, kept);
  const Tensor y = std::apply(
      [&](const auto&... each) {
        return record(Cell::name, std::move(value),
                      jointly(
                          [=](const Tensor& gy, Wanted wanted) {
                            if (!recording()) return gradients<Cell>(course, inputs, kept, gy, wanted);
                            return composed_gradients(inputs, gy, wanted, [&](const auto&... own) {
                              const Unrolled all = unrolled<Cell>(course, {own...});
                              if (!Cell::memory) return all.output;
                              return concat({all.output, unsqueeze(all.c, 1)}, 1);
                            });
                          },
                          each...));
      },
      inputs);
  if constexpr (!Cell::memory) return {y, course.last(y)};
  const Tensor output = y[{_, slice(0, -1)}];
  return {output, course.last(output), y[{_, -1}]};
}

// The width of the state before the first step.
std::int64_t width_of(const char* op, const Tensor& h) {
  if (h.rank() != 2) fail<ShapeError>(op, "the state must be (B, h), got ", h.shape());
  return h.dim(1);
}

}  // namespace

Recurrence rnn(const Tensor& x, const Tensor& weight, const Tensor& h, Squash f, const RecurrenceOptions& options) {
  const std::int64_t width = width_of("rnn", h);
  const Course course("rnn", x, 1, width, options);
  check_shape("rnn", "weight", weight, {width, width});
  check_shape("rnn", "state", h, {course.B, width});
  return f == Squash::tanh ? recurrence<Rnn<Squash::tanh>>(course, {x, weight, h})
                           : recurrence<Rnn<Squash::relu>>(course, {x, weight, h});
}

Recurrence lstm(const Tensor& x, const Tensor& weight, const Tensor& h, const Tensor& c,
                const RecurrenceOptions& options, const Tensor& projection) {
  const std::int64_t width = width_of("lstm", c), state = width_of("lstm", h);
  const Course course("lstm", x, 4, width, options);
  check_shape("lstm", "weight", weight, {4 * width, state});
  check_shape("lstm", "state", h, {course.B, state});
  check_shape("lstm", "memory", c, {course.B, width});
  if (projection.defined()) {
    check_shape("lstm", "projection", projection, {state, width});
    const Unrolled all = unrolled<Lstm>(course, {x, weight, h, c}, projection);
    return {all.output, course.last(all.output), all.c};
  }
  check_shape("lstm", "state", h, {course.B, width});
  return recurrence<Lstm>(course, {x, weight, h, c});
}

Recurrence gru(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& h,
               const RecurrenceOptions& options) {
  const std::int64_t width = width_of("gru", h);
  const Course course("gru", x, 3, width, options);
  check_shape("gru", "weight", weight, {3 * width, width});
  check_shape("gru", "bias", bias, {3 * width});
  check_shape("gru", "state", h, {course.B, width});
  return recurrence<Gru>(course, {x, weight, h, bias});
}

}  // namespace xgrad
