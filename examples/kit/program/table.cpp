// Laying out a table.
#include <xgrad/kit/program/table.h>

#include <algorithm>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/unicode/unicode.h>

namespace xgrad::kit {
namespace {

constexpr int gap = 3;  // spaces between columns

std::vector<std::string> texts(const std::vector<Field>& values) {
  std::vector<std::string> result;
  for (const Field& value : values) result.push_back(value.text());
  return result;
}

}  // namespace

Table::Table(const std::vector<Field>& head) : rows_{texts(head)} {
  if (head.empty()) fail<ValueError>("table", "needs at least one column");
}

Table& Table::row(const std::vector<Field>& values) {
  if (values.size() != rows_[0].size()) {
    fail<ValueError>("table", values.size(), " values for ", rows_[0].size(), " columns");
  }
  rows_.push_back(texts(values));
  return *this;
}

std::string Table::text() const {
  std::vector<int> widths(rows_[0].size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(static_cast<std::size_t>(widths[i] - columns(row[i])), ' ');
      line += i == 0 ? row[i] + padding : std::string(gap, ' ') + padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace xgrad::kit
