// Test cases of the rows of a catalogue: each is counted, stands in the list of the slowest, and runs by its name.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

namespace xgrad::testing {

/// Makes test cases `f(row)`, one for each row of a catalogue. The name of a case is `what: ` and that of the row, with
/// a number where there are several of a name.
///
///     void check_layer(const LayerRow& row) { ... }
///     const RowCases<LayerRow, layer_rows, check_layer> layer_cases("layer", __FILE__, __LINE__);
template <class Row, auto rows, void (*f)(const Row&)>
class RowCases {
 public:
  RowCases(const std::string& what, const char* file, unsigned line) {
    static const std::vector<Row> all = rows();
    for (const Row& row : all) {
      std::string name = what + ": " + row.name;
      for (int i = 2; cases().contains(name); ++i) name = what + ": " + row.name + " (" + std::to_string(i) + ")";
      const char* const stored = cases().emplace(name, &row).first->first.c_str();
      doctest::detail::regTest(
          doctest::detail::TestCase(run, file, line, doctest_detail_test_suite_ns::getCurrentTestSuite()) * stored);
    }
  }

 private:
  static std::map<std::string, const Row*>& cases() {
    static std::map<std::string, const Row*> all;
    return all;
  }
  static void run() { f(*cases().at(doctest::getContextOptions()->currentTest->m_name)); }
};

}  // namespace xgrad::testing
