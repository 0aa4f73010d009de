// Every family of operations but products and attention, at the sizes of a GPT's step (rows of 128, 512 or 8192),
// forward and backward, beside plain loops over the same numbers.
#include <algorithm>
#include <cmath>
#include <memory>

#include <xgrad/optim/optim.h>
#include <xgrad/xgrad.h>

#include "table.h"

namespace {

using namespace micro;

constexpr std::int64_t rows = 768, width = 512, N = rows * width;
const Shape shape{rows, width};

// f(x) forwards, and its gradient; `reads` arrays of the shape of x are read by the gradient, gy included.
template <class F>
std::vector<Row> both_ways(const std::string& name, int reads, F f) {
  return {{name, 2 * N, 0,
           [=] {
             const Tensor x = numbers(shape);
             return forward([=] { return f(x); });
           }},
          {name + "'", double(reads + 1) * N, 0, [=] {
             const Tensor x = parameter(shape);
             return backward({x}, [=] { return f(x); });
           }}};
}

std::vector<Row> joined(std::initializer_list<std::vector<Row>> tables) {
  std::vector<Row> all;
  for (const auto& table : tables) all.insert(all.end(), table.begin(), table.end());
  return all;
}

// out[i] = f(i) for N numbers, as anybody would write it.
template <class F>
Row by_hand(const char* name, int arrays, F f) {
  return {name, double(arrays) * N, 0, [=] {
            const Tensor a = numbers(shape), b = numbers(shape);
            const auto out = std::make_shared<Array>(shape);
            return [=] {
              const Real *x = a.value().data(), *y = b.value().data();
              Real* __restrict to = out->mutable_data();
              for (std::int64_t i = 0; i < N; ++i) to[i] = f(x[i], y[i]);
              benchmark::ClobberMemory();
            };
          }};
}

const bool elementwise_added = add("elementwise", joined({
    both_ways("relu", 2, [](const Tensor& x) { return relu(x); }),
    both_ways("exp", 2, [](const Tensor& x) { return exp(x); }),
    both_ways("tanh", 2, [](const Tensor& x) { return tanh(x); }),
    both_ways("sigmoid", 2, [](const Tensor& x) { return sigmoid(x); }),
    both_ways("silu", 2, [](const Tensor& x) { return silu(x); }),
    both_ways("gelu_erf", 2, [](const Tensor& x) { return gelu(x); }),
    both_ways("gelu_tanh", 2, [](const Tensor& x) { return gelu(x, Gelu::tanh); }),
    both_ways("square", 2, [](const Tensor& x) { return square(x); }),
    both_ways("leaky_relu", 2, [](const Tensor& x) { return leaky_relu(x); }),
    both_ways("selu", 2, [](const Tensor& x) { return selu(x); }),
    both_ways("celu", 2, [](const Tensor& x) { return celu(x); }),
    both_ways("mish", 2, [](const Tensor& x) { return mish(x); }),
    both_ways("softsign", 2, [](const Tensor& x) { return softsign(x); }),
    both_ways("logsigmoid", 2, [](const Tensor& x) { return logsigmoid(x); }),
    both_ways("hardswish", 2, [](const Tensor& x) { return hardswish(x); }),
    both_ways("hardsigmoid", 2, [](const Tensor& x) { return hardsigmoid(x); }),
    both_ways("tanhshrink", 2, [](const Tensor& x) { return tanhshrink(x); }),
    both_ways("tan", 2, [](const Tensor& x) { return tan(x); }),
    both_ways("atan", 2, [](const Tensor& x) { return atan(x); }),
    both_ways("sinh", 2, [](const Tensor& x) { return sinh(x); }),
    both_ways("cosh", 2, [](const Tensor& x) { return cosh(x); }),
    both_ways("asinh", 2, [](const Tensor& x) { return asinh(x); }),
    both_ways("exp2", 2, [](const Tensor& x) { return exp2(x); }),
    both_ways("round", 2, [](const Tensor& x) { return round(x); }),
    both_ways("frac", 2, [](const Tensor& x) { return frac(x); }),
    both_ways("nan_to_num", 2, [](const Tensor& x) { return nan_to_num(x); }),
    both_ways("log2", 2, [](const Tensor& x) { return log2(x); }),
    both_ways("log10", 2, [](const Tensor& x) { return log10(x); }),
    both_ways("reciprocal", 2, [](const Tensor& x) { return reciprocal(x); }),
    both_ways("asin", 2, [](const Tensor& x) { return asin(x); }),
    both_ways("acos", 2, [](const Tensor& x) { return acos(x); }),
    both_ways("acosh", 2, [](const Tensor& x) { return acosh(x); }),
    both_ways("atanh", 2, [](const Tensor& x) { return atanh(x); }),
    both_ways("glu", 2, [](const Tensor& x) { return glu(x); }),
    both_ways("prelu", 2, [w = numbers({width})](const Tensor& x) { return prelu(x, w); }),
    {{"add", 3 * N, N, [] { const Tensor a = numbers(shape), b = numbers(shape); return forward([=] { return a + b; }); }},
     {"mul", 3 * N, N, [] { const Tensor a = numbers(shape), b = numbers(shape); return forward([=] { return a * b; }); }},
     {"add_row", 2 * N, N, [] { const Tensor a = numbers(shape), b = numbers({width}); return forward([=] { return a + b; }); }},
     {"add_column", 2 * N, N, [] { const Tensor a = numbers(shape), b = numbers({rows, 1}); return forward([=] { return a + b; }); }},
     {"add_row'", N, N, [] { const Tensor a = numbers(shape), b = parameter({width}); return backward({b}, [=] { return a + b; }); }},
     {"scale", 2 * N, N, [] { const Tensor a = numbers(shape); return forward([=] { return a * 2; }); }},
     {"atan2", 3 * N, 0, [] { const Tensor a = numbers(shape), b = numbers(shape); return forward([=] { return atan2(a, b); }); }},
     {"fmod", 3 * N, 0, [] { const Tensor a = numbers(shape), b = numbers(shape); return forward([=] { return fmod(a, b); }); }},
     {"remainder", 3 * N, 0, [] { const Tensor a = numbers(shape), b = numbers(shape); return forward([=] { return remainder(a, b); }); }},
     {"logaddexp", 3 * N, 0, [] { const Tensor a = numbers(shape), b = numbers(shape); return forward([=] { return logaddexp(a, b); }); }},
     {"lerp", 3 * N, 0, [] { const Tensor a = numbers(shape), b = numbers(shape); return forward([=] { return lerp(a, b, 0.3); }); }},
     {"clamp_between", 3 * N, 0, [] {
        const Tensor a = numbers(shape), b = numbers(shape);
        return forward([=] { return clamp(a, -1, b); });
      }},
     {"isfinite", 1.25 * N, 0, [] { const Tensor a = numbers(shape); return [=] { benchmark::DoNotOptimize(isfinite(a)); }; }},
     {"isclose", 2.25 * N, 0, [] {
        const Tensor a = numbers(shape), b = numbers(shape);
        return [=] { benchmark::DoNotOptimize(isclose(a, b)); };
      }},
     {"where", 3.25 * N, 0, [] {
        const Tensor a = numbers(shape), b = numbers(shape);
        const Mask mask = a > b;
        return forward([=] { return where(mask, a, b); });
      }},
     by_hand("hand_add", 3, [](Real a, Real b) { return a + b; }),
     by_hand("hand_relu", 2, [](Real a, Real) { return std::max(a, Real(0)); }),
     by_hand("hand_exp", 2, [](Real a, Real) { return std::exp(a); }),
     by_hand("hand_tanh", 2, [](Real a, Real) { return std::tanh(a); })},
}));

const bool reduce_added = add("reduce", {
                                            {"sum", N, N,
                                             [] {
                                               const Tensor x = numbers(shape);
                                               return forward([=] { return sum(x); });
                                             }},
                                            {"sum_rows", N, N,
                                             [] {
                                               const Tensor x = numbers(shape);
                                               return forward([=] { return sum(x, -1); });
                                             }},
                                            {"sum_columns", N, N,
                                             [] {
                                               const Tensor x = numbers(shape);
                                               return forward([=] { return sum(x, 0); });
                                             }},
                                            {"max_rows", N, N,
                                             [] {
                                               const Tensor x = numbers(shape);
                                               return forward([=] { return max(x, Axes{-1}); });
                                             }},
                                            {"var_rows", N, 3 * N,
                                             [] {
                                               const Tensor x = numbers(shape);
                                               return forward([=] { return var(x, -1); });
                                             }},
                                            {"logsumexp_rows", N, 0,
                                             [] {
                                               const Tensor x = numbers(shape);
                                               return forward([=] { return logsumexp(x, -1); });
                                             }},
                                            {"cumsum", 2 * N, N,
                                             [] {
                                               const Tensor x = numbers(shape);
                                               return forward([=] { return cumsum(x, -1); });
                                             }},
                                            {"sum'", N, 0,
                                             [] {
                                               const Tensor x = parameter(shape);
                                               return backward({x}, [=] { return sum(x); });
                                             }},
                                            {"hand_sum", N, N,
                                             [] {
                                               const Tensor x = numbers(shape);
                                               return [=] {
                                                 Real total = 0;
                                                 for (const Real* p = x.value().data(); p != x.value().data() + N; ++p)
                                                   total += *p;
                                                 benchmark::DoNotOptimize(total);
                                               };
                                             }},
                                        });

const bool rows_added =
    add("rows", joined({
                    both_ways("softmax", 2, [](const Tensor& x) { return softmax(x); }),
                    both_ways("log_softmax", 2, [](const Tensor& x) { return log_softmax(x); }),
                    both_ways("dropout", 1, [](const Tensor& x) { return dropout(x, 0.1); }),
                    both_ways("layer_norm", 2,
                              [gamma = numbers({width}), beta = numbers({width})](const Tensor& x) {
                                return layer_norm(x, gamma, beta);
                              }),
                    {{"layer_norm_parameters'", 3 * N, 0,
                      [] {
                        const Tensor x = parameter(shape), gamma = parameter({width}), beta = parameter({width});
                        return backward({x, gamma, beta}, [=] { return layer_norm(x, gamma, beta); });
                      }}},
                }));

// Targets spread over all classes.
Index ids(const Shape& of, std::int64_t classes) { return random_integers(0, classes, of, next_random_key()); }

Row cross_entropy_row(const char* name, std::int64_t count, std::int64_t classes, bool gradient) {
  return {name, double(gradient ? 2 : 1) * double(count * classes), 0, [=] {
            const Index targets = ids({count}, classes);
            if (gradient) {
              const Tensor x = parameter({count, classes});
              return backward({x}, [=] { return cross_entropy(x, targets); });
            }
            const Tensor x = numbers({count, classes});
            return forward([=] { return cross_entropy(x, targets); });
          }};
}

// f(x, y) of two arrays forwards, y in [0, 1), and its gradient by x.
template <class F>
std::vector<Row> loss_rows(const std::string& name, F f) {
  return {{name, 2 * N, 0,
           [=] {
             const Tensor x = numbers(shape), y = rand(shape);
             return forward([=] { return f(x, y); });
           }},
          {name + "'", 3 * N, 0, [=] {
             const Tensor x = parameter(shape), y = rand(shape);
             return backward({x}, [=] { return f(x, y); });
           }}};
}

const bool losses_added =
    add("losses", joined({
                      loss_rows("l1", [](const Tensor& x, const Tensor& y) { return l1_loss(x, y); }),
                      loss_rows("smooth_l1", [](const Tensor& x, const Tensor& y) { return smooth_l1_loss(x, y); }),
                      loss_rows("huber", [](const Tensor& x, const Tensor& y) { return huber_loss(x, y); }),
                      loss_rows("bce_with_logits",
                                [](const Tensor& x, const Tensor& y) { return binary_cross_entropy_with_logits(x, y); }),
                      loss_rows("bce", [](const Tensor& x, const Tensor& y) { return binary_cross_entropy(sigmoid(x), y); }),
                      loss_rows("poisson_nll", [](const Tensor& x, const Tensor& y) { return poisson_nll_loss(x, y); }),
                      loss_rows("gaussian_nll",
                                [](const Tensor& x, const Tensor& y) { return gaussian_nll_loss(x, y, y); }),
                      loss_rows("triplet",
                                [](const Tensor& x, const Tensor& y) { return triplet_margin_loss(x, y, -y); }),
                      loss_rows("cosine_similarity",
                                [](const Tensor& x, const Tensor& y) { return cosine_similarity(x, y); }),
                      loss_rows("pairwise_distance",
                                [](const Tensor& x, const Tensor& y) { return pairwise_distance(x, y); }),
                      loss_rows("normalize", [](const Tensor& x, const Tensor&) { return normalize(x); }),
                      loss_rows("weighted_cross_entropy",
                                [](const Tensor& x, const Tensor&) {
                                  return cross_entropy(x, arange(rows) % width, {.weight = ones({width})});
                                }),
                      loss_rows("nll", [](const Tensor& x, const Tensor&) { return nll_loss(x, arange(rows) % width); }),
                      loss_rows("ctc",  // 24 steps of 32 samples, 10 letters of 512
                                [](const Tensor& x, const Tensor&) {
                                  const Tensor steps = log_softmax(reshape(x, {24, 32, width}));
                                  const Index text = arange(320).reshaped({32, 10}) + 1;
                                  return ctc_loss(steps, text, Index(Shape{32}, 24), Index(Shape{32}, 10));
                                }),
                  }));

const bool loss_added = add("loss", {
                                        cross_entropy_row("cross_entropy_65", 768, 65, false),
                                        cross_entropy_row("cross_entropy_65'", 768, 65, true),
                                        cross_entropy_row("cross_entropy_210", 640, 210, false),
                                        cross_entropy_row("cross_entropy_210'", 640, 210, true),
                                        cross_entropy_row("cross_entropy_8192", 1024, 8192, false),
                                        cross_entropy_row("cross_entropy_8192'", 1024, 8192, true),
                                        {"mse", 2 * N, 2 * N,
                                         [] {
                                           const Tensor x = numbers(shape), y = numbers(shape);
                                           return forward([=] { return mse_loss(x, y); });
                                         }},
                                    });

const bool index_added = add("index", {
                                          {"embedding", 2 * N, 0,
                                           [] {
                                             const Tensor weight = numbers({8192, width});
                                             const Index at = ids({rows}, 8192);
                                             return forward([=] { return embedding(weight, at); });
                                           }},
                                          {"embedding'", 2 * N + 8192 * width, N,
                                           [] {
                                             const Tensor weight = parameter({8192, width});
                                             const Index at = ids({rows}, 8192);
                                             return backward({weight}, [=] { return embedding(weight, at); });
                                           }},
                                          {"embedding_65'", 2 * N, N,
                                           [] {
                                             const Tensor weight = parameter({65, width});
                                             const Index at = ids({rows}, 65);
                                             return backward({weight}, [=] { return embedding(weight, at); });
                                           }},
                                      });

const bool shape_added = add("shape", {
                                          {"concat_columns", 4 * N, 0,
                                           [] {
                                             const Tensor a = numbers(shape), b = numbers(shape);
                                             return forward([=] { return concat({a, b}, 1); });
                                           }},
                                          {"concat_rows", 4 * N, 0,
                                           [] {
                                             const Tensor a = numbers(shape), b = numbers(shape);
                                             return forward([=] { return concat({a, b}, 0); });
                                           }},
                                          {"chunk_columns", 6 * N, 0,
                                           [] {
                                             const Tensor x = numbers({rows, 3 * width});
                                             return forward([=] { return chunk(x, 3, -1); });
                                           }},
                                          {"transpose", 2 * N, 0,
                                           [] {
                                             const Tensor x = numbers(shape);
                                             return forward([=] { return transpose(x); });
                                           }},
                                          {"permute_heads", 2 * N, 0,
                                           [] {
                                             const Tensor x = numbers({12, 64, 8, 64});
                                             return forward([=] { return permute(x, {0, 2, 1, 3}); });
                                           }},
                                          {"permute_patches", 2.0 * 64 * 784, 0,
                                           [] {
                                             const Tensor x = numbers({64, 4, 7, 4, 7});
                                             return forward([=] { return permute(x, {0, 1, 3, 2, 4}); });
                                           }},
                                          {"slice_columns", N, 0,
                                           [] {
                                             const Tensor x = numbers(shape);
                                             return forward([=] { return narrow(x, 1, 0, width / 2); });
                                           }},
                                          {"broadcast_to", N, 0,
                                           [] {
                                             const Tensor x = numbers({width});
                                             return forward([=] { return broadcast_to(x, shape); });
                                           }},
                                          {"pad", 2 * N, 0,
                                           [] {
                                             const Tensor x = numbers(shape);
                                             return forward([=] { return pad(x, {{0, 0}, {1, 1}}); });
                                           }},
                                      });

// One step on a parameter; `arrays` of its size are read or written.
template <class Optimizer>
Row optimizer(const char* name, int arrays, const typename Optimizer::Options& options) {
  return {name, double(arrays) * N, 0, [=] {
            const Tensor x = parameter(shape), g = numbers(shape);
            const auto steps = std::make_shared<Optimizer>(Tensors{x}, options);
            return [=] { steps->step(Tensors{g}); };
          }};
}

const bool optim_added = add(
    "optim", {
                 optimizer<optim::SGD>("sgd", 3, {.lr = 1e-3}),
                 optimizer<optim::SGD>("sgd_momentum", 5, {.lr = 1e-3, .momentum = 0.9}),
                 optimizer<optim::Adam>("adam", 7, {.lr = 1e-3}),
                 optimizer<optim::AdamW>("adamw", 7, {.lr = 1e-3}),
                 optimizer<optim::AdamW>("adamw_amsgrad", 9, {.lr = 1e-3, .amsgrad = true}),
                 optimizer<optim::RMSprop>("rmsprop", 5, {.lr = 1e-3}),
                 optimizer<optim::Adagrad>("adagrad", 5, {.lr = 1e-3}),
                 optimizer<optim::Adadelta>("adadelta", 7, {.lr = 1e-3}),
                 optimizer<optim::Lion>("lion", 5, {.lr = 1e-3}),
                 {"moving_average", 3 * N, 0,
                  [] {
                    const auto average = std::make_shared<optim::ExponentialMovingAverage>(Tensors{parameter(shape)});
                    return [=] { average->update(); };
                  }},
                 {"clip_grad_norm", 2 * N, 0,
                  [] {
                    const Tensor x = parameter(shape), g = numbers(shape);
                    return [=] { benchmark::DoNotOptimize(optim::clip_grad_norm({g}, {x}, 1e9)); };
                  }},
             });

}  // namespace
