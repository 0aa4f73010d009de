// Gradient clipping. Numbers are examined and made ready to be written first and changed afterwards, so that an error
// changes nothing.
#include "clip.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>
#include <vector>

#include "../../core/graph/node.h"
#include "../../core/runtime/parallel.h"
#include "kernels/update.h"

namespace xgrad::optim {
namespace {

// Gradients wherever they are, with their parameters.
struct Named {
  const Tensor* parameter;
  Array* gradient;
};

std::string name_of(const Tensor& parameter, std::size_t number) {
  return parameter.name().empty() ? str(number) : parameter.name();
}

// The gradient of a duplicate would count and be scaled twice.
void refuse_duplicates(const Tensors& parameters) {
  std::unordered_set<const Node*> seen;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (seen.insert(xgrad::detail::Engine::node(parameters[i]).get()).second) continue;
    fail<ValueError>("clip_grad_norm", "duplicate parameter '", name_of(parameters[i], i), "'");
  }
}

// The sum of of_block(numbers, count) over all blocks, added in their order, whichever thread computed them.
template <class F>
double sum_of_blocks(const Array& gradient, const F& of_block) {
  const Real* const g = gradient.data();
  std::vector<double, PoolAllocator<double>> sums(static_cast<std::size_t>((gradient.size() + block - 1) / block));
  parallel_for(gradient.size(), block, [&](std::int64_t begin, std::int64_t end) {
    sums[static_cast<std::size_t>(begin / block)] = of_block(g + begin, end - begin);
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

// The sum of (scale g)^2.
double sum_of_squares(const Array& gradient, double scale) {
  return sum_of_blocks(gradient,
                       [=](const Real* g, std::int64_t count) { return sum_of_squares_block(g, count, scale); });
}

// Throws for a gradient that is not finite.
double largest_of(const std::vector<Named>& all) {
  double largest = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Real value : *all[i].gradient) {
      if (!std::isfinite(value)) {
        fail<NumericError>("clip_grad_norm", "non-finite gradient in '", name_of(*all[i].parameter, i), "'");
      }
      largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
  }
  return largest;
}

double euclidean_norm(const std::vector<Named>& all) {
  double sum = 0;
  for (const Named& at : all) sum += sum_of_squares(*at.gradient, 1);
  if (std::isnormal(sum)) return std::sqrt(sum);
  // Something is not finite, or a square was too large or too small for a double.
  const double largest = largest_of(all);
  if (largest == 0) return 0;
  // A power of two, so that scaling rounds nothing; clamped, so that neither it nor its inverse overflows.
  const int exponent = std::clamp(std::ilogb(largest), -1000, 1000);
  sum = 0;
  for (const Named& at : all) sum += sum_of_squares(*at.gradient, std::ldexp(1.0, -exponent));
  return std::ldexp(std::sqrt(sum), exponent);
}

// In units of the largest number, so that no power overflows.
double norm_of(const std::vector<Named>& all, double order) {
  if (order == 2) return euclidean_norm(all);
  const double largest = largest_of(all);
  if (largest == 0 || std::isinf(order)) return largest;
  double sum = 0;
  for (const Named& at : all) {
    sum += sum_of_blocks(
        *at.gradient, [=](const Real* g, std::int64_t count) { return sum_of_powers_block(g, count, largest, order); });
  }
  return largest * std::pow(sum, 1 / order);
}

double clip_norm(const std::vector<Named>& all, double max_norm, const ClipOptions& options) {
  if (!(max_norm >= 0)) fail<ValueError>("clip_grad_norm", "max_norm ", max_norm, " is negative or NaN");
  if (!(options.norm_type > 0)) fail<ValueError>("clip_grad_norm", "norm_type ", options.norm_type, " is not positive");
  const double norm = norm_of(all, options.norm_type);
  const double factor = max_norm / (norm + 1e-6);
  if (factor >= 1) return norm;
  for (const Named& at : all) at.gradient->mutable_data();  // unshared, so that writing needs no memory
  for (const Named& at : all) {
    Real* const out = at.gradient->mutable_data();
    parallel_for(at.gradient->size(), block,
                 [&](std::int64_t begin, std::int64_t end) { scale_block(out + begin, end - begin, factor); });
  }
  return norm;
}

}  // namespace

Clipped clip_grad_norm(Tensors gradients, const Tensors& parameters, double max_norm, const ClipOptions& options) {
  if (gradients.size() != parameters.size()) {
    fail<ValueError>("clip_grad_norm", gradients.size(), " gradients for ", parameters.size(), " parameters");
  }
  refuse_duplicates(parameters);
  std::vector<Array> numbers(gradients.size());
  std::vector<Named> all;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    numbers[i] = xgrad::detail::Engine::take_value(std::move(gradients[i]));
    all.push_back({&parameters[i], &numbers[i]});
  }
  const double norm = clip_norm(all, max_norm, options);
  for (const Named& at : all) {
    const auto i = static_cast<std::size_t>(at.gradient - numbers.data());
    gradients[i] = Tensor(std::move(numbers[i]));
  }
  return {std::move(gradients), norm};
}

double clip_grad_norm(const Tensors& parameters, double max_norm, const ClipOptions& options) {
  refuse_duplicates(parameters);
  std::vector<Named> all;
  for (const Tensor& parameter : parameters) {
    if (parameter.has_grad()) all.push_back({&parameter, &xgrad::detail::Engine::node(parameter)->extras->grad});
  }
  return clip_norm(all, max_norm, options);
}

}  // namespace xgrad::optim
