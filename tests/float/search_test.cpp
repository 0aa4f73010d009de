// Searches among more numbers than float has whole ones for: sanitizers check the writes.
#include <doctest/doctest.h>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

TEST_CASE("places among four million boundaries, each of which has cells of its own, are found") {
  const std::int64_t n = (std::int64_t{1} << 22) + 1;
  const Tensor boundaries = to_real(arange(n)), values = full({4 * n + 1}, Real(n - 2));
  CHECK(equal(searchsorted(boundaries, values), Index(values.shape(), n - 2)));
  CHECK(equal(bucketize(values, boundaries, {.right = true}), Index(values.shape(), n - 1)));
}

}  // namespace
}  // namespace xgrad::testing
