// Rows of numbers in a file.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/data/csv.h>
#include <xgrad/kit/program/error.h>

#include "support.h"

using namespace xgrad::kit;
using xgrad::kit::testing::read_text;
using xgrad::kit::testing::TemporaryFolder;
using xgrad::kit::testing::write_text;

TEST_CASE("a logger writes a header and rows, each at once") {
  const TemporaryFolder folder;
  const testing::CommaLocale commas;
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
  SUBCASE("all of them") {
    write_text(path, "epoch,loss\n1,3\n2,2\n");
    CsvLogger::resume(path, {"epoch", "loss"}).row({3, 1});
    CHECK(read_text(path) == "epoch,loss\n1,3\n2,2\n3,1\n");
  }
  SUBCASE("those before the checkpoint") {
    write_text(path, "epoch,loss\n1,3\n2,2\n3,1\n");
    CsvLogger::resume(path, {"epoch", "loss"}, 1).row({2, 9});
    CHECK(read_text(path) == "epoch,loss\n1,3\n2,9\n");
  }
  SUBCASE("without a line that a crash cut short") {
    write_text(path, "epoch,loss\n1,3\n2,");
    CsvLogger::resume(path, {"epoch", "loss"}).row({2, 2});
    CHECK(read_text(path) == "epoch,loss\n1,3\n2,2\n");
  }
  SUBCASE("none, if there is no file or no whole header") {
    if (std::filesystem::exists(path)) std::filesystem::remove(path);
    CsvLogger::resume(path, {"epoch", "loss"}).row({1, 3});
    CHECK(read_text(path) == "epoch,loss\n1,3\n");
    write_text(path, "epo");
    CsvLogger::resume(path, {"epoch", "loss"}).row({1, 3});
    CHECK(read_text(path) == "epoch,loss\n1,3\n");
  }
}

TEST_CASE("a log with other columns is left alone") {
  const TemporaryFolder folder;
  const auto path = write_text(folder / "loss.csv", "step,loss\n1,3\n");
  CHECK_THROWS_WITH_AS(CsvLogger::resume(path, {"epoch", "loss"}),
                       (path.string() + ":1: the columns are not epoch,loss").c_str(), DataError);
  CHECK(read_text(path) == "step,loss\n1,3\n");
}

TEST_CASE("rows that do not fit are refused before anything is written") {
  const TemporaryFolder folder;
  CsvLogger log(folder / "loss.csv", {"epoch", "loss"});
  CHECK_THROWS_WITH_AS(log.row({1}), "csv: 1 values for 2 columns", xgrad::ValueError);
  CHECK_THROWS_AS(log.row({1, "two\nlines"}), xgrad::ValueError);
  CHECK(read_text(log.path()) == "epoch,loss\n");
  CHECK_THROWS_AS(CsvLogger(folder / "none.csv", {}), xgrad::ValueError);
  CHECK_FALSE(std::filesystem::exists(folder / "none.csv"));
}

TEST_CASE("a log that cannot be written is an error with its reason") {
  const TemporaryFolder folder;
  const auto path = folder / "missing/loss.csv";
  CHECK_THROWS_WITH_AS(CsvLogger(path, {"loss"}),
                       ("cannot open " + path.string() + ": No such file or directory").c_str(), xgrad::IoError);
  if (std::filesystem::exists("/dev/full")) {
    CHECK_THROWS_WITH_AS(CsvLogger("/dev/full", {"loss"}), "cannot write /dev/full: No space left on device",
                         xgrad::IoError);
  }
}

TEST_CASE("a pipe where the log should be is an error instead of a wait for somebody at its other end") {
  const TemporaryFolder folder;
  const auto path = folder / "loss.csv";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(CsvLogger(path, {"loss"}), ("cannot open " + path.string() + ": is a pipe").c_str(),
                       xgrad::IoError);
  CHECK_THROWS_AS(CsvLogger::resume(path, {"loss"}), xgrad::IoError);
}
