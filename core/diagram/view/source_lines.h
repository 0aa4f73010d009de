// The source lines of a program that made a graph.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "../../graph/observe.h"
#include "../../graph/record.h"

namespace xgrad {

/// While it lives, remembers where the program called each operation:
///
///     SourceLines lines;
///     const Tensor loss = sum(tanh(x));
///     std::cout << lines.of(loss) << '\n';                       // "main.cpp:12"
///     save_graph("model.html", {loss}, {.lines = &lines});
///
/// A place is the innermost call in a file that belongs neither to the library nor to the system. It is read from the
/// debugging information of the program (compiled with -g or -g1; optimised code may have merged lines) by the program
/// addr2line of GNU binutils, on first use; if one of them is missing, nothing is known. Operations of a gradient rule
/// have the place of the rule's operation.
///
/// Operations that no gradient flows through are drawn, too (TraceAll). A std::source_location could not tell where an
/// operation was called: operators take no further arguments.
class SourceLines : public Observer {
 public:
  SourceLines() = default;

  /// "main.cpp:12": the file without its folder; empty if unknown.
  std::string of(const Node& node) const;
  /// Throws GraphError for an undefined tensor.
  std::string of(const Tensor& tensor) const;
  /// Clears all records.
  void clear();

  void operation(const OperationRun& run) override;

 private:
  static constexpr int most_calls = 24;
  using Calls = std::array<const void*, most_calls>;  // the innermost first, then nullptr

  std::string first_outside(const Calls& calls) const;
  void read_places() const;

  std::unordered_map<std::uint64_t, Calls> calls_;  // by id of the node
  /// By return address: the places, "folder/main.cpp:12", of the call and of the calls that it is inlined in.
  mutable std::unordered_map<const void*, std::vector<std::string>> places_;
  mutable std::vector<const void*> unread_;  // return addresses whose places are not known yet
  const TraceAll trace_;
};

}  // namespace xgrad
