// Rows of numbers in a file.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/data/csv.h>
#include <xgrad/kit/program/error.h>

#include "support.h"

namespace xgrad::kit::testing {

TEST_CASE("a logger writes a header and rows, each at once") {
  const TemporaryFolder folder;
  const CommaLocale commas;
  CsvLogger log(folder / "loss.csv", {"epoch", "loss", "note"});
  CHECK(read_text(log.path()) == "epoch,loss,note\n");
  log.row({1000, 0.1f, "a, \"b\""});
  CHECK(read_text(log.path()) == "epoch,loss,note\n1000,0.1,\"a, \"\"b\"\"\"\n");
  log.row({2, 0.25, ""});
  CHECK(read_text(log.path()).ends_with("\n2,0.25,\n"));
}

TEST_CASE("a resumed log goes on after the rows that are wanted") {
  const TemporaryFolder folder;
  const auto path = folder / "loss.csv";
  const auto resumed = [&](const char* before, const std::vector<Field>& row, std::size_t rows = 9) {
    write_text(path, before);
    CsvLogger::resume(path, {"epoch", "loss"}, rows).row(row);
    return read_text(path);
  };
  CHECK(resumed("epoch,loss\n1,3\n2,2\n", {3, 1}) == "epoch,loss\n1,3\n2,2\n3,1\n");
  CHECK(resumed("epoch,loss\n1,3\n2,2\n3,1\n", {2, 9}, 1) == "epoch,loss\n1,3\n2,9\n");
  CHECK(resumed("epoch,loss\n1,3\n2,", {2, 2}) == "epoch,loss\n1,3\n2,2\n");  // a line that a crash cut short
  CHECK(resumed("epo", {1, 3}) == "epoch,loss\n1,3\n");
  std::filesystem::remove(path);
  CsvLogger::resume(path, {"epoch", "loss"}).row({1, 3});
  CHECK(read_text(path) == "epoch,loss\n1,3\n");
}

TEST_CASE("a log with other columns is left alone") {
  const TemporaryFolder folder;
  const auto path = write_text(folder / "loss.csv", "step,loss\n1,3\n");
  CHECK(refusal<DataError>(folder, [&] { CsvLogger::resume(path, {"epoch", "loss"}); }) ==
        "loss.csv:1: the columns are not epoch,loss");
  CHECK(read_text(path) == "step,loss\n1,3\n");
}

TEST_CASE("rows that do not fit are refused before anything is written") {
  const TemporaryFolder folder;
  CsvLogger log(folder / "loss.csv", {"epoch", "loss"});
  CHECK_THROWS_WITH_AS(log.row({1}), "csv: 1 values for 2 columns", ValueError);
  CHECK_THROWS_AS(log.row({1, "two\nlines"}), ValueError);
  CHECK(read_text(log.path()) == "epoch,loss\n");
  CHECK_THROWS_AS(CsvLogger(folder / "none.csv", {}), ValueError);
  CHECK_FALSE(std::filesystem::exists(folder / "none.csv"));
}

TEST_CASE("a log that cannot be written is an error with its reason, and a pipe does not wait for somebody at its other end") {
  const TemporaryFolder folder;
  const auto said = [&](const std::filesystem::path& path) { return refusal<IoError>(folder, [&] { CsvLogger(path, {"loss"}); }); };
  CHECK(said(folder / "missing/loss.csv") == "cannot open missing/loss.csv: No such file or directory");
  if (std::filesystem::exists("/dev/full")) CHECK(said("/dev/full") == "cannot write /dev/full: No space left on device");
  const auto pipe = folder / "loss.csv";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(said(pipe) == "cannot open loss.csv: is a pipe");
  CHECK_THROWS_AS(CsvLogger::resume(pipe, {"loss"}), IoError);
}

}  // namespace xgrad::kit::testing
