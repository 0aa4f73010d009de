// The numbers that a seed gives are those of tests/fixtures/make_stored_files.py, which knows the generator from its
// paper: the same in every version, on every machine and in both number types.
#include <xgrad/nn/base/init.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fixtures.h"
#include "support/number_type.h"

namespace xgrad::testing {
namespace {

TEST_CASE("a seed gives the numbers that it has always given, of every kind") {
  const StateFile stored = load_safetensors(fixture_path("stored/random.safetensors"));
  const Shape eight{8};
  const Tensor weights(Array({4}, {Real(0.5), 2, 1, 4}));
  const RandomState before = random_state();
  manual_seed(2026);
  const std::vector<std::pair<const char*, AnyArray>> drawn{
      {"rand", rand(eight).value()},
      {"randn", randn(eight).value()},
      {"randint", randint(-50, 50, eight)},
      {"randperm", randperm(8)},
      {"bernoulli", bernoulli(full(eight, Real(0.375))).value()},
      {"multinomial", multinomial(weights, 3)},
      {"multinomial, replaced", multinomial(weights, 8, {.replacement = true})},
      {"dropout", dropout(ones(eight), 0.25).value()},
      {"init::uniform", nn::init::uniform({.low = -2, .high = 1})(eight)},
      {"init::normal", nn::init::normal({.mean = 1, .std = 0.5})(eight)},
      {"mixed_seed", Index({}, static_cast<std::int64_t>(mixed_seed(2026, 3, -2) >> 1))},
  };
  set_random_state(before);
  for (const auto& each : drawn) {
    CAPTURE(each.first);
    if (const Index* integers = std::get_if<Index>(&each.second)) {
      CHECK(equal(*integers, stored.get<Index>(each.first)));
    } else {  // float has 24 bits of a word; the last bits of quantiles are those of a logarithm
      check_close(std::get<Array>(each.second), stored.get<Array>(each.first), in_float ? 2e-7 : 1e-14, 1);
    }
  }
}

}  // namespace
}  // namespace xgrad::testing
