// A table out of a CSV file, column by column: numbers, categories, and missing values.
//
//     const kit::CsvTable table("houses.csv");
//     const Array areas = table.numbers("area");               // (N), NaN where one is missing
//     const auto [codes, towns] = table.categories("town");    // (N), -1 where it is missing
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/core/array/array.h>

namespace xgrad::kit {

/// Words as numbers.
struct Categories {
  Index codes;                     ///< (N): places among the names, -1 where the word is missing
  std::vector<std::string> names;  ///< the words there are, sorted
};

/// A text file of comma-separated values, a row in each line, whose first line has the names of the columns. Fields in
/// quotes may have commas and doubled quotes in them. Empty lines are left out. A field is missing if it is empty, NA,
/// NaN, nan, NULL or null.
///
/// Threads: many may read from one object.
class CsvTable {
 public:
  /// Reads the whole file. Throws as read_lines(); DataError, with path and line, for a row with more or fewer
  /// fields than there are names, a name that comes twice, a quote that is not closed or stands in the middle of a
  /// field, and a file without names.
  explicit CsvTable(const std::filesystem::path& path);

  /// How many rows, without the names.
  std::int64_t rows() const { return static_cast<std::int64_t>(lines_.size()); }
  const std::vector<std::string>& columns() const& { return columns_; }
  std::vector<std::string> columns() && { return std::move(columns_); }

  // All of these throw ValueError for a column that is not there.

  /// The fields as they are, quotes undone.
  std::vector<std::string> texts(std::string_view column) const;
  /// The numbers (N), NaN where one is missing; blanks around a number and a + before it are left out. Throws
  /// DataError, with path, line and column, for a field that is no number.
  Array numbers(std::string_view column) const;
  /// The words as numbers. Given names, those of a table that a model has learnt from, are taken as they are; then
  /// throws DataError, with path, line and column, for a word that is not among them.
  Categories categories(std::string_view column, std::vector<std::string> names = {}) const;

 private:
  std::filesystem::path path_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> fields_;  // column by column
  std::vector<std::size_t> lines_;                // where each row begins
};

}  // namespace xgrad::kit
