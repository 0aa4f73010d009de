// The best report of a training, and the state that the module had then.
#pragma once

#include <cstdint>
#include <vector>

#include <xgrad/core/files/state.h>
#include <xgrad/kit/train/report.h>
#include <xgrad/nn/module.h>

namespace xgrad::kit::detail {

/// Compares the reports of a training. The module must outlive it.
///
/// Threads: one at a time.
class Best {
 public:
  Best(const nn::Module& module, Goal goal) : module_(module), goal_(goal) {}

  /// Marks the last report as the best if it is better than those before, and then keeps the module's state.
  void judge(std::vector<Report>& reports);
  /// The best of the reports. Throws ValueError without any.
  const Report& of(const std::vector<Report>& reports) const;
  /// How many reports came after the best.
  std::int64_t since(const std::vector<Report>& reports) const {
    return reports.empty() ? 0 : &reports.back() - &of(reports);
  }

  /// Gives the module the state of the best report.
  void restore() const { module_.load_state_dict(state_); }
  StateFile state_dict() const { return {.arrays = state_}; }
  /// The state that belongs to these reports, which the module has afterwards. Throws FormatError if it does not fit.
  void load_state_dict(const StateFile& state, const std::vector<Report>& reports);

 private:
  bool is_better(const Report& a, const Report& b) const;

  const nn::Module& module_;
  const Goal goal_;
  NamedArrays state_;
};

}  // namespace xgrad::kit::detail
