// The kinds of attention side by side: the weights that each gives to the same queries and keys, the graph of each
// score, and what a forward and a backward pass cost in time and memory as sequences get longer. The pictures of
// docs/topics/attention.md.
//
//   docs/tools/run attention_kinds [--longest T] [--seed N] [--out FOLDER]
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>

#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/files/csv.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/progress.h>
#include <xgrad/xgrad.h>

#include "experiments.h"

namespace {

using namespace xgrad;

struct Config {
  std::int64_t longest = 8192;
};

constexpr std::int64_t d = 4;

// The weights that linear attention would have if it computed them.
Tensor linear_weights(const Tensor& q, const Tensor& k) {
  const Tensor products = matmul(elu(q) + 1, elu(k) + 1, {.transpose_b = true});
  return products / sum(products, -1, {.keepdim = true});
}

void draw_weights(const std::filesystem::path& out) {
  constexpr std::int64_t T = 12;
  // A walk: positions near each other are alike.
  const Tensor x = cumsum(randn({1, T, d}), 1);
  const Tensor q = x, k = x;
  const nn::DotProductAttention plain{nn::root, {.scale = 1}}, scaled{nn::root};
  const nn::BilinearAttention bilinear{nn::root, {.query = d, .key = d}};
  const nn::AdditiveAttention additive{nn::root, {.query = d, .key = d, .hidden = 8}};
  const nn::GaussianAttention gaussian{nn::root};
  const nn::BandAttention windowed{nn::root, {.before = 2, .after = 1}};

  kit::HeatMaps maps{.title = "The same queries and keys", .columns = 3, .scale = kit::HeatScale::shares};
  for (std::int64_t t = 1; t <= T; ++t) maps.queries.push_back(str(t));
  maps.keys = maps.queries;
  const auto add = [&](const char* title, const Tensor& weights) { maps.panels.push_back({title, weights}); };
  add("dot product", plain.weights(q, k));
  add("scaled dot product", scaled.weights(q, k));
  add("bilinear, at random", bilinear.weights(q, k));
  add("additive, at random", additive.weights(q, k));
  add("Gaussian", gaussian.weights(q, k));
  add("linear", linear_weights(q, k));
  add("scaled, causal", scaled.weights(q, k, nn::causal));
  add("scaled, 8 of 12 valid", scaled.weights(q, k, nn::padding(index({8}))));
  add("scaled, window 2 + 1", windowed.weights(q, k));
  kit::save(out / "attention_kinds.svg", kit::heat_map_svg(maps));
}

void draw_scores(const std::filesystem::path& out) {
  // Without parameters there is nothing to record: here gradients flow to the inputs.
  const Tensor q = variable(zeros({1, 3, d}).value(), "q"), k = variable(zeros({1, 5, d}).value(), "k");
  struct Model : nn::Module {
    nn::DotProductAttention scaled{at("scaled")};
    nn::BilinearAttention bilinear{at("bilinear"), {.query = d, .key = d}};
    nn::AdditiveAttention additive{at("additive"), {.query = d, .key = d, .hidden = 8}};
    nn::GaussianAttention gaussian{at("gaussian"), {.trained = true}};
  } model;
  const auto draw = [&](const char* name, const char* title, const nn::AttentionPooling& attn) {
    const Scope scope(intern(attn.path()));
    save_graph((out / str("attention_", name, ".svg")).string(), {attn.score(q, k).named("score")},
               {.title = title, .legend = false});
  };
  draw("scaled", "Scaled dot product", model.scaled);
  draw("bilinear", "Bilinear", model.bilinear);
  draw("additive", "Additive", model.additive);
  draw("gaussian", "Gaussian", model.gaussian);

  const Tensor keys = variable(zeros({1, 130, d}).value(), "k"), queries = variable(zeros({1, 130, d}).value(), "q"),
               values = variable(zeros({1, 130, 3}).value(), "v");
  save_graph((out / "attention_linear.svg").string(), {linear_attention(queries, keys, values, 1).named("y")},
             {.title = "Linear attention", .direction = Direction::left_to_right, .legend = false});
  save_graph((out / "attention_linear_causal.svg").string(),
             {linear_attention(queries, keys, values, 1, {.causal = true}).named("y")},
             {.title = "Causal linear attention of 130 positions", .legend = false});
}

using Attend = std::function<Tensor(const Tensor& q, const Tensor& k, const Tensor& v)>;

struct Cost {
  double milliseconds = 0;  // of a forward and a backward pass
  double megabytes = 0;     // that the graph keeps between them
};

// The best of several runs on sequences of T positions, 64 wide.
Cost cost_of(const Attend& attend, std::int64_t T) {
  const auto input = [&] { return variable(randn({1, T, 64}).value()); };
  const Tensor q = input(), k = input(), v = input(), seed = randn({1, T, 64});
  Cost least{.milliseconds = 1e30};
  for (int run = 0; run < 3; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t before = pool_stats().bytes_in_use;
    const Tensor y = attend(q, k, v);
    const std::int64_t kept = pool_stats().bytes_in_use - before;
    (void)grad(y, {q, k, v}, {.seed = seed});
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    least = {std::min(least.milliseconds, took.count()), static_cast<double>(kept) / (1 << 20)};
  }
  return least;
}

void draw_costs(const std::filesystem::path& out, std::int64_t longest) {
  const nn::DotProductAttention full{nn::root};
  const nn::BandAttention windowed{nn::root, {.before = 64, .after = 63}};
  const std::vector<std::pair<std::string, Attend>> kinds{
      {"full", [&](const Tensor& q, const Tensor& k, const Tensor& v) { return full(q, k, v); }},
      {"window of 128", [&](const Tensor& q, const Tensor& k, const Tensor& v) { return windowed(q, k, v); }},
      {"linear", [](const Tensor& q, const Tensor& k, const Tensor& v) { return linear_attention(q, k, v, 1); }},
      {"linear, causal", [](const Tensor& q, const Tensor& k, const Tensor& v) {
         return linear_attention(q, k, v, 1, {.causal = true});
       }}};
  std::vector<kit::Series> time, memory;
  kit::CsvLogger log(out / "costs.csv", {"kind", "positions", "milliseconds", "megabytes"});
  std::int64_t total = 0, done = 0;
  for (std::int64_t T = 256; T <= longest; T *= 2) total += std::ssize(kinds);
  kit::ProgressBar bar({.total = total, .title = "measuring"});
  for (const auto& [name, attend] : kinds) {
    time.push_back({.name = name, .style = kit::Series::Style::marked});
    memory.push_back(time.back());
    for (std::int64_t T = 256; T <= longest; T *= 2) {
      const Cost cost = cost_of(attend, T);
      log.row({name, T, cost.milliseconds, cost.megabytes});
      for (kit::Series* series : {&time.back(), &memory.back()}) series->x.push_back(static_cast<double>(T));
      time.back().y.push_back(cost.milliseconds);
      memory.back().y.push_back(cost.megabytes);
      bar.update(++done, {{"kind", name}, {"T", T}});
    }
  }
  bar.finish();
  const auto panel = [](const std::vector<kit::Series>& series, const char* title, const char* unit) {
    return kit::PlotPanel{.series = series,
                          .title = title,
                          .x_label = "positions",
                          .y_label = unit,
                          .x_scale = kit::Scale::log,
                          .y_scale = kit::Scale::log};
  };
  kit::save(out / "attention_costs.svg", kit::panel_plot({panel(time, "Forward and backward pass", "milliseconds"),
                                                          panel(memory, "Kept for the backward pass", "megabytes")},
                                                         {.title = "Cost of attention: a square grows with slope 2"}));
  for (std::size_t i = 0; i < time.size(); ++i) {
    std::cout << time[i].name << ": " << kit::fixed(time[i].y.front(), 2) << " ms and "
              << kit::fixed(memory[i].y.front(), 2) << " MB at T = 256, " << kit::fixed(time[i].y.back(), 2)
              << " ms and " << kit::fixed(memory[i].y.back(), 2) << " MB at T = " << longest << "\n";
  }
}

}  // namespace

int experiments::attention_kinds(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.integer("--longest", c.longest, "positions of the longest sequence", 256, 65536);
  };
  const auto run = [](const Config& config, kit::Example& example) {
    draw_weights(example.out);
    draw_scores(example.out);
    draw_costs(example.out, config.longest);
  };
  return kit::main<Config>(argc, argv, "attention_kinds",
                           "The kinds of attention: their weights, their graphs, their costs.", options, run);
}
