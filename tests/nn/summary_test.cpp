// Tests of nn/diagnostics/summary.h: its numbers are those of diagrams and counts, its table is readable.
#include <xgrad/xgrad.h>

#include <xgrad/core/runtime/memory.h>

#include "support/check.h"

namespace xgrad::nn {
namespace {

using namespace testing;

struct Mlp : Module {
  Linear fc1{at("fc1"), 4, 8};
  Linear fc2{at("fc2"), 8, 2};

  Tensor operator()(const Tensor& x) const {
    const auto here = enter(x);
    return here(fc2(tanh(fc1(x))));
  }
};

TEST_CASE("a summary has a row for each module, with what it gives out, holds and costs") {
  const Mlp model;
  const Profile profile;  // sees the same times
  const ModelSummary of_model = summary(model, Tensor(normal({16, 4})));
  REQUIRE(of_model.rows.size() == 3);
  const ModelSummary::Row &whole = of_model.rows[0], &fc1 = of_model.rows[1], &fc2 = of_model.rows[2];
  CHECK(whole.name == "Mlp");
  CHECK(*whole.output == Shape{16, 2});
  CHECK(whole.parameters == 40 + 18);
  CHECK(whole.multiply_adds == 16 * (4 * 8 + 8 * 2));
  CHECK(fc1.name == "fc1");
  CHECK(fc1.what == "Linear 4 -> 8");
  CHECK(fc1.level == 1);
  CHECK(*fc1.output == Shape{16, 8});
  CHECK(fc1.multiply_adds == 16 * 4 * 8);
  CHECK(fc2.parameters == 18);
  const auto spent = [&](std::string_view path) {
    double sum = 0;
    for (const Profile::Run& run : profile.runs()) sum += run.path.starts_with(path) ? run.milliseconds : 0;
    return sum;
  };
  CHECK(profile.runs().size() == 3);
  CHECK(whole.milliseconds == doctest::Approx(spent("")));
  CHECK(fc1.milliseconds == doctest::Approx(spent("fc1")));
  CHECK(fc2.milliseconds == doctest::Approx(spent("fc2")));
}

TEST_CASE("a summary changes no statistics, no random numbers and no mode") {
  struct Net : Module {
    Linear map{at("map"), 3, 4};
    BatchNorm1d norm{at("norm"), 4};
    Dropout dropout{at("dropout"), 0.5};
    Tensor operator()(const Tensor& x) const {
      const auto here = enter(x);
      return here(dropout(norm(map(x))));
    }
  } net;
  const NamedArrays before = net.state_dict();
  const RandomState random = random_state();
  Tensor last = Tensor(normal({5, 3}));
  const ModelSummary table = summary(net, [&] { return net(last + Tensor(random_normal({5, 3}, next_random_key()))); });
  CHECK(table.rows.size() == 4);
  CHECK(random_state() == random);
  CHECK(net.dropout.training());
  for (const char* name : {"norm.running_mean", "norm.running_var"}) {
    CHECK(equal(std::get<Array>(net.state_dict().at(name)), std::get<Array>(before.at(name))));
  }
  CHECK(net.norm.num_batches_tracked.item() == 0);
  CHECK_THROWS_AS(summary(net, [&]() -> Tensor {
                    next_random_key();
                    throw ValueError("in the model");
                  }), ValueError);
  CHECK(random_state() == random);
  CHECK(net.norm.training());
}

TEST_CASE("a summary leaves no hook behind") {
  // A module with a hook keeps its input for it while it runs.
  struct Probe : Module {
    Linear fc{at("fc"), 4, 2};
    mutable std::int64_t bytes_in_use = 0;

    Tensor operator()(Tensor x) const {
      const auto here = enter(x);
      const Tensor y = fc(x);
      x = Tensor();
      bytes_in_use = pool_stats().bytes_in_use;
      return here(y);
    }
  };
  const Probe probe;
  const auto held = [&] {
    const NoGrad off;
    probe(Tensor(normal({1000, 4})));
    return probe.bytes_in_use;
  };
  const std::int64_t without = held();
  const auto hook = probe.on_forward([](const ForwardCall&) {});
  CHECK(held() > without);
  probe.remove_hook(hook);
  CHECK(held() == without);
  summary(probe, Tensor(normal({1000, 4})));
  CHECK(held() == without);
  CHECK_THROWS_AS(summary(probe, Tensor(normal({3, 5}))), ShapeError);
  CHECK(held() == without);
}

TEST_CASE("a summary's numbers are those of diagrams and of count_operations") {
  const Gpt model(root, {.vocabulary = 11, .context = 8, .dim = 12, .heads = 2, .layers = 3});
  const Index ids({2, 8}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 1, 2, 3, 4});
  const ModelSummary of_model = summary(model, ids);
  CHECK(of_model.rows[0].parameters == model.num_parameters());
  const Tensor y = model(ids);
  CHECK(of_model.rows[0].multiply_adds == count_operations({y}));
  std::int64_t kept = 0;
  const GraphView folded = GraphView::of({y}, {.depth = 0, .roll_up = false});
  for (const GraphVertex& vertex : folded.vertices) kept += vertex.totals.saved_bytes;
  CHECK(of_model.rows[0].saved_bytes == kept);
}

TEST_CASE("a summary is a table") {
  const Mlp model;
  std::string text = to_string(summary(model, [&] { return sum(model(Tensor(normal({16, 4})))); }));
  std::string without_times;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    std::string line = text.substr(begin, text.find('\n', begin) - begin);
    line.resize(line.find_last_not_of(' ', line.rfind("  ")) + 1);
    append(without_times, line + "\n");
  }
  CHECK(without_times ==
        "module                output   parameters  multiply-adds  keeps\n"
        "Mlp                   [16, 2]          58            768  1 KiB\n"
        "  fc1: Linear 4 -> 8  [16, 8]          40            512    0 B\n"
        "  fc2: Linear 8 -> 2  [16, 2]          18            256    0 B\n");
}

TEST_CASE("a summary refuses a model without gradient, and passes on what the run throws") {
  const Mlp model;
  CHECK_REFUSED(GraphError, summary(model, [] { return Tensor(1); }), "summary", "model's result depends");
  CHECK_THROWS_AS(summary(model, Tensor(normal({3, 5}))), ShapeError);
  CHECK_REFUSED(ValueError, summary(model, std::function<Tensor()>()), "summary");
}

TEST_CASE("a profile's times are an overlay of diagrams") {
  const Mlp model;
  Profile profile;
  const Tensor loss = sum(model(Tensor(normal({16, 4}))));
  loss.backward();
  double total = 0;
  for (const Profile::Run& run : profile.runs()) total += run.node == 0 ? 0 : run.milliseconds;
  const GraphView view = GraphView::of({loss}, {.depth = 0, .overlay = time_overlay(profile)});
  double shown = 0;
  for (const GraphVertex& vertex : view.vertices) shown += vertex.totals.overlay.value_or(0);
  CHECK(shown == doctest::Approx(total));
  CHECK(total > 0);
}

}  // namespace
}  // namespace xgrad::nn
