// Functions that models call less often: special functions, roundings, writing by number, pictures,
// margins. At the sizes of operations.cpp, forward and backward.
#include <xgrad/ops/derivatives/checkpoint.h>
#include <xgrad/xgrad.h>

#include "table.h"

namespace {

using namespace micro;

constexpr std::int64_t rows = 768, width = 512, N = rows * width;
const Shape shape{rows, width}, pictures{24, 16, 32, 32};  // of N numbers both

// f(x) of N numbers in [0.1, 0.9) forwards, and its gradient.
template <class F>
std::vector<Row> both_ways(const std::string& name, F f, const Shape& of = shape) {
  const auto inputs = [of] { return (rand(of) * 0.8 + 0.1).value(); };
  return {{name, 2 * N, 0,
           [=] {
             const Tensor x = inputs();
             return forward([=] { return f(x); });
           }},
          {name + "'", 3 * N, 0, [=] {
             const Tensor x = variable(inputs());
             return backward({x}, [=] { return f(x); });
           }}};
}

// A function of N numbers that has no gradients.
template <class F>
std::vector<Row> forwards(const std::string& name, F f) {
  return {{name, 1.25 * N, 0, [=] {
             const Tensor x = numbers(shape);
             return [=] { benchmark::DoNotOptimize(f(x)); };
           }}};
}

std::vector<Row> joined(std::initializer_list<std::vector<Row>> tables) {
  std::vector<Row> all;
  for (const auto& table : tables) all.insert(all.end(), table.begin(), table.end());
  return all;
}

const bool special_added =
    add("special", joined({
                       both_ways("hardshrink", [](const Tensor& x) { return hardshrink(x); }),
                       both_ways("softshrink", [](const Tensor& x) { return softshrink(x); }),
                       both_ways("rrelu", [](const Tensor& x) { return rrelu(x); }),
                       both_ways("floor", [](const Tensor& x) { return floor(x); }),
                       both_ways("ceil", [](const Tensor& x) { return ceil(x); }),
                       both_ways("trunc", [](const Tensor& x) { return trunc(x); }),
                       forwards("isnan", [](const Tensor& x) { return isnan(x); }),
                       forwards("isinf", [](const Tensor& x) { return isinf(x); }),
                   }));

const bool pictures_added =
    add("pictures", joined({
                        both_ways(
                            "pad_reflect",
                            [](const Tensor& x) {
                              return pad(x, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}, PadMode::reflect);
                            },
                            pictures),
                        both_ways(
                            "pixel_shuffle", [](const Tensor& x) { return pixel_shuffle(x, 2); }, pictures),
                        both_ways(
                            "pixel_unshuffle", [](const Tensor& x) { return pixel_unshuffle(x, 2); }, pictures),
                        both_ways(
                            "channel_shuffle", [](const Tensor& x) { return channel_shuffle(x, 4); }, pictures),
                        both_ways(
                            "dropout2d", [](const Tensor& x) { return dropout2d(x, 0.1); }, pictures),
                        both_ways("alpha_dropout", [](const Tensor& x) { return alpha_dropout(x, 0.1); }),
                        both_ways("conv_transpose1d",
                                  [weight = numbers({16, 16, 3})](const Tensor& x) {
                                    return conv_transpose1d(reshape(x, {24, 16, 1024}), weight);
                                  }),
                    }));

const bool margins_added = add(
    "margins",
    joined({
        both_ways("margin_ranking", [](const Tensor& x) { return margin_ranking_loss(x, flip(x, {0}), Tensor(1)); }),
        both_ways("hinge_embedding", [](const Tensor& x) { return hinge_embedding_loss(x, Tensor(-1)); }),
        both_ways("cosine_embedding",
                  [y = ones({rows})](const Tensor& x) { return cosine_embedding_loss(x, flip(x, {0}), y); }),
        both_ways("multi_margin", [](const Tensor& x) { return multi_margin_loss(x, arange(rows) % width); }),
        both_ways("multilabel_margin",
                  [](const Tensor& x) {
                    const Tensor scores = reshape(x, {N / 32, 32});
                    return multilabel_margin_loss(scores, Index(scores.shape(), 3));
                  }),
        both_ways(
            "kl_div_batchmean",
            [](const Tensor& x) { return kl_div(log_softmax(x), softmax(x.detach()), {.reduction = batchmean}); }),
        both_ways("checkpoint",
                  [](const Tensor& x) { return checkpoint([](const Tensor& v) { return tanh(v) * sigmoid(v); }, x); }),
    }));

}  // namespace
