// Keys and values are read once. Registers hold neighbouring elements of the one query.
#include "attention_ways.h"

#include <limits>
#include <type_traits>

#include "../../../core/base/assert.h"
#include "../registers/multiply_add.h"

namespace xgrad::detail {
namespace {

// scores[s] = scale (q . k_s)
void score_keys(const Real* q, std::int64_t d, Real scale, const Real* k, std::int64_t k_stride, std::int64_t count,
                Real* scores) {
  const auto score = [&]<int together>(std::integral_constant<int, together>, std::int64_t first) {
    Pack sum[together];
    each_pack(d, [&](std::int64_t i, auto part) {
      const Pack query = part.load(q + i);
      XGRAD_UNROLL
      for (int s = 0; s < together; ++s) {
        sum[s] = multiply_add(query, part.load(k + (first + s) * k_stride + i), sum[s]);
      }
    });
    for (int s = 0; s < together; ++s) scores[first + s] = scale * sum_of(sum[s]);
  };
  constexpr int at_once = 4;  // each sum waits for its own last step
  std::int64_t s = 0;
  for (; s + at_once <= count; s += at_once) score(std::integral_constant<int, at_once>(), s);
  for (; s < count; ++s) score(std::integral_constant<int, 1>(), s);
}

// In place: scores become e^(score - greatest). Returns the reciprocal of their sum, or NaN where there is none.
Real powers_of(Real* scores, std::int64_t count) {
  const Real greatest = max_of_row(scores, count);
  const Real sum = sum_packs(count, [&](std::int64_t i, auto part) {
    const Pack power = exp(part.load(scores + i, -std::numeric_limits<Real>::infinity()) - greatest);
    part.store(power, scores + i);
    return power;
  });
  return 1 / sum;
}

// y = inverse_sum (weights . v), `packs` packs of columns from j on; the last one in part.
template <int packs, class Part>
void add_values(const Real* weights, Real inverse_sum, const Real* v, std::int64_t v_stride, std::int64_t count,
                const Part& last, Real* y) {
  Pack sum[2][packs];
  const auto add = [&](Pack(&to)[packs], std::int64_t s) {
    const Pack weight(weights[s]);
    const Real* from = v + s * v_stride;
    XGRAD_UNROLL
    for (int j = 0; j + 1 < packs; ++j) to[j] = multiply_add(weight, Pack::load(from + j * pack_width), to[j]);
    to[packs - 1] = multiply_add(weight, last.load(from + (packs - 1) * pack_width), to[packs - 1]);
  };
  std::int64_t s = 0;
  for (; s + 2 <= count; s += 2) {
    add(sum[0], s);
    add(sum[1], s + 1);
  }
  if (s < count) add(sum[0], s);
  for (int j = 0; j + 1 < packs; ++j) ((sum[0][j] + sum[1][j]) * inverse_sum).store(y + j * pack_width);
  last.store((sum[0][packs - 1] + sum[1][packs - 1]) * inverse_sum, y + (packs - 1) * pack_width);
}

}  // namespace

bool has_one_query(const AttentionSizes& p, const KeyRanges& ranges) {
  return p.T == 1 && !ranges.masked && !ranges.bias;
}

std::optional<Real> one_query(const AttentionSizes& p, const AttentionOperands<const Real>& in, const KeyRanges& ranges,
                              std::int64_t b, std::int64_t h, Real* scores, Real* y) {
  XGRAD_ASSERT(has_one_query(p, ranges));
  const std::int64_t begin = ranges.begin(0), count = ranges.end(b, 0) - begin;
  if (count <= 0) return std::nullopt;
  score_keys(in.q + p.q.at(b, h), p.d, p.scale, in.k + p.k_at(b, h) + begin * p.k.row_stride, p.k.row_stride, count,
             scores);
  const Real inverse_sum = powers_of(scores, count);
  const Real* v = in.v + p.v_at(b, h) + begin * p.v.row_stride;
  constexpr std::int64_t block = 4 * pack_width;
  std::int64_t j = 0;
  for (; j + block <= p.e; j += block)
    add_values<4>(scores, inverse_sum, v + j, p.v.row_stride, count, FullPack(), y + j);
  for (; j + pack_width <= p.e; j += pack_width) {
    add_values<1>(scores, inverse_sum, v + j, p.v.row_stride, count, FullPack(), y + j);
  }
  if (j < p.e) {
    add_values<1>(scores, inverse_sum, v + j, p.v.row_stride, count, PartPack{static_cast<std::size_t>(p.e - j)},
                  y + j);
  }
  return all_finite(y, p.e) ? std::optional(inverse_sum) : std::nullopt;
}

}  // namespace xgrad::detail
