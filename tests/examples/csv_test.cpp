// Tables out of CSV files, against what pandas reads (tests/fixtures/make_data_fixtures.py), files that are no tables,
// and rows of numbers that are written to one.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <cmath>

#include <xgrad/core/files/safetensors.h>
#include <xgrad/kit/files/csv.h>
#include <xgrad/kit/files/csv_table.h>
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
    CHECK(equal(table.categories(column).codes, expected.get<Index>(str(column, "/codes"))));
  }
  CHECK(table.categories("port").names == std::vector<std::string>{"C", "Q", "S"});
  CHECK(table.texts("note, quoted")[1] == "said \"hello\"");
  CHECK(table.texts("note, quoted")[2] == "two lines");
  CHECK(table.texts("name")[0] == "Braund, Mr. Owen");
}

TEST_CASE("blanks around a number and a plus before it are no part of it") {
  const TemporaryFolder folder;
  const CsvTable table(write_text(folder / "t.csv", "a,b\n 1,A\n+1, A\n\" +2.5e1\t\",A\n-3 ,A\n"));
  CHECK(equal(table.numbers("a"), Array(Shape{4}, {1, 1, 25, -3})));
  CHECK(table.categories("b").names == std::vector<std::string>{" A", "A"});  // of words they are
  for (const std::string wrong : {"+-1", "++1", "+ 1", "+", " ", "1 2", "-"}) {
    const CsvTable bad(write_text(folder / "bad.csv", "a\n" + wrong + "\n"));
    CHECK(refusal<DataError>(folder, [&] { bad.numbers("a"); }) ==
          "bad.csv:2: column \"a\": needs a number, got \"" + wrong + "\"");
  }
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

TEST_CASE("a logger writes a header and rows, each at once") {
  const TemporaryFolder folder;
  const CommaLocale commas;
  const auto path = folder / "loss.csv";
  CsvLogger log(path, {"epoch", "loss", "note"});
  CHECK(read_text(path) == "epoch,loss,note\n");
  log.row({1000, 0.1f, "a, \"b\""});
  CHECK(read_text(path) == "epoch,loss,note\n1000,0.1,\"a, \"\"b\"\"\"\n");
  log.row({2, 0.25, ""});
  CHECK(read_text(path).ends_with("\n2,0.25,\n"));
}

TEST_CASE("rows that do not fit are refused before anything is written") {
  const TemporaryFolder folder;
  const auto path = write_text(folder / "loss.csv", "of an earlier run\n");
  CsvLogger log(path, {"epoch", "loss"});
  CHECK_THROWS_WITH_AS(log.row({1}), "csv: 1 values for 2 columns", ValueError);
  CHECK_THROWS_AS(log.row({1, "two\nlines"}), ValueError);
  CHECK(read_text(path) == "epoch,loss\n");
  CHECK_THROWS_AS(CsvLogger(folder / "none.csv", {}), ValueError);
  CHECK_FALSE(std::filesystem::exists(folder / "none.csv"));
}

TEST_CASE(
    "a log that cannot be written is an error with its reason, and a pipe does not wait for somebody at its other "
    "end") {
  const TemporaryFolder folder;
  const auto said = [&](const std::filesystem::path& path) {
    return refusal<IoError>(folder, [&] { CsvLogger(path, {"loss"}); });
  };
  CHECK(said(folder / "missing/loss.csv") == "cannot open missing/loss.csv: No such file or directory");
  if (std::filesystem::exists("/dev/full"))
    CHECK(said("/dev/full") == "cannot write /dev/full: No space left on device");
  const auto pipe = folder / "loss.csv";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(said(pipe) == "cannot open loss.csv: is a pipe");
}

}  // namespace xgrad::kit::testing
