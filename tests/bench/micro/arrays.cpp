// Statistics, scans along an axis, choosing, counting and arranging, beside a copy of the same numbers. Those that take
// more than twice as long as the copy say why.
#include <xgrad/xgrad.h>

#include "table.h"

namespace {

using namespace micro;

constexpr std::int64_t rows = 768, width = 512, N = rows * width;
const Shape shape{rows, width};

// f(x) forwards: N numbers are read, `written` written.
template <class F>
Row of_numbers(const char* name, double written, F f) {
  return {name, N + written, 0, [=] {
            const Tensor x = numbers(shape);
            return forward([=] { return f(x); });
          }};
}

// And its gradient.
template <class F>
Row gradient(const char* name, double moved, F f) {
  return {name, moved, 0, [=] {
            const Tensor x = parameter(shape);
            return backward({x}, [=] { return f(x); });
          }};
}

const bool statistics_added =
    add("statistics",
        {
            of_numbers("copy", N, [](const Tensor& x) { return flip(x, {0}); }),
            of_numbers("stddev_rows", rows,
                       [](const Tensor& x) { return stddev(x, -1); }),
            of_numbers("var_rows", rows, [](const Tensor& x) { return var(x, -1); }),
            of_numbers("var_columns", width, [](const Tensor& x) { return var(x, 0); }),
            // A power takes eight cycles for each register, after the maximum is known.
            of_numbers("logsumexp_rows", rows, [](const Tensor& x) { return logsumexp(x, -1); }),
            of_numbers("logsumexp_columns", width, [](const Tensor& x) { return logsumexp(x, 0); }),
            // First the extreme, then where it stands.
            of_numbers("max_and_index_rows", rows, [](const Tensor& x) { return max(x, -1).values; }),
            of_numbers("max_and_index_columns", width, [](const Tensor& x) { return max(x, 0).values; }),
            of_numbers("norm", 1, [](const Tensor& x) { return norm(x); }),  // in units of the largest: four passes
            // A partition of values with their positions.
            of_numbers("median_rows", rows, [](const Tensor& x) { return median(x, -1).values; }),
            of_numbers("kthvalue_rows", rows, [](const Tensor& x) { return kthvalue(x, 9).values; }),
            // A sort of values with their positions.
            of_numbers("sort_rows", 3 * N, [](const Tensor& x) { return sort(x).values; }),
            of_numbers("topk_rows", rows, [](const Tensor& x) { return topk(x, 8).values; }),
            of_numbers("mode_rows", rows, [](const Tensor& x) { return mode(x).values; }),
            of_numbers("quantile_rows", rows, [](const Tensor& x) { return quantile(x, 0.9, -1); }),
            // Along rows each element waits for the one before it: three cycles for each addition.
            of_numbers("cumsum_rows", N, [](const Tensor& x) { return cumsum(x, -1); }),
            of_numbers("cumsum_columns", N, [](const Tensor& x) { return cumsum(x, 0); }),
            of_numbers("cumsum_of_one_line", N, [](const Tensor& x) { return cumsum(reshape(x, {N}), 0); }),
            of_numbers("cumprod_rows", N, [](const Tensor& x) { return cumprod(x, -1); }),
            of_numbers("cumprod_columns", N, [](const Tensor& x) { return cumprod(x, 0); }),
            gradient("cumprod_rows'", 3 * N, [](const Tensor& x) { return cumprod(x, -1); }),
            gradient("max_and_index_rows'", N, [](const Tensor& x) { return max(x, -1).values; }),
            gradient("var_rows'", 2 * N, [](const Tensor& x) { return var(x, -1); }),
            gradient("var_columns'", 2 * N, [](const Tensor& x) { return var(x, 0); }),
            gradient("logsumexp_rows'", 2 * N, [](const Tensor& x) { return logsumexp(x, -1); }),
            gradient("logsumexp_columns'", 2 * N, [](const Tensor& x) { return logsumexp(x, 0); }),
            gradient("cumsum_rows'", 2 * N, [](const Tensor& x) { return cumsum(x, -1); }),
            gradient("stddev_rows'", 2 * N, [](const Tensor& x) { return stddev(x, -1); }),
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

// f(index, source), the index choosing `count` of the rows.
template <class F>
Row with_index(const char* name, double moved, const Shape& of, std::int64_t high, F f) {
  return {name, moved, 0, [=] {
            const Tensor x = numbers(shape), src = numbers(of.rank() == 1 ? shape : of);
            const Index at = random_integers(0, high, of, next_random_key());
            return forward([=] { return f(x, at, src); });
          }};
}

const bool choosing_added = add(
    "choosing",
    {
        with_index("index_add", 3 * N, {rows}, rows,
                   [](const Tensor& x, const Index& at, const Tensor& src) { return index_add(x, 0, at, src); }),
        // Eight bytes of index are read for each number, and places are checked before anything is written.
        with_index("scatter", 4 * N, shape, width,
                   [](const Tensor& x, const Index& at, const Tensor& src) { return scatter(x, 1, at, src); }),
        with_index("take_along_dim", 4 * N, shape, width,
                   [](const Tensor& x, const Index& at, const Tensor&) { return take_along_dim(x, at, 1); }),
        // One increment after the other in memory.
        with_index("bincount", 2 * N, {N}, 1000,
                   [](const Tensor&, const Index& at, const Tensor&) { return bincount(at); }),
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
                         of_numbers("movedim", N, [](const Tensor& x) { return movedim(x, 0, -1); }),
                         of_numbers("diagonal", width, [](const Tensor& x) { return diagonal(x); }),
                         {"diag_embed", N, 0,
                          [] {
                            const Tensor x = numbers({width});
                            return forward([=] { return diag_embed(x); });
                          }},
                         {"meshgrid", 2 * N, 0,
                          [] {
                            const Tensor a = numbers({rows}), b = numbers({width});
                            return forward([=] { return meshgrid({a, b}); });
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
