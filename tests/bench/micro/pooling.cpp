// Pooling and batch norm of the pictures within a small network, beside a copy of them, and what else is done to pictures.
#include <xgrad/ops/ops.h>

#include "table.h"

namespace {

using namespace micro;

const Shape large{64, 64, 24, 24}, small{24, 16, 32, 32};
const double N = double(large.numel()), M = double(small.numel());

// f forwards and backwards, `numbers` the ones that one direction has to move.
template <class F>
std::vector<Row> both_ways(const char* name, double numbers, F f, const Shape& pictures = large) {
  return {of_numbers(name, numbers, f, pictures), gradient(str(name, "'"), numbers, f, pictures)};
}

bool add_all() {
  add("pictures", both_ways("copy", 2 * N, [](const Tensor& x) { return flip(x, {0}); }));
  add("pictures", both_ways("max_pool2d_2", 1.25 * N, [](const Tensor& x) { return max_pool2d(x, 2); }));
  add("pictures", both_ways("max_pool2d_3_2_1", 1.25 * N,
                            [](const Tensor& x) { return max_pool2d(x, 3, {.stride = 2, .padding = 1}); }));
  add("pictures", both_ways("avg_pool2d_2", 1.25 * N, [](const Tensor& x) { return avg_pool2d(x, 2); }));
  add("pictures", both_ways("adaptive_avg_pool2d_1", N, [](const Tensor& x) { return adaptive_avg_pool2d(x, 1); }));
  add("pictures", both_ways("bilinear_2", 5 * N, [](const Tensor& x) {
        return interpolate(x, {.size = Size2d(2 * x.dim(2), 2 * x.dim(3)), .mode = Interpolation::bilinear});
      }));
  const auto pad_reflect = [](const Tensor& x) {
    return pad(x, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}, PadMode::reflect);
  };
  add("pictures", both_ways("pad_reflect", 2 * M, pad_reflect, small));
  add("pictures", both_ways("dropout2d", 2 * M, [](const Tensor& x) { return dropout2d(x, 0.1); }, small));
  return add("pictures", both_ways("batch_norm", 2 * N, [](const Tensor& x) { return batch_norm(x).y; }));
}

const bool added = add_all();

}  // namespace
