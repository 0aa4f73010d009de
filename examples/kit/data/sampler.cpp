// Samplers by the library's own draws.
#include <xgrad/kit/data/sampler.h>

#include <cstddef>
#include <span>

#include <xgrad/core/array/random.h>
#include <xgrad/core/base/error.h>

namespace xgrad::kit {
namespace {

/// A hash of numbers (FNV-1a).
template <class T>
std::uint64_t mark_of(const BasicArray<T>& numbers) {
  std::uint64_t mark = 0xcbf29ce484222325;
  for (const std::byte byte : std::as_bytes(std::span(numbers.begin(), numbers.end()))) {
    mark = (mark ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
  }
  return mark;
}

}  // namespace

Sampler weighted_random_sampler(const Tensor& weights, std::int64_t count, const MultinomialOptions& options) {
  if (weights.rank() != 1) fail<ShapeError>("weighted_random_sampler", "needs weights (N), got ", weights.shape());
  const Tensor kept = weights.detach();
  const RandomState before = random_state();
  multinomial(kept, count, options);  // throws now rather than later
  set_random_state(before);
  return {.size = count,
          .draw = [=] { return multinomial(kept, count, options); },
          .name = cat("weighted_random_sampler ", count, options.replacement ? " with" : " without", " replacement by ",
                      mark_of(kept.value()))};
}

Sampler subset_random_sampler(const Index& rows) {
  if (rows.rank() != 1) fail<ShapeError>("subset_random_sampler", "needs numbers (N), got ", rows.shape());
  return {.size = rows.size(),
          .draw = [rows] { return rows[randperm(rows.size())]; },
          .name = cat("subset_random_sampler of ", mark_of(rows))};
}

}  // namespace xgrad::kit
