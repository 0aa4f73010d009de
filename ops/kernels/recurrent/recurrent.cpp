// The state's part of the gates is a product of few rows; the activations go pack by pack.
#include "recurrent.h"

#include <algorithm>
#include <array>

#include "../../../core/runtime/parallel.h"
#include "../products/product.h"
#include "../reduce/reduce.h"
#include "../registers/rows.h"

namespace xgrad {
namespace {

// Sequences that one thread takes through all steps.
constexpr std::int64_t sequences_per_block = 16;

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

// Row t of sequence b of an array (B, length, width).
template <class Number>
struct Rows {
  Number* data;
  std::int64_t length, width;

  Number* at(std::int64_t b, std::int64_t t) const { return data + (b * length + t) * width; }
};

// A row of one step of a sequence: what it reads, and where its results go; nullptr: nowhere.
struct StepRows {
  const Real *x, *u, *bias, *carried;
  Real *output, *next_h, *next_c, *saved;
};

template <class Cell>
void take_step(std::int64_t h, const StepRows& row) {
  each_pack(h, [&](std::int64_t i, auto part) {
    auto u = load_each<Cell::gates>(row.u + i, h, part);
    if constexpr (Cell::has_bias) {
      const auto bias = load_each<Cell::gates>(row.bias + i, h, part);
      for (std::size_t k = 0; k < Cell::gates; ++k) u[k] = u[k] + bias[k];
    }
    const auto next = Cell::step(load_each<Cell::gates>(row.x + i, h, part), u, part.load(row.carried + i));
    part.store(next.h, row.output + i);
    if (row.next_h) part.store(next.h, row.next_h + i);
    if (row.next_c) part.store(next.c, row.next_c + i);
    if (row.saved) store_each(next.saved, row.saved + i, h, part);
  });
}

// The same for a step back: `gh` and `carried_back` hold the gradients of the state and of what is carried after the
// step, and get those before it.
struct StepBackRows {
  const Real *gy, *saved, *carried;
  Real *gh, *carried_back, *x, *u;
};

template <class Cell>
void take_step_back(std::int64_t h, const StepBackRows& row) {
  each_pack(h, [&](std::int64_t i, auto part) {
    const auto back = Cell::back(part.load(row.gy + i) + part.load(row.gh + i), part.load(row.carried_back + i),
                                 load_each<Cell::saved>(row.saved + i, h, part), part.load(row.carried + i));
    store_each(back.x, row.x + i, h, part);
    if (Cell::separate) store_each(back.u, row.u + i, h, part);
    if (Cell::memory) part.store(Pack(0), row.gh + i);
    part.store(back.carried, row.carried_back + i);
  });
}

}  // namespace

template <class Cell>
Array run_cells(const Sequences& sequences, const CellInputs& in, SaveSteps save_steps, SavedSteps& saved) {
  const std::int64_t B = sequences.B, T = sequences.T, h = sequences.h;
  constexpr auto gates = static_cast<std::int64_t>(Cell::gates), K = static_cast<std::int64_t>(Cell::saved);
  Array y(Shape{B, Cell::memory ? T + 1 : T, h});
  saved.h = Array(Shape{B, T, h});
  const bool keep = save_steps == SaveSteps::yes;
  if (keep) saved.gates = Array(Shape{B, T, K, h});
  if (Cell::memory) saved.c = Array(Shape{B, T, h});
  const Rows<const Real> x{in.x.data(), T, gates * h};
  const Rows<Real> outputs{y.mutable_data(), y.dim(1), h}, states{saved.h.mutable_data(), T, h},
      memories{saved.c.mutable_data(), T, h}, kept{saved.gates.mutable_data(), T, K * h};
  // Where the state and the memory before a step are. After the last step only the memory is read again, as a result.
  const auto state = [&](std::int64_t b, std::int64_t step) {
    return step < T ? states.at(b, sequences.position(step)) : nullptr;
  };
  const auto memory = [&](std::int64_t b, std::int64_t step) {
    if (!Cell::memory) return static_cast<Real*>(nullptr);
    return step < T ? memories.at(b, sequences.position(step)) : outputs.at(b, T);
  };
  const auto copy = [h](const Real* from, Real* to) {
    if (to) std::copy_n(from, h, to);
  };

  parallel_for(B, sequences_per_block, [&](std::int64_t begin, std::int64_t end) {
    Array product(Shape{end - begin, gates * h});
    Real* const u = product.mutable_data();
    for (std::int64_t b = begin; b < end; ++b) {
      copy(in.h.data() + b * h, state(b, 0));
      if (Cell::memory) copy(in.last.data() + b * h, memory(b, 0));
    }
    for (std::int64_t step = 0; step < T; ++step) {
      const std::int64_t t = sequences.position(step);
      gemm({.m = end - begin, .n = gates * h, .k = h}, {state(begin, step), T * h}, {in.weight.data(), h, true}, u,
           gates * h);
      for (std::int64_t b = begin; b < end; ++b) {
        if (!sequences.counts(b, t)) {
          std::fill_n(outputs.at(b, t), h, Real(0));
          copy(state(b, step), state(b, step + 1));
          copy(memory(b, step), memory(b, step + 1));
          continue;
        }
        take_step<Cell>(h, {.x = x.at(b, t),
                            .u = u + (b - begin) * gates * h,
                            .bias = Cell::has_bias ? in.last.data() : nullptr,
                            .carried = Cell::memory ? memory(b, step) : state(b, step),
                            .output = outputs.at(b, t),
                            .next_h = state(b, step + 1),
                            .next_c = memory(b, step + 1),
                            .saved = keep ? kept.at(b, t) : nullptr});
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
  Array gx(Shape{B, T, gates * h}), gu_own(Cell::separate ? gx.shape() : Shape{0}), gh({B, h}, Real(0));
  Array gc(Cell::memory ? Shape{B, h} : Shape{0});
  const Rows<Real> to_x{gx.mutable_data(), T, gates * h},
      to_u{Cell::separate ? gu_own.mutable_data() : to_x.data, T, gates * h};
  const Rows<const Real> g{gy.data(), Cell::memory ? T + 1 : T, h}, kept{saved.gates.data(), T, K * h},
      carried{(Cell::memory ? saved.c : saved.h).data(), T, h};
  Real *const to_h = gh.mutable_data(), *const to_carried = Cell::memory ? gc.mutable_data() : to_h;

  parallel_for(B, sequences_per_block, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; Cell::memory && b < end; ++b) std::copy_n(g.at(b, T), h, to_carried + b * h);
    for (std::int64_t step = T; step-- > 0;) {
      const std::int64_t t = sequences.position(step);
      for (std::int64_t b = begin; b < end; ++b) {
        if (sequences.counts(b, t)) {
          take_step_back<Cell>(h, {.gy = g.at(b, t),
                                   .saved = kept.at(b, t),
                                   .carried = carried.at(b, t),
                                   .gh = to_h + b * h,
                                   .carried_back = to_carried + b * h,
                                   .x = to_x.at(b, t),
                                   .u = to_u.at(b, t)});
        } else {
          std::fill_n(to_x.at(b, t), gates * h, Real(0));
          std::fill_n(to_u.at(b, t), gates * h, Real(0));
        }
      }
      gemm({.m = end - begin, .n = h, .k = gates * h, .keep = 1}, {to_u.at(begin, t), T * gates * h},
           {in.weight.data(), h}, to_h + begin * h, h);
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

#define XGRAD_CELL(Cell)                                                                                         \
  template Array run_cells<Cell>(const Sequences&, const CellInputs&, SaveSteps, SavedSteps&);                   \
  template CellInputs cell_gradients<Cell>(const Sequences&, const CellInputs&, const SavedSteps&, const Array&, \
                                           const CellWanted&);
XGRAD_CELL(cells::Rnn<Squash::tanh>)
XGRAD_CELL(cells::Rnn<Squash::relu>)
XGRAD_CELL(cells::Lstm)
XGRAD_CELL(cells::Gru)
#undef XGRAD_CELL

}  // namespace xgrad
