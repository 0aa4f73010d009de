// The state's part of the gates is a product of few rows with a constant factor; the activations go pack by pack.
#include "recurrent.h"

#include <algorithm>
#include <array>

#include "../../../core/runtime/parallel.h"
#include "../products/gemm.h"
#include "../products/packing.h"
#include "../reduce/reduce.h"
#include "../registers/multiply_add.h"

namespace xgrad {
namespace {

// Sequences that one thread takes through all steps.
constexpr std::int64_t sequences_per_block = 16;

// A factor of many products, (depth, columns), packed once into panels of two registers' width. A BLAS would
// pack it again for every product, at the cost of a product of few rows.
class Panels {
 public:
  // Of a matrix, or of its transpose.
  explicit Panels(const Array& matrix, bool transposed = false)
      : depth_(matrix.dim(transposed ? 1 : 0)),
        columns_(matrix.dim(transposed ? 0 : 1)),
        elements_(Shape{(columns_ + width - 1) / width, depth_, width}) {
    const Factor factor{matrix.data(), matrix.dim(1), transposed};
    Real* to = elements_.mutable_data();
    for (std::int64_t first = 0; first < columns_; first += width, to += depth_ * width) {
      pack_panel<width>(factor, 0, depth_, first, std::min(width, columns_ - first), to);
    }
  }

