// All steps of a recurrence in one kernel, and back.
#pragma once

#include <optional>

#include "../../../core/array/array.h"
#include "../products/product.h"
#include "cells.h"

namespace xgrad {

/// Sequences (B, T) with a state of width h. Those that have not begun, or have ended, keep their state, so that all of
/// them are at the same place at the same time, in both directions.
struct Course {
  std::int64_t B, T, h;
  bool reverse;
  std::optional<Index> lengths;  ///< (B); none: all are T long
  /// What multiplies the factors, rounded to bfloat16 (bfloat16.h); nullptr: nothing is rounded.
  const detail::BfloatUnit* unit = nullptr;

  /// Where step number `step` takes place, and whether it counts for sequence b.
  std::int64_t place(std::int64_t step) const { return reverse ? T - 1 - step : step; }
  bool counts(std::int64_t b, std::int64_t t) const { return !lengths || t < lengths->data()[b]; }
  bool all_count() const { return !lengths; }
};

/// What a cell is run on, or the gradients of these.
struct CellInputs {
  Array x;       ///< (B, T, gates h), projected
  Array weight;  ///< (gates h, h)
  Array h;       ///< (B, h): the state before the first step
  Array last;    ///< of an lstm its memory (B, h), of a gru its bias (gates h)
};

/// What the way back needs of each step.
struct KeptSteps {
  Array h;      ///< (B, T, h): the state before the step
  Array c;      ///< (B, T, h): an lstm's memory before the step
  Array gates;  ///< (B, T, kept, h)
};
enum class KeepSteps { no, yes };

/// All states (B, T, h), and behind them an lstm's last memory.
template <class Cell>
Array run_cells(const Course& course, const CellInputs& in, KeepSteps keep_steps, KeptSteps& kept);

/// Which gradients cost a product or a sum of their own.
struct CellWanted {
  bool weight, last;
};
template <class Cell>
CellInputs cell_gradients(const Course& course, const CellInputs& in, const KeptSteps& kept, const Array& gy,
                          const CellWanted& wanted);

}  // namespace xgrad
