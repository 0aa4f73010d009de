// Station 4, scores and softmax: one query looks at three keys, and why scores are divided by the root of the width.
//
//   04_scores [FOLDER]   writes its pictures into the folder, or into the current one
#include <cmath>
#include <filesystem>
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

int main(int argc, char** argv) {
  const std::filesystem::path out = argc > 1 ? argv[1] : ".";
  manual_seed(1);
  {
    const Tensor q = variable({{2, 1}}, "q"), k = variable({{1, 0}, {0, 1}, {1, 1}}, "k");
    const Tensor v = tensor({{10}, {20}, {30}}).named("v");
    ValueRecorder values;
    const Tensor scores = (matmul(q, k, {.transpose_b = true}) / std::sqrt(2)).named("scores");
    const Tensor weights = softmax(scores).named("weights");
    const Tensor y = matmul(weights, v).named("y");
    y.backward();
    std::cout << "scores " << scores.value() << "\nweights " << weights.value() << "\ny " << y.item() << "\n";
    save_graph(out / "04_graph.svg", {y}, {.values = &values});
  }

  const auto largest = [](const Tensor& scores) { return mean(max(softmax(scores), Axes{-1})).item(); };
  kit::Series plain{.name = "q · k", .style = kit::Series::Style::marked};
  kit::Series scaled{.name = "q · k / √d", .style = kit::Series::Style::marked};
  for (std::int64_t d = 1; d <= 512; d *= 2) {
    const Tensor queries = randn({500, 1, d}), keys = randn({500, 10, d});
    const Tensor scores = matmul(queries, keys, {.transpose_b = true});  // (500, 1, 10)
    plain.x.push_back(static_cast<double>(d));
    plain.y.push_back(largest(scores));
    scaled.x.push_back(static_cast<double>(d));
    scaled.y.push_back(largest(scores / std::sqrt(d)));
  }
  std::cout << "largest of ten weights at d = 512: " << plain.y.back() << ", scaled " << scaled.y.back() << "\n";
  kit::save(out / "04_picture.svg",
            kit::line_plot({plain, scaled}, {.title = "The largest of ten weights, random queries and keys",
                                             .x_label = "d",
                                             .y_label = "mean of the largest weight",
                                             .x_scale = kit::Scale::log,
                                             .width = 560,
                                             .height = 320}));
  return 0;
}