  // c (rows, columns) = a (rows, depth) times the factor, plus c if `add`; rows with these strides.
  template <bool add>
  void multiply(std::int64_t rows, const Real* a, std::int64_t a_stride, Real* c, std::int64_t c_stride) const {
    for (std::int64_t first = 0; first < columns_; first += width) {
      const Real* panel = elements_.data() + first * depth_;
      std::int64_t i = 0;
      const auto take = [&]<int together>(std::integral_constant<int, together>) {
        for (; i + together <= rows; i += together) {
          block<together, add>(panel, a + i * a_stride, a_stride, c + i * c_stride + first, c_stride,
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
  void block(const Real* panel, const Real* a, std::int64_t a_stride, Real* c, std::int64_t c_stride,
             std::int64_t columns) const {
    Pack sum[rows][2];
    multiply_add_block(sum, {a, a_stride, 1}, panel, width, depth_);
    XGRAD_UNROLL
    for (int i = 0; i < rows; ++i) {
      const std::array<Pack, 2> row{sum[i][0], sum[i][1]};  // a copy: an array indexed by a variable is in memory
      each_pack(columns, [&](std::int64_t j, auto part) {
        Real* to = c + i * c_stride + j;
        const Pack& own = row[j < pack_width ? 0 : 1];
        part.store(add ? part.load(to) + own : own, to);
      });
    }
  }

  std::int64_t depth_, columns_;
  Array elements_;
};

// Rows side by side, one register of each.
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

}  // namespace

template <class Cell>
Array run_cells(const Sequences& sequences, const CellInputs& in, SaveSteps save_steps, SavedSteps& saved) {
  const std::int64_t B = sequences.B, T = sequences.T, h = sequences.h;
  constexpr auto gates = static_cast<std::int64_t>(Cell::gates), K = static_cast<std::int64_t>(Cell::saved);
  const std::int64_t rows = Cell::memory ? T + 1 : T;  // of the result
  Array y(Shape{B, rows, h});
  saved.h = Array(Shape{B, T, h});
  const bool keep = save_steps == SaveSteps::yes;
  if (keep) saved.gates = Array(Shape{B, T, K, h});
  if (Cell::memory) saved.c = Array(Shape{B, T, h});
  const Panels weight(in.weight, true);  // (h, gates h)
  const Real *x = in.x.data(), *bias = Cell::has_bias ? in.last.data() : nullptr;
  const Real *first_h = in.h.data(), *first_c = Cell::memory ? in.last.data() : nullptr;
  Real *out = y.mutable_data(), *keep_h = saved.h.mutable_data(), *keep_gates = saved.gates.mutable_data();
  Real* keep_c = Cell::memory ? saved.c.mutable_data() : nullptr;

  parallel_for(B, sequences_per_block, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t count = end - begin;
    Array product(Shape{count, gates * h});
    Real* u = product.mutable_data();
    const std::int64_t first = sequences.position(0);
    for (std::int64_t b = begin; b < end; ++b) {
      std::copy_n(first_h + b * h, h, keep_h + (b * T + first) * h);
      if (Cell::memory) std::copy_n(first_c + b * h, h, keep_c + (b * T + first) * h);
    }
    for (std::int64_t step = 0; step < T; ++step) {
      const std::int64_t t = sequences.position(step);
      weight.multiply<false>(count, keep_h + (begin * T + t) * h, T * h, u, gates * h);
      for (std::int64_t b = begin; b < end; ++b) {
        const std::int64_t at = b * T + t;
        Real* output = out + (b * rows + t) * h;
        // The new state goes where it is read again: before the next step, or at the end.
        const bool last = step + 1 == T;
        Real* next_h = last ? nullptr : keep_h + (b * T + sequences.position(step + 1)) * h;
        Real* next_c = !Cell::memory ? nullptr
                       : last        ? out + (b * rows + T) * h
                                     : keep_c + (b * T + sequences.position(step + 1)) * h;
        if (!sequences.counts(b, t)) {
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
          if (keep) store_each(next.saved, keep_gates + at * K * h + i, h, part);
        });
      }
    }
  });
  return y;
}

template <class Cell>
CellInputs cell_gradients(const Sequences& sequences, const CellInputs& in, const SavedSteps& saved, const Array& gy,
                          const CellWanted& wanted) {
  const std::int64_t B = sequences.B, T = sequences.T, h = sequences.h;
  constexpr auto gates = static_cast<std::int64_t>(Cell::gates), K = static_cast<std::int64_t>(Cell::saved);
  const std::int64_t rows = Cell::memory ? T + 1 : T;
  Array gx(Shape{B, T, gates * h}), gu_own(Cell::separate ? gx.shape() : Shape{0}), gh({B, h}, Real(0));
  Array gc(Cell::memory ? Shape{B, h} : Shape{0});
  Real *to_x = gx.mutable_data(), *to_u = Cell::separate ? gu_own.mutable_data() : to_x;
  Real *to_h = gh.mutable_data(), *to_c = gc.mutable_data();
  const Real* g = gy.data();
  const Panels weight(in.weight);  // (gates h, h)

  parallel_for(B, sequences_per_block, [&](std::int64_t begin, std::int64_t end) {
    if (Cell::memory) {
      for (std::int64_t b = begin; b < end; ++b) std::copy_n(g + (b * rows + T) * h, h, to_c + b * h);
    }
    for (std::int64_t step = T; step-- > 0;) {
      const std::int64_t t = sequences.position(step);
      for (std::int64_t b = begin; b < end; ++b) {
        const std::int64_t at = b * T + t;
        Real *x_row = to_x + at * gates * h, *u_row = to_u + at * gates * h;
        if (!sequences.counts(b, t)) {
          std::fill_n(x_row, gates * h, Real(0));
          if (Cell::separate) std::fill_n(u_row, gates * h, Real(0));
          continue;
        }
        const Real* g_row = g + (b * rows + t) * h;
        const Real* carried = (Cell::memory ? saved.c : saved.h).data() + at * h;
        Real *h_row = to_h + b * h, *c_row = Cell::memory ? to_c + b * h : h_row;
        each_pack(h, [&](std::int64_t i, auto part) {
          const auto back =
              Cell::back(part.load(g_row + i) + part.load(h_row + i), part.load(c_row + i),
                         load_each<Cell::saved>(saved.gates.data() + at * K * h + i, h, part), part.load(carried + i));
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
  CellInputs result;
  if (wanted.weight) {
    result.weight = Array(Shape{gates * h, h});
    gemm({.m = gates * h, .n = h, .k = B * T}, {gu.data(), gates * h, true}, {saved.h.data(), h},
         result.weight.mutable_data(), h);
  }
  if constexpr (Cell::memory) result.last = std::move(gc);
  if constexpr (Cell::has_bias) {
    if (wanted.last) result.last = sum_over(gu, {0, 1}, {gates * h});
  }
  result.x = std::move(gx);
  result.h = std::move(gh);
  return result;
}

template Array run_cells<cells::Rnn<Squash::tanh>>(const Sequences&, const CellInputs&, SaveSteps, SavedSteps&);
template CellInputs cell_gradients<cells::Rnn<Squash::tanh>>(const Sequences&, const CellInputs&, const SavedSteps&,
                                                             const Array&, const CellWanted&);
template Array run_cells<cells::Rnn<Squash::relu>>(const Sequences&, const CellInputs&, SaveSteps, SavedSteps&);
template CellInputs cell_gradients<cells::Rnn<Squash::relu>>(const Sequences&, const CellInputs&, const SavedSteps&,
                                                             const Array&, const CellWanted&);
template Array run_cells<cells::Lstm>(const Sequences&, const CellInputs&, SaveSteps, SavedSteps&);
template CellInputs cell_gradients<cells::Lstm>(const Sequences&, const CellInputs&, const SavedSteps&, const Array&,
                                                const CellWanted&);
template Array run_cells<cells::Gru>(const Sequences&, const CellInputs&, SaveSteps, SavedSteps&);
template CellInputs cell_gradients<cells::Gru>(const Sequences&, const CellInputs&, const SavedSteps&, const Array&,
                                               const CellWanted&);

}  // namespace xgrad
