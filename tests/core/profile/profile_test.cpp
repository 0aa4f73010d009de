// Tests of core/profile/profile.h: what a profile lists, its tables and its trace.
#include <xgrad/core/profile/profile.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

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

std::int64_t calls(const Profile& profile, std::string_view what) {
  for (const Profile::Line& line : profile.lines()) {
    if (line.what == what) return line.calls;
  }
  return 0;
}

TEST_CASE("a profile lists operations with their modules, then the gradients, without what these call") {
  Profile profile;
  run_small();
  std::vector<std::string> names;
  double end = 0;
  for (const Profile::Run& run : profile.runs()) {
    if (run.op == "graph") continue;
    names.push_back(str(run.op, run.gradient ? "'" : "", ' ', run.path, ' ', run.shape, ' ', run.bytes));
    CHECK(run.begin >= end);
    end = run.begin + run.milliseconds;
  }
  CHECK(names == std::vector<std::string>{"tanh net.blocks.0 [3, 4] 96", "sum  [] 8", "sum'  [] 0",
                                          "tanh' net.blocks.0 [3, 4] 0"});
  const NoGrad off;
  tanh(Array({2}, Real(1)));
  CHECK(profile.runs().back().op == "tanh");
  CHECK(profile.runs().back().node == 0);
}

TEST_CASE("a profile counts operations and their gradients, each under its name") {
  const Tensor x = variable(2), y = variable(3);
  Profile profile;
  const Tensor z = tanh(x * y) + x * x;
  CHECK(calls(profile, "mul") == 2);
  CHECK(calls(profile, "tanh") == 1);
  CHECK(calls(profile, "mul'") == 0);
  grad(z, {x, y});
  CHECK(calls(profile, "mul'") == 2);
  CHECK(calls(profile, "add'") == 1);
  CHECK(calls(profile, "mul") == 2);  // what a gradient calls counts as the gradient
  for (const Profile::Line& line : profile.lines()) CHECK(line.milliseconds >= 0);
}

TEST_CASE("what a rule computes without operations counts as its gradient") {
  struct Onlooker : Observer {  // shown what a rule gave, which ends no time
    int gradients = 0;
    void gradient(const Node&, std::size_t, const Tensor&) override { ++gradients; }
  };
  const Tensor x = variable(2);
  const Tensor y = record("slow", Array(Shape{}, 1), wrt(x, [](const Tensor& gy) {
                            std::this_thread::sleep_for(std::chrono::milliseconds(20));
                            return gy;
                          }));
  Onlooker onlooker;
  Profile profile;
  grad(y, {x});
  CHECK(onlooker.gradients == 1);
  for (const Profile::Line& line : profile.lines()) {
    if (line.what == "slow'") CHECK(line.milliseconds >= 20);
  }
  CHECK(calls(profile, "slow'") == 1);
}

TEST_CASE("profiles that live at the same time count the same, and go on after an error") {
  const Tensor x = variable(2);
  const Tensor broken = record("broken", Array(Shape{}, 1),
                               wrt(x, [](const Tensor&) -> Tensor { fail<ValueError>("broken", "on purpose"); }));
  Profile outer;
  {
    Profile inner;
    exp(x);
    CHECK(calls(inner, "exp") == 1);
  }
  CHECK(calls(outer, "exp") == 1);
  CHECK_THROWS_AS(grad(broken, {x}), ValueError);
  exp(x);
  CHECK(calls(outer, "exp") == 2);
}

TEST_CASE("a profile that is made or ends within a rule counts what it sees") {
  const Tensor x = variable(2);
  auto ending = std::make_unique<Profile>();
  std::unique_ptr<Profile> made;
  const Tensor y = record("swap", Array(Shape{}, 1), wrt(x, [&](const Tensor& gy) {
                            ending.reset();
                            made = std::make_unique<Profile>();
                            return gy * 3;
                          }));
  CHECK(grad(y, {x})[0].item() == 3);
  CHECK(calls(*made, "mul") == 1);
  CHECK(calls(*made, "swap'") == 0);
  exp(x);
  CHECK(calls(*made, "exp") == 1);
}

TEST_CASE("a profile without modules has one table, an empty one its head") {
  const Profile nothing;
  CHECK(to_string(nothing) == "operation       calls          ms    % of all          MB\n");
}

TEST_CASE("a profile adds up its times, the longest first, with their share of all and the megabytes of results") {
  Profile profile;
  const Place* const block = intern("net.block");
  const Tensor result{Array({250, 1000}, Real(1))};
  constexpr std::int64_t millisecond = 1'000'000;
  const auto run = [&](const char* op, const Place* place, std::int64_t spent) {
    profile.operation({op, result, {}, {}, place, nullptr, spent});
  };
  run("short", block, 2 * millisecond);
  run("an operation that is long", nullptr, 5 * millisecond);
  run("short", nullptr, millisecond);
  profile.event("adam", 2 * millisecond);
  std::vector<double> begins;
  for (const Profile::Run& each : profile.runs()) begins.push_back(each.begin);
  CHECK(begins == std::vector<double>{0, 2, 7, 8});
  CHECK(profile.runs()[1].bytes == 250'000 * static_cast<std::int64_t>(sizeof(Real)));
  CHECK(to_string(profile) ==
        "operation                       calls          ms    % of all          MB\n"
        "an operation that is long           1           5          50           2\n"
        "short                               2           3          30           4\n"
        "adam                                1           2          20           0\n"
        "\n"
        "module          calls          ms    % of all          MB\n"
        "net                 1           2          20           2\n"
        "net.block           1           2          20           2\n");
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
  CHECK(json["traceEvents"][0]["args"]["shape"] == "[3, 4]");
  CHECK(json["traceEvents"][0]["args"]["bytes"] == 12 * sizeof(Real));
  CHECK(json["traceEvents"][0]["dur"].get<double>() == doctest::Approx(profile.runs()[0].milliseconds * 1000));
  CHECK(json["displayTimeUnit"] == "ms");
  CHECK(json["traceEvents"].back()["cat"] == "backward");
  CHECK(json["traceEvents"].back()["ts"].get<double>() == doctest::Approx(profile.runs().back().begin * 1000));
  CHECK_THROWS_AS(save_chrome_trace((folder / "none" / "trace.json").string(), profile), IoError);
}

}  // namespace
}  // namespace xgrad::testing
