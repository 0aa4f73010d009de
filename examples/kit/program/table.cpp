// Laying out a table.
#include <xgrad/kit/program/table.h>

#include <algorithm>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/unicode/unicode.h>

namespace xgrad::kit {

Table::Table(const std::vector<Field>& head) : rows_{head} {
  if (head.empty()) fail<ValueError>("table", "needs at least one column");
}

Table& Table::row(const std::vector<Field>& values) {
  if (values.size() != rows_[0].size()) {
    fail<ValueError>("table", values.size(), " values for ", rows_[0].size(), " columns");
  }
  rows_.push_back(values);
  return *this;
}

std::string Table::text() const {
  const std::string gap(3, ' ');  // between columns
  std::vector<int> widths(rows_[0].size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i].text()));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string& cell = row[i].text();
      const std::string padding(static_cast<std::size_t>(widths[i] - columns(cell)), ' ');
      line += i == 0 ? cell + padding : gap + padding + cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace xgrad::kit
