// The numbers of a run, for its diagrams: values, gradients and times.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "../../graph/observe.h"
#include "../../graph/record.h"
#include "../../profile/profile.h"
#include "view.h"

namespace xgrad {

/// An observer that summarises all results and gradients, and notes when they were computed:
///
///     ValueRecorder values;
///     const Tensor loss = model(x);
///     loss.backward();
///     save_graph("step.html", {loss}, {.values = &values});
///
/// It holds a few hundred bytes for every operation since it was made or cleared, and no arrays. While it lives,
/// operations that no gradient flows through are drawn, too (TraceAll).
class ValueRecorder : public Observer {
 public:
  [[nodiscard]] ValueRecorder() = default;

  /// The record of a node of the graph; its gradient is that of the last backward pass that reached it.
  struct Record : GraphRecord {
    std::vector<SharedSummary> parts = {};  ///< by input: the gradient that its rule gave
  };
  /// The record of a node; nullptr if there is none.
  const Record* find(const Node& node) const;
  /// Whether a backward pass has run since it was made or cleared.
  bool saw_gradients() const { return saw_gradients_; }
  /// Clears all records.
  void clear();

  void operation(const OperationRun& run) override;
  void complete_gradient(const Node& node, const Tensor& gradient) override;
  void begin_gradients(const Node& node, Duration spent) override;
  void end_gradients(const Node& node, Duration spent) noexcept override;
  void gradient(const Node& node, std::size_t input, const Tensor& gradient) override;

 private:
  std::unordered_map<std::uint64_t, Record> records_;  // by id
  int steps_ = 0;
  int depth_ = 0;  // of rules within rules
  bool saw_gradients_ = false;
  const TraceAll trace_;
};

/// An overlay with the milliseconds of each operation and of its gradients, summed over all its runs in a profile:
///
///     save_graph("time.svg", {loss}, {.depth = 2, .overlay = time_overlay(profile)});
GraphOverlay time_overlay(const Profile& profile);

}  // namespace xgrad
