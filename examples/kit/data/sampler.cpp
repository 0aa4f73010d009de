// Samplers by the library's own draws.
#include <xgrad/kit/data/sampler.h>

#include <cstddef>

#include <xgrad/core/array/random.h>
#include <xgrad/core/base/error.h>
#include <xgrad/kit/text/text.h>

namespace xgrad::kit {
namespace {

template <class T>
std::uint64_t mark_of(const BasicArray<T>& numbers) {
  return fingerprint(
      {reinterpret_cast<const char*>(numbers.data()), static_cast<std::size_t>(numbers.size()) * sizeof(T)});
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
