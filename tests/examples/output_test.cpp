// Numbers, durations, tables, folders, whole files and the result line.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>

#include <xgrad/kit/program/format.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/table.h>

#include "support.h"

namespace xgrad::kit::testing {

TEST_CASE("numbers are written in their shortest form") {
  CHECK(number(0.1) == "0.1");
  CHECK(number(0.1f) == "0.1");
  CHECK(number(1e300) == "1e+300");
  CHECK(number(-2.5) == "-2.5");
  CHECK(number(42) == "42");
  CHECK(number(std::int64_t{-9007199254740993}) == "-9007199254740993");
  CHECK(number(std::nan("")) == "nan");
  CHECK(number(-std::numeric_limits<double>::infinity()) == "-inf");
}

TEST_CASE("a fixed number of decimals never gives a negative zero") {
  CHECK(fixed(3.14159, 2) == "3.14");
  CHECK(fixed(-0.001, 2) == "0.00");
  CHECK(fixed(-0.006, 2) == "-0.01");
  CHECK(fixed(12, 0) == "12");
  CHECK(fixed(1e300, 1).size() == 303);
  CHECK(fixed(1, 100).size() == 102);
  for (const int wrong : {-1, 101}) CHECK_THROWS_AS(fixed(1, wrong), ValueError);
}

TEST_CASE("durations have minutes and seconds, and hours when there are any") {
  CHECK(duration(0) == "0:00");
  CHECK(duration(75.2) == "1:15");
  CHECK(duration(59.7) == "1:00");
  CHECK(duration(3725) == "1:02:05");
  CHECK(duration(3600) == "1:00:00");
  CHECK(duration(std::nan("")) == "-:--");
  CHECK(duration(std::numeric_limits<double>::infinity()) == "-:--");
  CHECK(duration(-1) == "-:--");
  CHECK(duration(1e9) == "-:--");
  CHECK(duration(999999999) == "277777:46:39");
}

TEST_CASE("no locale changes how numbers are written") {
  const CommaLocale commas;
  std::ostringstream written;
  written << 1234.5;
  REQUIRE(written.str() == "1.234,5");
  CHECK(number(1234.5) == "1234.5");
  CHECK(fixed(1234.5, 2) == "1234.50");
  CHECK(Field(1234567).text() == "1234567");
}

TEST_CASE("a table's columns are as wide as what stands in them, the first at the left, the others at the right") {
  Table table({"", "loss", "été"});
  table.row({"attention", 0.25, "a"}).row({"猫", 1, ""});
  CHECK(table.text() ==
        "            loss   été\n"
        "attention   0.25     a\n"
        "猫             1\n");
  CHECK_THROWS_WITH_AS(table.row({1, 2}), "table: 2 values for 3 columns", ValueError);
  CHECK(Table({"a", "b"}).text() == "a   b\n");
  CHECK_THROWS_AS(Table({}), ValueError);
}

TEST_CASE("an output folder is made with its parents, and one that exists is taken") {
  const TemporaryFolder folder;
  const auto path = folder / "a/b";
  CHECK(output_folder("translate", path) == path);
  CHECK(std::filesystem::is_directory(path));
  CHECK(output_folder("translate", path) == path);

  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder / ".");
  CHECK(output_folder("translate") == std::filesystem::path("out/translate"));
  CHECK(std::filesystem::is_directory("out/translate"));
  std::filesystem::current_path(before);
}

TEST_CASE("a file where the folder should be is an error") {
  const TemporaryFolder folder;
  const auto path = write_text(folder / "taken", "");
  const std::string refused = refusal<IoError>(folder, [&] { output_folder("translate", path); });
  CHECK(refused.starts_with("cannot make folder taken: "));  // by libstdc++ not a directory, by libc++ there already
}

TEST_CASE("a folder that takes no files is an error before anything is computed, and one that does stays as it was") {
  if (std::filesystem::is_directory("/proc/self")) CHECK_THROWS_AS(output_folder("translate", "/proc/self"), IoError);
  const TemporaryFolder folder;
  const auto next_descriptor = [] {
    const int file = open("/dev/null", O_RDONLY);
    close(file);
    return file;
  };
  const int before = next_descriptor();
  output_folder("translate", folder.path());
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK(next_descriptor() == before);
  if (geteuid() != 0) {  // to root, nothing is forbidden
    std::filesystem::permissions(folder.path(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    CHECK_THROWS_AS(output_folder("translate", folder.path()), IoError);
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  }
}

TEST_CASE("files are replaced as a whole and leave nothing beside them") {
  const TemporaryFolder folder;
  const auto path = folder / "graph.dot";
  save_text(path, "old and long");
  save_text(path, "new");
  CHECK(read_text(path) == "new");
  CHECK_THROWS_AS(save_text(folder / "missing/graph.dot", "x"), IoError);
  std::filesystem::create_directory(folder / "folder");
  CHECK_THROWS_AS(save_text(folder / "folder", "x"), IoError);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("the result line has names and values that a script can take apart") {
  ResultLine result;
  result.add("loss", 0.0311f).add("pairs", 600).add("out", "out/my run").add("note", "a \"b\" \\\n").add("empty", "");
  CHECK(result.text() == "result loss=0.0311 pairs=600 out=\"out/my run\" note=\"a \\\"b\\\" \\\\ \" empty=\"\"");
  CHECK(ResultLine().add("azAZ09_.-/", "\x7F").text() == "result azAZ09_.-/=\" \"");
  for (const char* wrong : {"", "two words", "`", "{", "@", "[", ":", "é"}) CHECK_THROWS_AS(result.add(wrong, 1), ValueError);
}

}  // namespace xgrad::kit::testing
