// Tables for terminals: columns as wide as their content.
#pragma once

#include <string>
#include <vector>

#include <xgrad/kit/program/format.h>

namespace xgrad::kit {

/// Rows under a head, the first column at the left of its room, the others at the right:
///
///     kit::Table table({"", "parameters", "seconds"});
///     table.row({"attention", model.num_parameters(), kit::fixed(seconds, 1)});
///     std::cout << table.text();
///
/// Threads: one at a time.
class Table {
 public:
  /// Throws ValueError without columns.
  explicit Table(const std::vector<Field>& head);

  /// Adds a row. Throws ValueError unless it has a value for each column.
  Table& row(const std::vector<Field>& values);

  /// All lines, each with its end.
  std::string text() const;

 private:
  std::vector<std::vector<Field>> rows_;  // the head first
};

}  // namespace xgrad::kit
