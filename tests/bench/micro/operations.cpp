// What models call besides the catalogue's operations, or at sizes of their own: rows and columns added, masks, losses of
// many classes, large tables, steps of optimizers; at the sizes of a GPT's step (rows of 128, 512 or 8192), beside plain
// loops over the same numbers.
#include <algorithm>
#include <cmath>
#include <memory>

#include <xgrad/optim/optim.h>
#include <xgrad/xgrad.h>

#include "table.h"

namespace {

using namespace micro;

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

// The sum of a matrix and one that broadcasts to it.
Row broadcast(const char* name, const Shape& of) {
  return {name, 2 * N, N, [=] {
            const Tensor a = numbers(shape), b = numbers(of);
            return forward([=] { return a + b; });
          }};
}

const bool elementwise_added =
    add("elementwise", {
                           broadcast("add_row", {width}),
                           broadcast("add_column", {rows, 1}),
                           {"add_row'", N, N,
                            [] {
                              const Tensor a = numbers(shape), b = parameter({width});
                              return backward({b}, [=] { return a + b; });
                            }},
                           of_numbers("scale", 2 * N, [](const Tensor& x) { return x * 2; }),
                           of_numbers("isfinite", 1.25 * N, [](const Tensor& x) { return isfinite(x); }),
                           of_numbers("isnan", 1.25 * N, [](const Tensor& x) { return isnan(x); }),
                           of_numbers("isinf", 1.25 * N, [](const Tensor& x) { return isinf(x); }),
                           of_numbers("isclose", 1.25 * N, [](const Tensor& x) { return isclose(x, x); }),
                           by_hand("hand_add", 3, [](Real a, Real b) { return a + b; }),
                           by_hand("hand_relu", 2, [](Real a, Real) { return std::max(a, Real(0)); }),
                           by_hand("hand_exp", 2, [](Real a, Real) { return std::exp(a); }),
                           by_hand("hand_tanh", 2, [](Real a, Real) { return std::tanh(a); }),
                           {"hand_sum", N, N,
                            [] {
                              const Tensor x = numbers(shape);
                              return [=] {
                                Real total = 0;
                                for (const Real* p = x.value().data(); p != x.value().data() + N; ++p) total += *p;
                                benchmark::DoNotOptimize(total);
                              };
                            }},
                       });

// Targets spread over all classes.
Index ids(const Shape& of, std::int64_t classes) { return randint(0, classes, of); }

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

const bool loss_added = add("loss", {
                                        cross_entropy_row("cross_entropy_65", 768, 65, false),
                                        cross_entropy_row("cross_entropy_65'", 768, 65, true),
                                        cross_entropy_row("cross_entropy_210", 640, 210, false),
                                        cross_entropy_row("cross_entropy_210'", 640, 210, true),
                                        cross_entropy_row("cross_entropy_8192", 1024, 8192, false),
                                        cross_entropy_row("cross_entropy_8192'", 1024, 8192, true),
                                    });

// 768 rows of a table of so many.
Row embedding_row(const char* name, std::int64_t table, bool gradient) {
  return {name, double(2 * N + (gradient ? table * width : 0)), 0, [=] {
            const Index at = ids({rows}, table);
            if (gradient) {
              const Tensor weight = parameter({table, width});
              return backward({weight}, [=] { return embedding(weight, at); });
            }
            const Tensor weight = numbers({table, width});
            return forward([=] { return embedding(weight, at); });
          }};
}

const bool index_added = add("index", {
                                          embedding_row("embedding", 8192, false),
                                          embedding_row("embedding'", 8192, true),
                                          embedding_row("embedding_65'", 65, true),
                                      });

Row permuted(const char* name, const Shape& from, const Axes& axes) {
  return of_numbers(name, 2 * double(from.numel()), [=](const Tensor& x) { return permute(x, axes); }, from);
}

const bool shape_added = add("shape", {
                                          permuted("permute_heads", {12, 64, 8, 64}, {0, 2, 1, 3}),
                                          permuted("permute_patches", {64, 4, 7, 4, 7}, {0, 1, 3, 2, 4}),
                                          of_numbers("chunk_columns", 2 * N, [](const Tensor& x) { return chunk(x, 4, -1); }),
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
