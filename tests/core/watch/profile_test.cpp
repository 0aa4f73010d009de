// Tests of core/watch/profile.h: what a profile lists, its tables and its trace.
#include <xgrad/core/watch/profile.h>

#include <nlohmann/json.hpp>

#include <xgrad/core/base/scope.h>
#include <xgrad/core/files/file.h>
#include <xgrad/core/graph/grad.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/files.h"

namespace xgrad::testing {
namespace {

// Two operations, one in a module, and the backward pass.
void run_small() {
  const Tensor x = variable(normal({3, 4}), "x");
  Tensor y;
  {
    const Scope scope(intern("net.blocks.0", "Block"));
    y = tanh(x);
  }
  sum(y).backward();
}

TEST_CASE("a profile lists operations with their modules, then the gradients, without what these call") {
  Profile profile;
  run_small();
  std::vector<std::string> names;
  double end = 0;
  for (const Profile::Run& run : profile.runs()) {
    if (run.op == "graph") continue;
    names.push_back(cat(run.op, run.gradient ? "'" : "", ' ', run.path, ' ', run.shape, ' ', run.bytes));
    CHECK(run.begin >= end);
    end = run.begin + run.milliseconds;
  }
  CHECK(names == std::vector<std::string>{"tanh net.blocks.0 [3, 4] 96", "sum  [] 8", "sum'  [] 0",
                                          "tanh' net.blocks.0 [3, 4] 0"});
}

TEST_CASE("the tables of a profile count operations, and modules with everything in them") {
  Profile profile;
  run_small();
  run_small();
  const std::string text = to_string(profile);
  const auto has_line = [&](std::string_view name, std::string_view calls) {
    std::size_t begin = text.find(cat("\n", name, " "));
    if (begin == text.npos) return false;
    const std::string line = text.substr(begin + 1, text.find('\n', begin + 1) - begin - 1);
    const std::size_t digits = line.find_first_not_of(' ', name.size());
    return line.compare(digits, line.find(' ', digits) - digits, calls) == 0;
  };
  CHECK_MESSAGE(has_line("tanh", "2"), text);
  CHECK_MESSAGE(has_line("tanh'", "2"), text);
  CHECK_MESSAGE(has_line("net", "4"), text);
  CHECK_MESSAGE(has_line("net.blocks", "4"), text);
  CHECK_MESSAGE(has_line("net.blocks.0", "4"), text);
}

TEST_CASE("a profile without modules has one table, an empty one its head") {
  const Profile nothing;
  CHECK(to_string(nothing) == "operation       calls          ms    % of all          MB\n");
}

TEST_CASE("the trace of a profile has an event for each run, and is written to a file") {
  Profile profile;
  run_small();
  const TemporaryFolder folder;
  save_chrome_trace((folder / "trace.json").string(), profile);
  const auto json = nlohmann::json::parse(read_file((folder / "trace.json").string()));
  REQUIRE(json["traceEvents"].size() == profile.runs().size());
  CHECK(json["traceEvents"][0]["name"] == "tanh");
  CHECK(json["traceEvents"][0]["ph"] == "X");
  CHECK(json["traceEvents"][0]["cat"] == "forward");
  CHECK(json["traceEvents"][0]["args"]["module"] == "net.blocks.0");
  CHECK(json["traceEvents"].back()["cat"] == "backward");
  CHECK(json["traceEvents"].back()["ts"].get<double>() == doctest::Approx(profile.runs().back().begin * 1000));
  CHECK_THROWS_AS(save_chrome_trace((folder / "none" / "trace.json").string(), profile), IoError);
}

}  // namespace
}  // namespace xgrad::testing
