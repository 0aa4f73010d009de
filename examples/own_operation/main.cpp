// An operation of your own: the loss ln(1 + r^2), whose kernel is an xtensor expression and whose rule is one line. It
// is checked against differences, drawn, and used: a line through data of which every fifth number is wrong.
//
//   examples/run own_operation [--samples N] [--steps N] [--lr RATE] [--seed N] [--out FOLDER]
#include <cmath>
#include <iostream>

#include <xgrad/core/array/xtensor_functions.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

namespace {

using namespace xgrad;

struct Config {
  std::int64_t samples = 60;
  std::int64_t steps = 400;
  double learning_rate = 0.05;
};

/// y = ln(1 + x^2)      dy/dx = 2 x / (1 + x^2)
/// As a loss of errors x it is that of Cauchy's distribution: large ones hardly count for more than middling ones.
Tensor log1p_square(const Tensor& x) {
  return record("log1p_square", xt::log1p(xt::square(view(x.value()))),
                wrt(x, [x](const Tensor& gy) { return gy * 2 * x / (1 + square(x)); }));
}

/// The largest difference between dy/dx and (y(x + h) - y(x - h)) / 2h.
Real check(const Tensor& x) {
  constexpr Real h = sizeof(Real) == 4 ? Real(1e-2) : Real(1e-5);
  const Tensor differences = (log1p_square(x + h) - log1p_square(x - h)) / (2 * h);
  return max(abs(grad(sum(log1p_square(x)), {x})[0] - differences)).item();
}

/// y = 2 x - 1 with a little noise, but every fifth is 8 too high.
Tensor observed(const Tensor& x) {
  const Mask wrong = view(arange(x.size())) % 5 == 0;
  return 2 * x - 1 + randn(x.shape()) * Real(0.2) + 8 * to_real(wrong);
}

struct Line : nn::Module {
  const Tensor slope = param("slope", {}, nn::init::zeros()), offset = param("offset", {}, nn::init::zeros());

  Tensor operator()(const Tensor& x) const { return slope * x + offset; }
};

/// Trains a line with this loss of the errors.
template <class Loss>
void fit(const Config& config, const Line& line, const Tensor& x, const Tensor& y, const Loss& loss) {
  optim::Adam adam{line.parameters(), {.lr = config.learning_rate}};
  kit::Trainer trainer{line, adam, {}};
  trainer.fit(config.steps, [&] { return mean(loss(line(x) - y)); });
}

void run(const Config& config, kit::Example& example) {
  const Tensor probes = variable(linspace(-3, 3, 13), "x");
  const Tensor value = log1p_square(probes), first = grad(sum(value), {probes}, {.create_graph = true})[0];
  save_graph(example.out / "gradient.svg", {first}, {.title = "the gradient, recorded"});
  const Real off_by = check(probes);

  const Tensor x = linspace(-3, 3, config.samples), y = observed(x);
  const Line squares, robust;
  fit(config, squares, x, y, [](const Tensor& r) { return square(r); });
  fit(config, robust, x, y, log1p_square);

  const NoGrad off;
  kit::save(example.out / "lines.svg",
            kit::line_plot({{.name = "observed", .x = x, .y = y, .style = kit::Series::Style::points},
                            {.name = "truth", .x = x, .y = 2 * x - 1, .style = kit::Series::Style::dashed},
                            {.name = "squared errors", .x = x, .y = squares(x)},
                            {.name = "ln(1 + r²)", .x = x, .y = robust(x)}},
                           {.title = "A line through data with errors", .x_label = "x", .y_label = "y"}));

  std::cout << "gradient and differences differ by " << kit::number(off_by) << " at most\n"
            << "truth            2.00 x - 1.00\n";
  const auto report = [&](const char* name, const char* key, const Line& line) {
    const Real slope = line.slope.item(), offset = line.offset.item();
    std::cout << name << kit::fixed(slope, 2) << " x " << (offset < 0 ? "- " : "+ ") << kit::fixed(std::abs(offset), 2)
              << "\n";
    example.result.add(str(key, "_slope"), slope).add(str(key, "_offset"), offset);
  };
  report("squared errors   ", "squares", squares);
  report("ln(1 + r^2)      ", "robust", robust);
  example.result.add("gradient_error", off_by);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.integer("--samples", c.samples, "observations", 2, 10'000);
    o.integer("--steps", c.steps, "training steps", 1, 1'000'000);
    o.real("--lr", c.learning_rate, "learning rate", 1e-9, 1000);
  };
  return kit::main<Config>(argc, argv, "own_operation",
                           "An operation of your own, and a loss that is robust against outliers.", options, run);
}
