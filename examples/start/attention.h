// Stations 1 to 7 of docs/start, each a function that draws its graph and its picture: from a number that remembers to
// attention, masks, heads and positions.
#pragma once

#include <cmath>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/format.h>
#include <xgrad/kit/program/numbers.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

#include "../kernel_regression/regression.h"

namespace start {

using namespace xgrad;

/// Labels 1, 2, ..., n.
inline std::vector<std::string> counted(std::int64_t n) {
  std::vector<std::string> labels;
  for (std::int64_t i = 1; i <= n; ++i) labels.push_back(cat(i));
  return labels;
}

/// 1: a graph with its numbers, and the loss over one of its variables.
inline void number(const std::filesystem::path& out) {
  const Tensor w = variable(2, "w"), b = variable(1, "b");
  const Tensor x = Tensor(3).named("x"), y = Tensor(5).named("y");
  ValueRecorder values;
  const Tensor loss = square(w * x + b - y).named("loss");
  loss.backward();
  std::cout << "loss " << loss.item() << ", dL/dw " << w.grad().item() << ", dL/db " << b.grad().item() << "\n";
  save_graph(out / "01_graph.svg", {loss}, {.equations = true, .values = &values});

  kit::Series curve{.name = "loss"}, tangent{.name = "slope dL/dw at w = 2", .style = kit::Series::Style::dashed},
      here{.name = "here", .style = kit::Series::Style::points};
  for (double at = 0.5; at < 2.76; at += 0.05) {
    curve.x.push_back(at);
    curve.y.push_back(square(at * x + b - y).item());
  }
  for (const double at : {1.5, 2.0, 2.5}) {
    tangent.x.push_back(at);
    tangent.y.push_back(loss.item() + w.grad().item() * (at - w.item()));
  }
  here.x.push_back(w.item());
  here.y.push_back(loss.item());
  kit::save_text(out / "01_picture.svg",
                 kit::line_plot({curve, tangent, here}, {.title = "The loss, and what its gradient says",
                                                         .x_label = "w",
                                                         .y_label = "loss",
                                                         .width = 560,
                                                         .height = 320}));
}

/// 2: a bell, its slope, and the slope of its slope.
inline void second_derivative(const std::filesystem::path& out) {
  const auto derivatives = [](const Tensor& x) {
    const Tensor y = exp(square(x) / -2).named("y");
    const Tensor first = grad(y, {x}, {.create_graph = true})[0].named("y'");
    const Tensor second = grad(first, {x}, {.create_graph = true})[0].named("y''");
    return Tensors{y, first, second};
  };
  const Tensors at_2 = derivatives(variable(2, "x"));
  for (const Tensor& one : at_2) std::cout << one.name() << " " << one.item() << "\n";
  save_graph(out / "02_graph.svg", {at_2[1], at_2[2]}, {.formulas = true});

  std::vector<kit::Series> curves{{.name = "y"}, {.name = "y'"}, {.name = "y''"}};
  for (double at = -4; at < 4.01; at += 0.1) {
    const Tensors found = derivatives(variable(static_cast<Real>(at)));
    for (std::size_t i = 0; i < curves.size(); ++i) {
      curves[i].x.push_back(at);
      curves[i].y.push_back(found[i].item());
    }
  }
  kit::save_text(
      out / "02_picture.svg",
      kit::line_plot(curves, {.title = "A bell and its derivatives", .x_label = "x", .width = 560, .height = 320}));
}

/// 3: attention pooling: the average, a kernel, and a kernel whose width is learned.
inline void attention_pooling(const std::filesystem::path& out) {
  using kernel_regression::Samples, kernel_regression::observed, kernel_regression::asked;
  const Samples seen = observed(50), wanted = asked(50);
  seen.y.named("values");
  const Tensor w = variable(1, "w");
  const auto weights = [&](const Tensor& queries, const Mask& masked) {
    const Tensor distances = (queries - transpose(seen.x)).named("distances");  // (1, m, 1) - (1, 1, n) -> (1, m, n)
    return masked_softmax(square(w * distances) / -2, masked);
  };
  const auto pooled = [&] { return matmul(weights(wanted.x, Mask(Shape{}, false)), seen.y); };
  const Tensor fixed = pooled();

  const Mask itself = eye(50) == ones({1});
  optim::Adam adam{{w}, {.lr = 0.05}};
  for (int step = 0; step < 200; ++step) {
    const Tensor loss = mse_loss(matmul(weights(seen.x, itself), seen.y), seen.y);
    if (step == 0) save_graph(out / "03_graph.svg", {loss}, {.equations = true});
    adam.step(grad(loss, {w}));
  }
  const Tensor average = zeros(wanted.y.shape()) + mean(seen.y), learned = pooled();
  std::cout << "w " << w.item() << ", error of the average " << mse_loss(average, wanted.y).item() << ", of w = 1 "
            << mse_loss(fixed, wanted.y).item() << ", of the learned w " << mse_loss(learned, wanted.y).item() << "\n";

  const std::vector<double> x = kit::numbers(wanted.x.value());
  const auto line = [&](const std::string& name, const Tensor& y) {
    return kit::Series{.name = name, .x = x, .y = kit::numbers(y.value())};
  };
  kit::Series truth = line("truth", wanted.y);
  truth.style = kit::Series::Style::dashed;
  kit::save_text(out / "03_picture.svg",
                 kit::line_plot({{.name = "observed",
                                  .x = kit::numbers(seen.x.value()),
                                  .y = kit::numbers(seen.y.value()),
                                  .style = kit::Series::Style::points},
                                 truth,
                                 line("average", average),
                                 line("w = 1", fixed),
                                 line(cat("w = ", kit::fixed(w.item(), 2), ", learned"), learned)},
                                {.title = "Attention pooling", .x_label = "x", .y_label = "y", .height = 360}));
}

/// The largest of ten softmax weights, on average over many random queries and keys of this width.
inline double largest_weight(std::int64_t d, double scale) {
  const nn::DotProductAttention attn{nn::root, {.scale = scale}};
  const Tensor weights = attn.weights(randn({500, 1, d}), randn({500, 10, d}));
  return mean(max(weights, {.axis = -1})).item();
}

/// 4: scores, softmax, weighted sum with all numbers; two kinds of scores; why scores are divided by sqrt(d).
inline void scores(const std::filesystem::path& out) {
  {
    const Tensor q = variable({{2, 1}}, "q"), k = variable({{1, 0}, {0, 1}, {1, 1}}, "k");
    const Tensor v = tensor({{10}, {20}, {30}}).named("v");
    ValueRecorder values;
    const Tensor scores = (matmul(q, k, {.transpose_b = true}) / std::sqrt(2)).named("scores");
    const Tensor weights = softmax(scores).named("weights");
    const Tensor y = matmul(weights, v).named("y");
    y.backward();
    save_graph(out / "04_graph.svg", {y}, {.values = &values});
    std::cout << scores.value() << "\n" << weights.value() << "\n" << y.item() << "\n";
  }
  {
    const Tensor k = ones({2, 10, 2}), v = broadcast_to(reshape(to_real(arange(40)), {1, 10, 4}), {2, 10, 4});
    const nn::AdditiveAttention additive{nn::root, {.query = 20, .key = 2, .hidden = 8, .dropout = 0.1}};
    const nn::DotProductAttention dot_product{nn::root, {.dropout = 0.5}};
    const nn::Eval first(additive), second(dot_product);
    const AttentionMask lengths = nn::padding(index({2, 6}));
    std::cout << additive(randn({2, 1, 20}), k, v, lengths).value() << "\n"
              << dot_product(randn({2, 1, 2}), k, v, lengths).value() << "\n";
  }

  kit::Series plain{.name = "q k'", .style = kit::Series::Style::marked},
      scaled{.name = "q k' / sqrt(d)", .style = kit::Series::Style::marked};
  for (std::int64_t d = 1; d <= 512; d *= 2) {
    const double width = static_cast<double>(d);
    plain.x.push_back(width);
    plain.y.push_back(largest_weight(d, 1));
    scaled.x.push_back(width);
    scaled.y.push_back(largest_weight(d, 1 / std::sqrt(width)));
  }
  kit::save_text(out / "04_picture.svg",
                 kit::line_plot({plain, scaled}, {.title = "The largest of ten weights, random queries and keys",
                                                  .x_label = "d",
                                                  .y_label = "mean of the largest weight",
                                                  .x_scale = kit::Scale::log,
                                                  .width = 560,
                                                  .height = 320}));
}

/// 5: the softmax under lengths, and what each mask leaves of the same weights.
inline void masks(const std::filesystem::path& out) {
  const Tensor scores = rand({2, 2, 4});
  std::cout << masked_softmax(scores, index({2, 3})).value() << "\n"
            << masked_softmax(scores, index({{1, 3}, {2, 4}})).value() << "\n";
  const Tensor q = variable(randn({1, 6, 4}), "q"), k = variable(randn({1, 6, 4}), "k");
  const Tensor v = variable(randn({1, 6, 4}), "v");
  const Index lengths = index({4});
  const nn::DotProductAttention attn{nn::root};
  const Tensor y = attn(q, k, v, nn::causal & nn::padding(lengths)).named("y");
  save_graph(out / "05_graph.svg", {y}, {.equations = true});

  kit::HeatMaps maps{.title = "The same scores under four masks",
                     .queries = counted(6),
                     .keys = counted(6),
                     .scale = kit::HeatScale::shares};
  maps.panels.push_back({"none", kit::numbers(attn.weights(q, k).value())});
  maps.panels.push_back({"padding, 4 keys", kit::numbers(attn.weights(q, k, nn::padding(lengths)).value())});
  maps.panels.push_back({"causal", kit::numbers(attn.weights(q, k, nn::causal).value())});
  maps.panels.push_back(
      {"causal & padding", kit::numbers(attn.weights(q, k, nn::causal & nn::padding(lengths)).value())});
  kit::save_text(out / "05_picture.svg", kit::heat_map_svg(maps));
}

/// 6: five heads over two sequences of which 3 and 2 keys count.
inline void heads(const std::filesystem::path& out) {
  const nn::MultiHeadAttention attn{nn::root, 100, 5, {.dropout = 0.5}};
  const nn::Eval eval(attn);
  const Index lengths = index({3, 2});
  const Tensor x = ones({2, 4, 100}).named("x"), y = ones({2, 6, 100}).named("y");
  const Tensor z = attn(x, y, y, nn::padding(lengths)).named("z");
  std::cout << attn << cat(z.shape()) << "\n";
  save_graph(out / "06_graph.svg", {z}, {.depth = 0});

  nn::AttentionRecorder recorder;
  const Tensor keys = randn({2, 6, 100});
  attn(randn({2, 4, 100}), keys, keys, nn::padding(lengths));
  const Array weights = recorder.records().back().weights;  // (2, 5, 4, 6)
  kit::HeatMaps maps{.title = "Five heads, the first sequence: 3 of 6 keys count",
                     .queries = counted(4),
                     .keys = counted(6),
                     .columns = 5,
                     .scale = kit::HeatScale::shares};
  for (std::int64_t h = 0; h < 5; ++h) maps.panels.push_back({cat("head ", h + 1), kit::numbers(weights[{0, h}])});
  for (int i = 0; i < 24; ++i) maps.masked.push_back(i % 6 >= 3);
  kit::save_text(out / "06_picture.svg", kit::heat_map_svg(maps));
}

/// 7: the vectors of positions, and how alike they are.
inline void positions(const std::filesystem::path& out) {
  const nn::Embedding embedding{nn::root, 10, 32};
  const nn::SinusoidalPositions positions{nn::root, 32};
  const Index ids = index({{5, 2, 5}});
  const Tensor h = positions(embedding(ids) * std::sqrt(32)).named("h");
  save_graph(out / "07_graph.svg", {h});

  const Tensor p = nn::sinusoids(32, 32);
  const Array alike = matmul(p, p, {.transpose_b = true}).value();
  std::cout << alike.at({3, 5}) << " " << alike.at({20, 22}) << " " << alike.at({3, 20}) << "\n";
  std::vector<kit::Series> curves;
  for (const std::int64_t i : {8, 20}) {
    kit::Series& curve = curves.emplace_back();
    curve.name = cat("p(", i, ") . p(j)");
    for (std::int64_t j = 0; j < 32; ++j) {
      curve.x.push_back(static_cast<double>(j));
      curve.y.push_back(alike.at({i, j}));
    }
  }
  kit::save_text(
      out / "07_picture.svg",
      kit::line_plot(curves, {.title = "How alike positions are", .x_label = "j", .width = 560, .height = 320}));
}

}  // namespace start
