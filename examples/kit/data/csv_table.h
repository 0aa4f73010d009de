// A table out of a CSV file, column by column: numbers, categories, and missing values.
//
//     const kit::CsvTable table("houses.csv");
//     const Tensor x = table.numbers({"area", "rooms"});                         // (N, 2), NaN where one is missing
//     const Array age = table.numbers("age", table.known("age", kit::Known::median));
//     const auto [codes, towns] = table.categories("town");                       // (N), -1 where it is missing
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/core/array/array.h>

namespace xgrad::kit {

struct CsvTableOptions {
  char separator = ',';
  /// The texts of missing fields, as in pandas.
  std::vector<std::string> missing = {"",         "NA",      "N/A",      "n/a",    "NaN",    "nan", "-NaN",
                                      "-nan",     "NULL",    "null",     "<NA>",   "None",   "#NA", "#N/A",
                                      "#N/A N/A", "-1.#IND", "-1.#QNAN", "1.#IND", "1.#QNAN"};
};

/// A number that stands for all that are known in a column.
enum class Known { mean, median };

/// Words as numbers.
struct Categories {
  Index codes;                     ///< (N): places among the names, -1 where the word is missing
  std::vector<std::string> names;  ///< the words there are, sorted
};

/// A file of comma-separated values (RFC 4180) whose first line has the names of the columns. Fields in quotes may have
/// separators, line breaks and doubled quotes in them. A byte order mark at the beginning and empty lines are left out.
///
/// Threads: many may read from one object.
class CsvTable {
 public:
  /// Reads the whole file. Throws IoError if that fails; DataError, with path and line, for a row with more or fewer
  /// fields than there are names, a name that comes twice, a quote that is not closed or stands in the middle of a
  /// field, and a file without names. ValueError for a separator that is a quote or a line break.
  explicit CsvTable(const std::filesystem::path& path, const CsvTableOptions& options = {});

  /// How many rows, without the names.
  std::int64_t rows() const { return static_cast<std::int64_t>(lines_.size()); }
  const std::vector<std::string>& columns() const { return columns_; }

  // All of these throw ValueError for a column that is not there.

  /// The fields as they are, quotes undone.
  const std::vector<std::string>& texts(std::string_view column) const { return fields_[place_of(column)]; }
  /// True where a field is missing (N).
  Mask missing(std::string_view column) const;
  /// The numbers (N), blanks around them left out, NaN where one is missing. Throws DataError, with path, line and
  /// column, for a field that is no number.
  Array numbers(std::string_view column) const;
  /// The same with `instead` where one is missing.
  Array numbers(std::string_view column, double instead) const;
  /// Several columns side by side (N, columns).
  Array numbers(std::initializer_list<std::string_view> columns) const;
  /// Mean or median of the numbers that are not missing. Throws as numbers(), and ValueError if all are missing.
  double known(std::string_view column, Known number) const;
  /// The words as numbers. Given names, those of a table that a model has learnt from, are taken as they are; then
  /// throws DataError, with path, line and column, for a word that is not among them.
  Categories categories(std::string_view column, std::vector<std::string> names = {}) const;

 private:
  std::size_t place_of(std::string_view column) const;
  bool is_missing(const std::string& field) const;

  std::filesystem::path path_;
  std::vector<std::string> missing_;  // sorted
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> fields_;  // column by column
  std::vector<std::size_t> lines_;                // where each row begins
};

}  // namespace xgrad::kit
