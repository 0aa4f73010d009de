// Random draws. Each number depends only on the key of the draw and its position.
#include "sample.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "../../core/array/random.h"

namespace xgrad {
namespace {

// Number i of a draw: in (0, 1), with 53 bits, whatever Real is.
double uniform_at(const RandomKey& key, std::int64_t i) {
  const auto words = random_words(key, static_cast<std::uint64_t>(i));
  const std::uint64_t bits = (std::uint64_t{words[1]} << 32 | words[0]) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

// The sum of a row's weights up to each category; checks them.
std::vector<double> running_weights(const Real* weights, std::int64_t n, std::int64_t row) {
  std::vector<double> sums;
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto weight = static_cast<double>(weights[i]);
    if (!(weight >= 0) || std::isinf(weight))
      fail<ValueError>("multinomial", "weight ", i, " of row ", row, " is ", weight);
    sums.push_back(sum += weight);
  }
  if (!(sum > 0) || std::isinf(sum)) fail<ValueError>("multinomial", "the weights of row ", row, " have the sum ", sum);
  return sums;
}

void draw_with_replacement(const std::vector<double>& sums, const RandomKey& key, std::int64_t first,
                           std::int64_t count, std::int64_t* out) {
  for (std::int64_t j = 0; j < count; ++j) {
    // Below the sum, so that the category found has a positive weight in spite of rounding.
    const double position = std::min(uniform_at(key, first + j) * sums.back(), std::nextafter(sums.back(), 0.0));
    out[j] = std::ranges::upper_bound(sums, position) - sums.begin();
  }
}

// Each category arrives after an exponential time with rate weights_i; the first ones are drawn.
void draw_without_replacement(const Real* weights, std::int64_t n, const RandomKey& key, std::int64_t row,
                              std::int64_t count, std::int64_t* out) {
  std::vector<std::pair<double, std::int64_t>> arrivals;
  for (std::int64_t i = 0; i < n; ++i) {
    if (weights[i] > 0) arrivals.emplace_back(-std::log(uniform_at(key, row * n + i)) / double(weights[i]), i);
  }
  if (count > std::ssize(arrivals)) {
    fail<ValueError>("multinomial", "row ", row, " has ", arrivals.size(), " positive weights, too few to draw ", count,
                     " without replacement");
  }
  std::partial_sort(arrivals.begin(), arrivals.begin() + count, arrivals.end());
  for (std::int64_t j = 0; j < count; ++j) out[j] = arrivals[static_cast<std::size_t>(j)].second;
}

}  // namespace

Tensor bernoulli(const Tensor& p) {
  const Array& probabilities = p.value();
  for (std::int64_t i = 0; i < probabilities.size(); ++i) {
    const Real probability = probabilities.data()[i];
    if (!(probability >= 0 && probability <= 1)) {
      fail<ValueError>("bernoulli", "probability ", probability, " at ", position_of(i, p.shape()),
                       " is not in [0, 1]");
    }
  }
  Array result = random_uniform(p.shape(), next_random_key());
  Real* out = result.mutable_data();
  for (std::int64_t i = 0; i < result.size(); ++i) out[i] = out[i] < probabilities.data()[i] ? Real(1) : Real(0);
  return result;
}

Index multinomial(const Tensor& weights, std::int64_t count, const MultinomialOptions& options) {
  const int rank = weights.rank();
  if (rank != 1 && rank != 2) fail<ShapeError>("multinomial", "needs weights (n) or (m, n), got ", weights.shape());
  if (count < 0) fail<ValueError>("multinomial", "negative count ", count);
  Shape shape = weights.shape();
  const std::int64_t n = std::exchange(shape[rank - 1], count), rows = rank == 1 ? 1 : shape[0];
  Index result(shape);
  std::int64_t* out = result.mutable_data();
  const RandomKey key{.seed = random_state().seed, .draw = random_state().draws};
  for (std::int64_t row = 0; row < rows; ++row, out += count) {
    const Real* from = weights.value().data() + row * n;
    const std::vector<double> sums = running_weights(from, n, row);
    if (options.replacement) {
      draw_with_replacement(sums, key, row * count, count, out);
    } else {
      draw_without_replacement(from, n, key, row, count, out);
    }
  }
  next_random_key();  // only now: a refused call takes no draw
  return result;
}

}  // namespace xgrad
