// Statistics, distributions, counting and arranging that the catalogue has not, or in other sizes. Those that take more
// than twice as long as the copy of the same numbers say why.
#include <xgrad/xgrad.h>

#include "table.h"

namespace {

using namespace micro;

const bool statistics_added = add(
    "statistics", {
                      // A partial sort.
                      of_numbers("topk_rows", rows, [](const Tensor& x) { return topk(x, 8).values; }),
                      of_numbers("cumsum_of_one_line", N, [](const Tensor& x) { return cumsum(reshape(x, {N}), 0); }),
                  });

// Of 768 x 512 normal, or 768 categorical distributions: formulas, one operation after the other.
const bool distributions_added = add(
    "distributions",
    {
        of_numbers("normal_sample", N, [](const Tensor& x) { return distributions::Normal(x, 1).sample(); }),
        of_numbers("normal_log_prob", N, [](const Tensor& x) { return distributions::Normal(0, 2).log_prob(x); }),
        gradient("normal_log_prob'", 2 * N, [](const Tensor& x) { return distributions::Normal(x, 2).log_prob(0); }),
        of_numbers(
            "normal_kl", N,
            [](const Tensor& x) { return kl_divergence(distributions::Normal(x, 1), distributions::Normal(0, 2)); }),
        of_numbers("uniform_log_prob", N, [](const Tensor& x) { return distributions::Uniform(-9, 9).log_prob(x); }),
        of_numbers("bernoulli_entropy", N,
                   [](const Tensor& x) { return distributions::Bernoulli({.logits = x}).entropy(); }),
        of_numbers("categorical_entropy", rows,
                   [](const Tensor& x) { return distributions::Categorical({.logits = x}).entropy(); }),
        // The sums of 512 weights and a search in them.
        of_numbers("categorical_sample", rows,
                   [](const Tensor& x) { return distributions::Categorical({.logits = x}).sample(); }),
        gradient(
            "categorical_log_prob'", 2 * N,
            [](const Tensor& x) { return distributions::Categorical({.logits = x}).log_prob(Index(Shape{rows}, 7)); }),
    });

const bool choosing_added = add(
    "choosing",
    {
        // One increment after the other in memory.
        of_numbers("bincount", N,
                   [at = randint(0, 1000, {N}, {1, 2})](const Tensor&) { return bincount(at); }),
        of_numbers("nonzero", 4 * N, [](const Tensor& x) { return nonzero(x); }),  // two numbers of eight bytes for one
        of_numbers("unique", N, [](const Tensor& x) { return unique(x).values; }),  // a sort
        // The comparison makes a mask, which is counted then.
        of_numbers("any_rows", rows, [](const Tensor& x) { return any(x > 4, -1); }),
        of_numbers("bernoulli", N,
                   [p = full(shape, 0.5)](const Tensor&) { return bernoulli(p); }),  // Philox: ten rounds
        {"multinomial", N, 0,  // of 512 categories, eight for each row: logarithms and a partial sort
         [] {
           const Tensor weights = rand(shape);
           return forward([=] { return multinomial(weights, 8); });
         }},
    });

const bool arranging_added =
    add("arranging", {
                         of_numbers("unbind_rows", N, [](const Tensor& x) { return unbind(x); }),
                         of_numbers("split_columns", N, [](const Tensor& x) { return split(x, 64, -1); }),
                         of_numbers("diagonal", width, [](const Tensor& x) { return diagonal(x); }),
                         {"diag_embed", N, 0,
                          [] {
                            const Tensor x = numbers({width});
                            return forward([=] { return diag_embed(x); });
                          }},
                     });

// Of 64 sums of tanh of 64 numbers: a Jacobian is 64 backward passes, the products two at most.
template <class F>
Row of_function(const char* name, F f) {
  return {name, 0, 0, [=] {
            const Tensor a = numbers({64, 64}), x = numbers({64});
            return [=] { benchmark::DoNotOptimize(f([a](const Tensor& u) { return tanh(matmul(a, u)); }, x)); };
          }};
}

const bool derivatives_added = add(
    "derivatives",
    {
        of_function("jacobian", [](const TensorFunction& f, const Tensor& x) { return jacobian(f, x); }),
        of_function("hessian", [](const TensorFunction& f,
                                  const Tensor& x) { return hessian([&](const Tensor& u) { return sum(f(u)); }, x); }),
        of_function("vjp", [](const TensorFunction& f, const Tensor& x) { return vjp(f, x, x); }),
        of_function("jvp", [](const TensorFunction& f, const Tensor& x) { return jvp(f, x, x); }),
        of_function("hvp", [](const TensorFunction& f,
                              const Tensor& x) { return hvp([&](const Tensor& u) { return sum(f(u)); }, x, x); }),
    });

}  // namespace
