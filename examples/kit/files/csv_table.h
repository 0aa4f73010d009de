// CsvTable: a table from a CSV file, column by column: numbers, categories, and missing values.
//
//     const kit::CsvTable table("houses.csv");
//     const Array areas = table.numbers("area");               // (N), NaN for a missing number
//     const auto [codes, towns] = table.categories("town");    // (N), -1 for a missing word
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/core/array/array.h>

namespace xgrad::kit {

/// A column of words as integer codes.
struct Categories {
  Index codes;                     ///< (N): the position in `names`; -1 for a missing word
  std::vector<std::string> names;  ///< the different words, sorted
};

/// A file of comma-separated values. Each line is a row; the first line has the names of the columns. Fields in quotes
/// may contain commas and doubled quotes. Empty lines are skipped. A field is missing if it is empty, NA, NaN, nan,
/// NULL or null.
///
/// Threads: several threads may read one object.
class CsvTable {
 public:
  /// Reads the whole file. Throws what read_lines() throws. Throws DataError, which names path and line, for a row with
  /// more or fewer fields than names, a duplicate name, an unclosed quote or a quote inside a field, and a file without
  /// names.
  explicit CsvTable(const std::filesystem::path& path);

  /// The number of rows, without the line of names.
  std::int64_t rows() const { return static_cast<std::int64_t>(lines_.size()); }
  const std::vector<std::string>& columns() const& { return columns_; }
  std::vector<std::string> columns() && { return std::move(columns_); }

  // All of these throw ValueError if there is no such column.

  /// The text of the fields, without enclosing quotes.
  std::vector<std::string> texts(std::string_view column) const;
  /// The numbers of a column, (N), NaN if missing. Blanks around a number and a + before it are ignored. Throws
  /// DataError, which names path, line and column, for a field that is no number.
  Array numbers(std::string_view column) const;
  /// The words of a column as codes, by default numbered in sorted order. For a model that was trained on another
  /// table, pass the names of that table to get the same codes. Then a word that is not among them throws DataError,
  /// which names path, line and column.
  Categories categories(std::string_view column, std::vector<std::string> names = {}) const;

 private:
  std::filesystem::path path_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> fields_;  // column by column
  std::vector<std::size_t> lines_;                // the number of the line on which each row begins
};

}  // namespace xgrad::kit
