// If the columns of pairs are in two halves, the pairs are rotated pack by pack.
#include "rotary.h"

#include "../../../core/base/assert.h"
#include "../../../core/runtime/parallel.h"
#include "../registers/rows.h"

namespace xgrad {

void rotate_rows(const RotaryRows& in, const Real* x, Real* y) {
  XGRAD_ASSERT(in.d % 2 == 0);
  const std::int64_t width = in.heads * in.d, pairs = in.d / 2;
  parallel_for(in.rows, rows_per_block(width), [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const Real* cosine = in.cosines + row % in.positions * pairs;
      const Real* sine = in.sines + row % in.positions * pairs;
      for (std::int64_t at = row * width; at < (row + 1) * width; at += in.d) {
        const Real *a = x + at, *b = a + in.distance;
        Real *to_a = y + at, *to_b = to_a + in.distance;
        if (in.stride == 1) {
          each_pack(pairs, [&](std::int64_t j, auto part) {
            const Pack u = part.load(a + j), v = part.load(b + j), c = part.load(cosine + j);
            const Pack s = in.direction * part.load(sine + j);
            part.store(u * c - v * s, to_a + j);
            part.store(u * s + v * c, to_b + j);
          });
        } else {
          for (std::int64_t j = 0; j < pairs; ++j) {
            const Real u = a[j * in.stride], v = b[j * in.stride], c = cosine[j], s = in.direction * sine[j];
            to_a[j * in.stride] = u * c - v * s;
            to_b[j * in.stride] = u * s + v * c;
          }
        }
      }
    }
  });
}

}  // namespace xgrad
