// Folders, whole files and the result line.
#include <doctest/doctest.h>

#include <iterator>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/program/output.h>

#include "support.h"

using namespace xgrad::kit;
using xgrad::kit::testing::read_text;
using xgrad::kit::testing::TemporaryFolder;
using xgrad::kit::testing::write_text;

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
  CHECK_THROWS_WITH_AS(output_folder("translate", path),
                       ("cannot make folder " + path.string() + ": Not a directory").c_str(), xgrad::IoError);
}

TEST_CASE("a folder that takes no files is an error before anything is computed, and one that does stays as it was") {
  if (std::filesystem::is_directory("/proc/self"))
    CHECK_THROWS_AS(output_folder("translate", "/proc/self"), xgrad::IoError);
  const TemporaryFolder folder;
  output_folder("translate", folder.path());
  CHECK(std::filesystem::is_empty(folder.path()));
  if (geteuid() != 0) {  // to root, nothing is forbidden
    std::filesystem::permissions(folder.path(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    CHECK_THROWS_AS(output_folder("translate", folder.path()), xgrad::IoError);
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  }
}

TEST_CASE("files are replaced as a whole and leave nothing beside them") {
  const TemporaryFolder folder;
  const auto path = folder / "graph.dot";
  save_text(path, "old and long");
  save_text(path, "new");
  CHECK(read_text(path) == "new");
  CHECK_THROWS_AS(save_text(folder / "missing/graph.dot", "x"), xgrad::IoError);
  std::filesystem::create_directory(folder / "folder");
  CHECK_THROWS_AS(save_text(folder / "folder", "x"), xgrad::IoError);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("the result line has names and values that a script can take apart") {
  ResultLine result;
  result.add("loss", 0.0311f).add("pairs", 600).add("out", "out/my run").add("note", "a \"b\" \\\n").add("empty", "");
  CHECK(result.text() == "result loss=0.0311 pairs=600 out=\"out/my run\" note=\"a \\\"b\\\" \\\\ \" empty=\"\"");
  CHECK_THROWS_AS(result.add("two words", 1), xgrad::ValueError);
  CHECK_THROWS_AS(result.add("", 1), xgrad::ValueError);
}
