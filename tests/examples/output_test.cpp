// Folders, whole files and the result line.
#include <doctest/doctest.h>

#include <kit/error.h>
#include <kit/output.h>

#include "support.h"

using namespace kit;
using kit::testing::read_text;
using kit::testing::TemporaryFolder;
using kit::testing::write_text;

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
                       ("cannot make folder " + path.string() + ": Not a directory").c_str(), IoError);
}

TEST_CASE("files are replaced as a whole and leave nothing beside them") {
  const TemporaryFolder folder;
  const auto path = folder / "graph.dot";
  save_text(path, "old and long");
  save_text(path, "new");
  CHECK(read_text(path) == "new");
  CHECK_FALSE(std::filesystem::exists(folder / "graph.dot.tmp"));
  CHECK_THROWS_AS(save_text(folder / "missing/graph.dot", "x"), IoError);
}

TEST_CASE("the result line has names and values that a script can take apart") {
  ResultLine result;
  result.add("loss", 0.0311f).add("pairs", 600).add("out", "out/my run").add("note", "a \"b\" \\\n").add("empty", "");
  CHECK(result.text() == "result loss=0.0311 pairs=600 out=\"out/my run\" note=\"a \\\"b\\\" \\\\ \" empty=\"\"");
  CHECK_THROWS_AS(result.add("two words", 1), std::invalid_argument);
  CHECK_THROWS_AS(result.add("", 1), std::invalid_argument);
}
