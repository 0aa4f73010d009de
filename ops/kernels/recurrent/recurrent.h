// All steps of a recurrence in one kernel, forward and backward.
#pragma once

#include <optional>

#include "../../../core/array/array.h"
#include "cells.h"

namespace xgrad {

/// Sequences (B, T) with a state of width h. Steps after its length do not change a sequence's state.
struct Sequences {
  std::int64_t B, T, h;
  bool reverse;
  std::optional<Index> lengths;  ///< (B); none: all are T long

  /// The position of step number `step`, and whether it is valid for sequence b.
  std::int64_t position(std::int64_t step) const { return reverse ? T - 1 - step : step; }
  bool counts(std::int64_t b, std::int64_t t) const { return !lengths || t < lengths->data()[b]; }
  bool all_count() const { return !lengths; }
};

/// The inputs of a recurrence, or their gradients.
struct CellInputs {
  Array x;       ///< (B, T, gates h), projected
  Array weight;  ///< (gates h, h)
  Array h;       ///< (B, h): the state before the first step
  Array last;    ///< of an lstm its memory (B, h), of a gru its bias (gates h)
};

/// What each step saves for the backward pass.
struct SavedSteps {
  Array h;      ///< (B, T, h): the state before the step
  Array c;      ///< (B, T, h): an lstm's memory before the step
  Array gates;  ///< (B, T, saved, h)
};
enum class SaveSteps { no, yes };

/// All states (B, T, h), followed by an lstm's last memory.
template <class Cell>
Array run_cells(const Sequences& sequences, const CellInputs& in, SaveSteps save_steps, SavedSteps& saved);

/// The wanted gradients, of those that cost a product or a sum of their own.
struct CellWanted {
  bool weight, last;
};
template <class Cell>
CellInputs cell_gradients(const Sequences& sequences, const CellInputs& in, const SavedSteps& saved, const Array& gy,
                          const CellWanted& wanted);

}  // namespace xgrad
