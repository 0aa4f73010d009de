// Where the time goes: how long operations and their gradients take, kind by kind.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "../graph/observe.h"

namespace xgrad {

/// While it lives, the time of this thread is added up under what it was spent for:
///
///     OperationTimer timer;
///     for (int i = 0; i < 100; ++i) step();
///     for (const auto& line : timer.lines()) std::cout << line.what << " " << line.milliseconds << " ms\n";
///                                             // linear 3.1 ms, linear' 6.4 ms, ...
///
/// An operation's line holds the time since whatever came before it, so that what a program does in between counts for
/// the operation that follows. The gradients of an operation have a line with a ' behind its name, and the bookkeeping
/// of backward passes the line "graph". A line for which there is no memory is left out.
class OperationTimer : public Observer {
 public:
  struct Line {
    std::string what;
    std::int64_t calls = 0;
    double milliseconds = 0;
  };

  /// The longest first.
  std::vector<Line> lines() const;

  void operation(const OperationRun& run) override;
  void begin_gradients(const Node& node, Duration spent) override;
  void end_gradients(const Node& node, Duration spent) noexcept override;
  void work(const char* what, Duration spent) override;

 private:
  enum class Part { forward, backward };
  struct Sum {
    std::int64_t calls = 0;
    Duration time{};
  };
  void add(const char* what, Part part, Duration spent) noexcept;

  std::unordered_map<const char*, Sum> sums_[2];
  Duration in_gradients_{};
  int depth_ = 0;  // of rules within rules
};

}  // namespace xgrad
