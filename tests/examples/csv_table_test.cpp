// Tables out of CSV files, against what pandas reads (tests/fixtures/make_data_fixtures.py), and files that are no
// tables.
#include <doctest/doctest.h>

#include <cmath>

#include <xgrad/core/files/safetensors.h>
#include <xgrad/kit/data/csv_table.h>
#include <xgrad/kit/program/error.h>
#include <xgrad/ops/ops.h>

#include "support.h"
#include "support/fixtures.h"

namespace xgrad::kit::testing {
namespace {

std::string refusal_of_table(std::string_view text) {
  const TemporaryFolder folder;
  const auto path = write_text(folder / "t.csv", text);
  return refusal<DataError>(folder, [&] { CsvTable{path}; });
}

bool same_numbers(const Array& a, const Array& b) {
  return a.shape() == b.shape() && std::ranges::equal(a, b, [](Real x, Real y) {
           return (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= 1e-6 * std::abs(y);
         });
}

}  // namespace

TEST_CASE("a table is read as pandas reads it") {
  const CommaLocale commas;
  const CsvTable table(xgrad::testing::fixture_path("tables/table.csv"));
  const StateFile expected = load_safetensors(xgrad::testing::fixture_path("tables/table.safetensors"));
  CHECK(table.columns() == std::vector<std::string>{"name", "age", "fare", "port", "note, quoted"});
  CHECK(table.rows() == 6);
  for (const char* column : {"age", "fare"}) {
    CHECK(same_numbers(table.numbers(column), expected.get<Array>(column)));
    CHECK(std::isnan(table.numbers(column).at({column[0] == 'a' ? 2 : 4})));
  }
  for (const char* column : {"port", "name", "note, quoted"}) {
    CHECK(equal(table.categories(column).codes, expected.get<Index>(cat(column, "/codes"))));
  }
  CHECK(table.categories("port").names == std::vector<std::string>{"C", "Q", "S"});
  CHECK(table.texts("note, quoted")[1] == "said \"hello\"");
  CHECK(table.texts("note, quoted")[2] == "two lines");
  CHECK(table.texts("name")[0] == "Braund, Mr. Owen");
}

TEST_CASE("words of another table are the categories of the first") {
  const TemporaryFolder folder;
  const CsvTable train(write_text(folder / "train.csv", "town\nRome\nOslo\nNA\nRome\n"));
  const Categories towns = train.categories("town");
  CHECK(equal(towns.codes, index({1, 0, -1, 1})));
  const CsvTable test(write_text(folder / "test.csv", "a,town\n1,Rome\n2,\n3,Bonn"));
  CHECK(test.rows() == 3);
  CHECK(equal(test.categories("town", {"Rome", "Bonn"}).codes, index({0, -1, 1})));
  CHECK(refusal<DataError>(folder, [&] { test.categories("town", towns.names); }) ==
        "test.csv:4: column \"town\": \"Bonn\" is no category");
}

TEST_CASE("what is no table, and no number, is refused with its line and column") {
  CHECK(refusal_of_table("a,b\n1,2\n3,4,5\n") == "t.csv:3: 3 fields in 2 columns");
  CHECK(refusal_of_table("a,b\n\"x\",2\n\n3\n") == "t.csv:4: 1 fields in 2 columns");
  CHECK(refusal_of_table("a,b\n1,\"2\n3,4\n") == "t.csv:2: a quote is not closed");
  CHECK(refusal_of_table("a,b\n1,2\"\n") == "t.csv:2: a quote in a field that does not begin with one");
  CHECK(refusal_of_table("a,b\n1,\"2\" \n") == "t.csv:2: text behind a closing quote");
  CHECK(refusal_of_table("a,b,a\n") == "t.csv:1: two columns are named \"a\"");
  CHECK(refusal_of_table("") == "t.csv:1: no names of columns");
  CHECK(refusal_of_table("\n\n") == "t.csv:1: no names of columns");
  CHECK(refusal_of_table("a,b\n1,2") == "accepted");
  CHECK(refusal_of_table("\"\",b\n\"\",\"\"\"\"\"\"") == "accepted");

  const TemporaryFolder folder;
  const auto path = write_text(folder / "t.csv", "a,b\n1,2\n\"x\",2\n1e3x,nan\n");
  const CsvTable table(path);
  CHECK(refusal<DataError>(folder, [&] { table.numbers("a"); }) == "t.csv:3: column \"a\": needs a number, got \"x\"");
  CHECK_REFUSED(ValueError, table.numbers("c"), "csv_table", path.string(), "has no column \"c\", it has [a, b]");
  CHECK(table.numbers("b").at({0}) == 2);
  const CsvTable unknown(write_text(folder / "u.csv", "a\nnan\n1e3x\n"));
  CHECK_THROWS_AS(unknown.numbers("a"), DataError);
  CHECK(CsvTable(write_text(folder / "n.csv", "a,b\n,1\nnan,1\n")).rows() == 2);
  CHECK_THROWS_AS(CsvTable(folder / "missing.csv"), IoError);
}

}  // namespace xgrad::kit::testing
