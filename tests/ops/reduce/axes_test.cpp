// One convention for all reductions: axes behind x, everything else by name. What does not compile is tested here, too.
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

// clang-format off
template <class T>
constexpr bool takes_numbers_for_options =
    requires(T x) { sum(x, {0, true}); } || requires(T x) { sum(x, {1, true}); } || requires(T x) { sum(x, {{0, 1}, true}); } ||
    requires(T x) { sum(x, {{}, 0, true}); } || requires(T x) { sum(x, true); } || requires(T x) { sum(x, 1, true); } ||
    requires(T x) { sum(x, 1, {true}); } || requires(T x) { sum(x, 1, {{}, true}); } || requires(T x) { sum(x, 0.5); } ||
    requires(T x) { sum(x, {.axis = 0}); } ||
    requires(T x) { var(x, {0, true}); } || requires(T x) { var(x, {0, true, 0}); } || requires(T x) { var(x, 0, {true, 0}); } ||
    requires(T x) { max(x, {0, true}); } || requires(T x) { max(x, 0, {true}); } || requires(T x) { norm(x, {0, true}); } ||
    requires(T x) { norm(x, 1); } || requires(T x) { vector_norm(x, {0, 1}); } || requires(T x) { squeeze(x, true); } ||
    requires(T x) { sort(x, {.axis = 0}); } || requires(T x) { topk(x, 1, {.axis = 0}); } ||
    requires(T x) { median(x, 0, {true}); } ||
    requires(T x) { kthvalue(x, 1, {0, true}); } || requires(T x) { kthvalue(x, 1, 0, {true}); } ||
    requires(T x) { quantile(x, 0.5, {0, true}); } || requires(T x) { quantile(x, 0.5, 0, {true}); };
template <class T>
constexpr bool guesses_an_axis = requires(T x) { argmax(x); } || requires(T x) { argmin(x); } ||
    requires(T x) { argmax(x, {.keepdim = true}); } || requires(T x) { argmin(x, {.keepdim = true}); };
template <class T>
constexpr bool takes_what_is_right =
    requires(T x) { sum(x, {0, 1}); } && requires(T x) { sum(x, {0, 1}, {.keepdim = true}); } &&
    requires(T x) { sum(x, x.dim(0)); } && requires(T x) { argmax(x, 1, {.keepdim = true}); } &&
    requires(T x) { squeeze(x, {0, 1}); } && requires(T x) { squeeze(x, x.dim(0)); } && requires(T x) { flip(x, {0, 1}); } &&
    requires(T x) { sort(x, 0, {.descending = true}); } && requires(T x) { vector_norm(x, 2, {0, 1}); };
// clang-format on
static_assert(!takes_numbers_for_options<Tensor> && !guesses_an_axis<Tensor> && takes_what_is_right<Tensor>);

}  // namespace

TEST_CASE("axes after x are one, several, none or all, also of masks and integers") {
  const Tensor x = tensor({{{1, 2, 4}, {8, 0, 1}}, {{3, 5, 7}, {2, 9, 6}}});
  CHECK(equal(sum(x, {2, -3}, {.keepdim = true}).value(), Array({1, 2, 1}, {22, 26})));
  CHECK(equal(sum(x, Axes{}).value(), x.value()));
  CHECK(equal(sum(x, {}, {.keepdim = true}).value(), Array({1, 1, 1}, {48})));
  CHECK(equal(var_mean(x, 1).mean.value(), mean(x, 1).value()));
  CHECK(equal(max(x, Axes{2}).value(), max(x, 2).values.value()));
  CHECK(equal(max(x, 2).indices, Index({2, 2}, {2, 0, 2, 1})));

  const Mask above = x > 1;
  CHECK(equal(sum(above, 2), Index({2, 2}, {2, 1, 3, 3})));
  CHECK(equal(sum(Index({2, 2}, {1, 2, 3, 4}), 0, {.keepdim = true}), Index({1, 2}, {4, 6})));
}
