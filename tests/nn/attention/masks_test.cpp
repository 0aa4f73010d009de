// Masks.
#include "support/check.h"

#include <limits>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

TEST_CASE("Masks as booleans") {
  CHECK(equal(causal_mask(3), Mask({3, 3}, {0, 1, 1, 0, 0, 1, 0, 0, 0})));
  CHECK(equal(causal_mask(2, 1), Mask({2, 3}, {0, 0, 1, 0, 0, 0})));
  CHECK(equal(padding_mask(Index({2}, {1, 3}), 3), Mask({2, 3}, {0, 1, 1, 0, 0, 0})));
  CHECK(equal(window_mask(4, {.before = 1}), Mask({4, 4}, {0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0})));
  CHECK(equal(window_mask(3, {.before = 0, .after = 1}), Mask({3, 3}, {0, 0, 1, 1, 0, 0, 1, 1, 0})));
  CHECK_REFUSED(ShapeError, padding_mask(Index({1, 2}, {1, 3}), 3), "padding_mask", "needs lengths (B), got [1, 2]");
  CHECK_REFUSED(ValueError, window({.before = -1}), "window", "before -1 and after 0: one is negative");
}

TEST_CASE("Masks of no size, and of the largest numbers") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = -most - 1;
  CHECK(causal_mask(0, 3).shape() == Shape{0, 3});
  CHECK(padding_mask(Index(Shape{0}), 3).shape() == Shape{0, 3});
  CHECK(padding_mask(Index({2}, 0), 0).shape() == Shape{2, 0});
  CHECK(window_mask(0, {.before = most}).shape() == Shape{0, 0});
  CHECK(equal(window_mask(3, {.before = most, .after = most}), Mask({3, 3}, false)));
  CHECK(equal(window_mask(3, {.before = most}), causal_mask(3)));
  CHECK(equal(masked_keys(window({.before = most}), {1, 3, 3}), causal_mask(3).reshaped({1, 1, 3, 3})));
  const WindowOptions halves{.before = std::int64_t{1} << 62, .after = std::int64_t{1} << 62};
  CHECK(equal(masked_keys(window(halves), {1, 3, 3}), Mask({1, 1, 3, 3}, false)));
  CHECK(equal(masked_keys(window(halves) & causal, {1, 3, 3}), causal_mask(3).reshaped({1, 1, 3, 3})));

  CHECK_REFUSED(ValueError, causal_mask(4, -2), "causal_mask", "past -2 is negative");
  CHECK_REFUSED(ValueError, causal_mask(-4), "causal_mask", "size -4 is negative");
  CHECK_REFUSED(ValueError, padding_mask(Index({1}, 0), -1), "padding_mask", "size -1 is negative");
  CHECK_REFUSED(ValueError, padding_mask(Index({2}, {1, 4}), 3), "padding_mask", "length 4 is not in [0, 3]");
  CHECK_REFUSED(ValueError, window_mask(-1, {}), "window_mask", "size -1 is negative");
  CHECK_REFUSED(LimitError, causal_mask(2, most - 1), "causal_mask",
                "2 positions after 9223372036854775806 are too many");
  CHECK_REFUSED(ValueError, padding_mask(Index({1}, -1), 3), "padding_mask", "length -1 is not in [0, 3]");
  CHECK_REFUSED(ValueError, window_mask(3, {.after = -2}), "window_mask", "0 before and -2 after: one is negative");
  for (const std::int64_t size : {least, most}) {
    CHECK_THROWS_AS(causal_mask(size), Error);
    CHECK_THROWS_AS(causal_mask(1, size), Error);
    CHECK_THROWS_AS(causal_mask(size, size), Error);
    CHECK_THROWS_AS(padding_mask(Index({1}, 0), size), Error);
    CHECK_THROWS_AS(padding_mask(Index({1}, size), 3), ValueError);
    CHECK_THROWS_AS(window_mask(size, {}), Error);
    CHECK_THROWS_AS(masked_keys(padding(Index({1}, size)), {1, 2, 3}), ValueError);
  }
  for (const WindowOptions& options : {WindowOptions{least, 0}, {0, least}, {-1, most}}) {
    CHECK_THROWS_AS(window(options), ValueError);
    CHECK_THROWS_AS(window_mask(3, options), ValueError);
    CHECK_THROWS_AS(masked_keys({.band = options}, {1, 2, 3}), ValueError);
  }
  CHECK_THROWS_AS(select_rows(padding(Index({2}, 1)), Index({1}, least)), ValueError);
  CHECK_THROWS_AS(select_rows(padding(Index({2}, 1)), Index({1}, most)), ValueError);
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
  CHECK_REFUSED(ShapeError, both & padding(Index({2, 1}, {1, 1})), "mask", "lengths of shapes [2] and [2, 1]");
}

TEST_CASE("All that a mask says, for each score") {
  const AttentionMask both = causal & padding(Index({2}, {1, 3}));
  CHECK(equal(masked_keys(both, {2, 2, 3}), Mask({2, 1, 2, 3}, {0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1})));
  CHECK(equal(masked_keys(padding(Index({1, 2}, {1, 2})), {1, 2, 3}), Mask({1, 1, 2, 3}, {0, 1, 1, 0, 0, 1})));
  CHECK(equal(masked_keys({.masked = Mask({2, 2}, {1, 0, 0, 0})}, {1, 2, 2}), Mask({1, 1, 2, 2}, {1, 0, 0, 0})));
  CHECK_REFUSED(ShapeError, masked_keys(padding(Index({3}, {1, 2, 1})), {2, 2, 3}), "masked_keys",
                "lengths of shape [3], needs [2] or [2, 2]");
  CHECK_REFUSED(ValueError, masked_keys(padding(Index({1}, {4})), {1, 2, 3}), "masked_keys", "length 4", "[0, 3]");
  CHECK_THROWS_AS(masked_keys({}, {2, 3}), ShapeError);
}

TEST_CASE("The mask of chosen rows of a batch") {
  AttentionMask mask = padding(Index({3}, {4, 5, 6}));
  mask.masked = Mask({3, 1, 1, 2}, {0, 0, 0, 1, 1, 1});
  mask.bias = Array({1, 1, 1, 2}, {7, 8});
  const AttentionMask chosen = select_rows(mask, Index({4}, {2, 2, 0, 1}));
  CHECK(equal(*chosen.lengths, Index({4}, {6, 6, 4, 5})));
  CHECK(equal(*chosen.masked, Mask({4, 1, 1, 2}, {1, 1, 1, 1, 0, 0, 0, 1})));
  CHECK(chosen.bias.shape() == Shape{1, 1, 1, 2});
  CHECK_REFUSED(ValueError, select_rows(mask, Index({1}, {3})), "index_select", "index 3 is not in [-3, 3)");
  // One of four axes that all share, and one of less, stay as they are; a bias of each is chosen, too.
  mask.masked = Mask({3, 2}, {0, 0, 0, 1, 1, 1});
  mask.bias = Array({3, 1, 1, 1}, {7, 8, 9});
  const AttentionMask other = select_rows(mask, Index({2}, {2, 1}));
  CHECK(equal(*other.masked, *mask.masked));
  CHECK(equal(other.bias.value(), Array({2, 1, 1, 1}, {9, 8})));
}

}  // namespace
}  // namespace xgrad::testing
