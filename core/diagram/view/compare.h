// Comparing two graphs: added, removed and changed vertices.
//
//     const GraphComparison comparison = compare_graphs(GraphView::of({before}), GraphView::of({after}));
//     std::cout << comparison;
//     save_view("difference.svg", comparison.view);
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "view.h"

namespace xgrad {

/// The result of compare_graphs().
struct GraphComparison {
  /// Both graphs in one: the `change` of each vertex and edge says whether it is in one of them or in both; the remarks
  /// of a vertex describe the difference. A vertex that has moved appears twice, once added and once removed, if a
  /// single one would close a cycle.
  GraphView view;
  std::int64_t same = 0;  ///< vertices
  std::int64_t changed = 0;
  std::int64_t added = 0;
  std::int64_t removed = 0;
  std::int64_t edges_added = 0;
  std::int64_t edges_removed = 0;
  std::vector<std::string> modules = {};  ///< in words, modules now drawn as another number of equal blocks

  bool equal() const { return modules.empty() && changed + added + removed + edges_added + edges_removed == 0; }
};

/// Matches each vertex of one view with its counterpart in the other: leaves by their names, operations and folded
/// modules by the module around them: there first the longest common subsequence, then vertices that have moved or were
/// renamed. Pairs are compared by name, shape, number, settings, parameters, kept bytes, and the order of their inputs.
/// The views should be folded alike. Throws ValueError for a view whose vertices are not numbered inputs before
/// results, LimitError if modules are too large to be compared.
GraphComparison compare_graphs(const GraphView& before, const GraphView& after);

/// One line with the counts, then one for each module and each vertex that differs.
std::string to_string(const GraphComparison& comparison);
std::ostream& operator<<(std::ostream& out, const GraphComparison& comparison);

}  // namespace xgrad
