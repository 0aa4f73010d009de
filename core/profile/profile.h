// Profile: the operations of a run, each with its module, its time and its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../graph/observe.h"

namespace xgrad {

/// An observer that lists the operations of this thread while it lives:
///
///     Profile profile;
///     model(x).backward();
///     std::cout << to_string(profile);                   // a table of operations and one of modules
///     save_chrome_trace("step.json", profile);           // for chrome://tracing and ui.perfetto.dev
///
/// The time of an operation is the time since the end of the previous one. Runs called "graph" are the bookkeeping of
/// backward passes. A gradient rule is left out if there is no memory to list it.
class Profile : public Observer {
 public:
  struct Run {
    std::string_view op;         ///< the operation that ran or whose rule ran; for an optimizer's step: its kind
    std::string_view path = {};  ///< the path of the module
    bool gradient = false;       ///< whether a gradient rule ran, including everything that it called
    Shape shape = {};            ///< the shape of the result
    double begin = 0;            ///< milliseconds since the profile was made
    double milliseconds = 0;
    std::int64_t bytes = 0;  ///< the size of the result
    std::uint64_t node = 0;  ///< the id of the operation in the graph; 0 if it was not recorded
  };
  /// The runs in the order in which they ended.
  const std::vector<Run>& runs() const { return runs_; }

  /// The sum of all runs with one name.
  struct Line {
    std::string what;  ///< the name of the operation, "linear"; "linear'" for its gradient rules
    std::int64_t calls = 0;
    double milliseconds = 0;
    std::int64_t bytes = 0;
  };
  /// One line for each name, the longest time first.
  std::vector<Line> lines() const;

  void operation(const OperationRun& run) override;
  void begin_gradients(const Node& node, Duration spent) override;
  void end_gradients(const Node& node, Duration spent) noexcept override;
  void event(const char* name, Duration spent) override;

 private:
  void add(Run run, Duration spent);

  std::vector<Run> runs_;
  double now_ = 0;  // milliseconds, without those of observers
  double rule_began_ = 0;
  int depth_ = 0;  // of rules within rules
};

/// The profile as two tables, one of operations and one of modules, the longest time first. The columns are calls,
/// milliseconds, percentage of the total time, and bytes of results. A module includes everything in it.
std::string to_string(const Profile& profile);

/// Writes the profile in Chrome's trace event format (Google, "Trace Event Format", 2016), which Perfetto reads as
/// well. Throws IoError.
void save_chrome_trace(const std::string& path, const Profile& profile);

}  // namespace xgrad
