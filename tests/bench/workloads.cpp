// The workloads that engines are compared on, each written as a user would write it.
//
//   tests/bench/run W1 [threads] [steps]
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>

#include <xgrad/xgrad.h>

#include "measure.h"

using namespace xgrad;

namespace {

// A model with its optimizer and one fixed batch: what a workload's step closes over.
template <class Model, class Optimizer>
struct Training {
  Model model;
  Optimizer optimizer;

  template <class... Arguments>
  explicit Training(const typename Optimizer::Options& options, Arguments&&... arguments)
      : model(std::forward<Arguments>(arguments)...), optimizer(model.parameters(), options) {}

  double step(const Tensor& loss) {
    optimizer.step(grad(loss, model.parameters()));
    return loss.item();
  }
};

// ---- W1: translation transformer, 2 + 2 layers of width 32, batch 64, 10 + 10 positions

struct Translator : nn::Module {
  static constexpr std::int64_t source_words = 200, target_words = 210;
  static nn::TransformerOptions options() {
    return {.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0, .max_length = 64};
  }
  nn::Encoder encoder{at("encoder"), source_words, options()};
  nn::Decoder decoder{at("decoder"), target_words, options()};

  Tensor operator()(const Index& source, const Index& lengths, const Index& target) const {
    const AttentionMask words = nn::padding(lengths);
    return decoder(target, encoder(source, words), words);
  }
};

bench::Workload w1(bench::Data& data) {
  constexpr std::int64_t B = 64, T = 10;
  auto training = std::make_shared<Training<Translator, optim::Adam>>(optim::AdamOptions{.lr = 0.005});
  const Index source = data.ids({B, T}, Translator::source_words), target = data.ids({B, T}, Translator::target_words),
              labels = data.ids({B, T}, Translator::target_words);
  Index lengths(Shape{B});
  for (std::int64_t i = 0; i < B; ++i) lengths.mutable_data()[i] = 4 + data.below(7);
  return {.name = "W1", .items = B * T, .steps = 200, .step = [=] {
            return training->step(cross_entropy(training->model(source, lengths, target), labels));
          }};
}

// ---- W5: a chain of 33,333 times (mul, add, tanh) on scalars

bench::Workload w5(bench::Data&) {
  const Tensor w = variable(Real(0.9)), b = variable(Real(0.1));
  return {.name = "W5", .items = 99999, .steps = 30, .step = [=] {
            Tensor x(0.5);
            for (int i = 0; i < 33333; ++i) x = tanh(x * w + b);
            return static_cast<double>(grad(x, {w, b})[0].item());
          }};
}

// ---- W6: a multi-layer perceptron 784-256-128-10, batch 64

struct Perceptron : nn::Module {
  nn::Linear a{at("a"), 784, 256};
  nn::Linear b{at("b"), 256, 128};
  nn::Linear c{at("c"), 128, 10};

  Tensor operator()(const Tensor& x) const { return c(relu(b(relu(a(x))))); }
};

bench::Workload w6(bench::Data& data) {
  constexpr std::int64_t B = 64;
  auto training = std::make_shared<Training<Perceptron, optim::Adam>>(optim::AdamOptions{.lr = 1e-3});
  const Tensor x(data.numbers({B, 784}));
  const Index labels = data.ids({B}, 10);
  return {.name = "W6", .items = B, .steps = 400, .step = [=] {
            return training->step(cross_entropy(training->model(x), labels));
          }};
}

struct Known {
  const char* name;
  bench::Workload (*make)(bench::Data&);
};
constexpr Known workloads[] = {{"W1", w1}, {"W5", w5}, {"W6", w6}};

int number(const char* text, int otherwise) {
  if (!text) return otherwise;
  int value = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  if (error != std::errc() || *end != '\0' || value < 1) fail<ValueError>("bench", "not a positive number: ", text);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (const Known& known : workloads) {
      if (argc < 2 || std::strcmp(argv[1], known.name) != 0) continue;
      const int count = number(argc > 2 ? argv[2] : nullptr, 1);
      set_threads(count);
      manual_seed(1);
      bench::Data data(42);
      const bench::Workload workload = known.make(data);
      std::fprintf(stderr, "# %s\n", to_string(build_info()).c_str());
      bench::run(workload, count, number(argc > 3 ? argv[3] : nullptr, workload.steps));
      return 0;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "usage: xgrad_bench_workloads <W1|W5|W6> [threads] [steps]\n");
  return 2;
}
