// The memory of operations is proportional to their inputs and results, for windows, groups and kernels of any size.
#include <cmath>
#include <numeric>

#include <xgrad/nn/nn.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/extremes.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

constexpr std::int64_t mebibyte = 1 << 20;

// f(), which may take so many bytes besides those in use before.
template <class F>
auto within(std::int64_t bytes, const F& f) {
  (void)linalg::inv(eye(64));  // OpenBLAS maps its buffers once, and does not return if it cannot
  detail::pool_trim();
  const MemoryLimit limit(bytes);
  return f();
}

Array counted(std::int64_t n) {
  Array x(Shape{n});
  std::iota(x.mutable_data(), x.mutable_data() + n, Real(0));
  return x;
}

}  // namespace

TEST_CASE("averages in windows as long as half of a sequence take no more memory than the sequence") {
  const std::int64_t n = 20'001, kernel = 10'001, out = n - kernel + 1;
  const Tensor x = variable(counted(n).reshaped({1, 1, n})), seed = variable(ones({1, 1, out}));
  within(16 * mebibyte, [&] {
    const Tensor y = avg_pool1d(x, kernel, {.stride = 1});
    for (std::int64_t i = 0; i < out; i += 1000) CHECK(y.value().data()[i] == doctest::Approx(i + 5000));
    // How many windows a number is in.
    const Tensor g = grad(sum(y * seed), {x}, {.create_graph = true})[0];
    for (std::int64_t j = 0; j < n; j += 1000) {
      CHECK(g.value().data()[j] * Real(kernel) == doctest::Approx(std::min({j + 1, n - j, out})));
    }
    const Tensor back = grad(sum(g * x.detach()), {seed})[0];
    for (std::int64_t i = 0; i < out; i += 1000) CHECK(back.value().data()[i] == doctest::Approx(i + 5000));
  });
  within(16 * mebibyte, [&] {
    const Tensor y = avg_pool2d(ones({1, n, 1}), {kernel, 1}, {.stride = Size2d(1)});
    CHECK(y.value().data()[out - 1] == doctest::Approx(1));
  });
}

TEST_CASE("a kernel that reaches far beyond its image takes memory for the image, the kernel and the result") {
  const std::int64_t far = 5000, beyond = (std::int64_t{1} << 32) - 1;
  for (const std::int64_t dilation : {far, beyond}) {
    CAPTURE(dilation);
    const Tensor x = variable(full({1, 1, 1, 1}, 3)), w = variable(counted(9).reshaped({1, 1, 3, 3}));
    within(16 * mebibyte, [&] {
      const Tensor y = conv2d(x, w, tensor({10}), {.padding = same_padding, .dilation = dilation});
      CHECK(y.item() == 22);
      const Tensors g = grad(y, {x, w}, {.create_graph = true});
      CHECK(g[0].item() == 4);
      CHECK(equal(g[1].value(), Array({1, 1, 3, 3}, {0, 0, 0, 0, 3, 0, 0, 0, 0})));
      CHECK(grad(sum(g[1]), {x})[0].item() == 1);
    });
  }
  // Results that stand far apart, and those of a transposed convolution whose image they are.
  within(16 * mebibyte, [&] {
    const Tensor y =
        conv2d(ones({1, 1, 1, 1}), ones({1, 1, 2, 2}), {}, {.stride = far, .padding = far, .dilation = far});
    CHECK(equal(y.value(), ones({1, 1, 2, 2}).value()));
    const Tensor z =
        conv_transpose2d(ones({1, 1, 2, 2}), ones({1, 1, 2, 2}), {}, {.stride = far, .padding = far, .dilation = far});
    CHECK(z.item() == 4);
  });
}
