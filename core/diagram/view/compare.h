// Two graphs held against each other: what came, what went, what is different.
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

/// What compare_graphs() found.
struct GraphComparison {
  /// Both graphs in one: each vertex and each edge says by its `change` whether it is in one of them or in both; the
  /// remarks of a vertex say what is different. What stands at another place than before is there twice, once added and
  /// once removed, where one vertex would close a cycle.
  GraphView view;
  std::int64_t same = 0;  ///< vertices
  std::int64_t changed = 0;
  std::int64_t added = 0;
  std::int64_t removed = 0;
  std::int64_t edges_added = 0;
  std::int64_t edges_removed = 0;
  std::vector<std::string> modules = {};  ///< in words, of those that another number of equal blocks is drawn as

  bool equal() const { return modules.empty() && changed + added + removed + edges_added + edges_removed == 0; }
};

/// Finds for each vertex of one view that of the other which stands in its place: leaves by their names, operations and
/// folded modules by the module around them: there first the longest sequence that both have in common, then what
/// stands elsewhere or has another name. Those that are in both are compared by name, shape, number, settings,
/// parameters, kept bytes, and the order of their inputs. The views should be folded alike. Throws ValueError for a
/// view whose vertices are not numbered inputs before results, LimitError if modules are too large to be compared.
GraphComparison compare_graphs(const GraphView& before, const GraphView& after);

/// One line that counts, then one for each module and each vertex that is not the same.
std::string to_string(const GraphComparison& comparison);
std::ostream& operator<<(std::ostream& out, const GraphComparison& comparison);

}  // namespace xgrad
