// Masks.
#include "support/check.h"

#include <xgrad/nn/masks.h>
#include <xgrad/ops/arithmetic.h>

namespace xgrad::testing {
namespace {

using namespace nn;

TEST_CASE("Masks as truth values") {
  CHECK(equal(causal_mask(3), Mask({3, 3}, {0, 1, 1, 0, 0, 1, 0, 0, 0})));
  CHECK(equal(causal_mask(2, 1), Mask({2, 3}, {0, 0, 1, 0, 0, 0})));
  CHECK(equal(padding_mask(Index({2}, {1, 3}), 3), Mask({2, 3}, {0, 1, 1, 0, 0, 0})));
  CHECK(equal(window_mask(4, {.before = 1}), Mask({4, 4}, {0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0})));
  CHECK(equal(window_mask(3, {.before = 0, .after = 1}), Mask({3, 3}, {0, 0, 1, 1, 0, 0, 1, 1, 0})));
  CHECK_THROWS_AS(padding_mask(Index({1, 2}, {1, 3}), 3), ShapeError);
  CHECK(error_of<ValueError>([] { window({.before = -1}); }) ==
        "window: before -1 and after 0 must not be negative");
}

TEST_CASE("Both masks at once") {
  const AttentionMask both = causal & padding(Index({2}, {1, 3}));
  CHECK(both.causal);
  CHECK(equal(*both.lengths, Index({2}, {1, 3})));
  CHECK(equal(*(both & padding(Index({2}, {2, 2}))).lengths, Index({2}, {1, 2})));
  const AttentionMask band = window({.before = 1, .after = 1}) & window({.before = 2, .after = 0});
  CHECK(band.band->before == 1);
  CHECK(band.band->after == 0);
  const AttentionMask biased = AttentionMask{.bias = Tensor(1)} & AttentionMask{.bias = Tensor(2)};
  CHECK(biased.bias.item() == 3);
  CHECK(error_of<ValueError>([&] {
          both& padding(Index({2, 1}, {1, 1}));
        }) == "mask: lengths of shapes [2] and [2, 1]");
}

TEST_CASE("All that a mask says, for each score") {
  const AttentionMask both = causal & padding(Index({2}, {1, 3}));
  CHECK(equal(blocked_keys(both, {2, 2, 3}), Mask({2, 1, 2, 3}, {0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1})));
  CHECK(equal(blocked_keys(padding(Index({1, 2}, {1, 2})), {1, 2, 3}), Mask({1, 1, 2, 3}, {0, 1, 1, 0, 0, 1})));
  CHECK(equal(blocked_keys({.ignore = Mask({2, 2}, {1, 0, 0, 0})}, {1, 2, 2}), Mask({1, 1, 2, 2}, {1, 0, 0, 0})));
  CHECK(error_of<ShapeError>([] {
          blocked_keys(padding(Index({3}, {1, 2, 1})), {2, 2, 3});
        }) == "mask: lengths [3] for scores [2, 2, 3]: needs (B) or (B, T)");
  CHECK(error_of<ValueError>([] {
          blocked_keys(padding(Index({1}, {4})), {1, 2, 3});
        }) == "mask: length 4 is not in [0, 3]");
  CHECK_THROWS_AS(blocked_keys({}, {2, 3}), ShapeError);
}

TEST_CASE("The mask of chosen rows of a batch") {
  AttentionMask mask = padding(Index({3}, {4, 5, 6}));
  mask.ignore = Mask({3, 1, 1, 2}, {0, 0, 0, 1, 1, 1});
  mask.bias = Array({1, 1, 1, 2}, {7, 8});
  const AttentionMask chosen = select_rows(mask, Index({4}, {2, 2, 0, 1}));
  CHECK(equal(*chosen.lengths, Index({4}, {6, 6, 4, 5})));
  CHECK(equal(*chosen.ignore, Mask({4, 1, 1, 2}, {1, 1, 1, 1, 0, 0, 0, 1})));
  CHECK(chosen.bias.shape() == Shape{1, 1, 1, 2});
  CHECK_THROWS_AS(select_rows(mask, Index({1}, {3})), ValueError);
}

}  // namespace
}  // namespace xgrad::testing
