// Fourier transforms: second gradients against differences, threads, and bad inputs. (PyTorch's numbers:
// operation_fixtures_test.cpp.)
#include <xgrad/core/runtime/parallel.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("second gradients through Fourier transforms are those of differences") {
  check_gradients([](const Tensors& x) { return square(fft::irfft(x[0], {.n = 9, .norm = fft::FftNorm::forward})); },
                  {normal({3, 2})});
  check_gradients([](const Tensors& x) { return sum(square(fft::rfft(x[0])), {.axis = -1}); }, {normal({67})});
}

TEST_CASE("Fourier transforms give the same bits for any number of threads") {
  const int before = threads();
  const Tensor x = normal({600, 90});
  set_threads(1);
  const Array one = fft::rfft(x).value();
  set_threads(3);
  const Array three = fft::rfft(x).value();
  set_threads(before);
  CHECK(equal(one, three));
}

TEST_CASE("Fourier transforms refuse what they cannot transform") {
  CHECK_REFUSED(ValueError, fft::rfft(tensor({1, 2}), {.n = 0}), "rfft", "n 0 is not positive");
  CHECK_REFUSED(ValueError, fft::rfft(zeros({2, 0})), "rfft", "n 0 is not positive");
  CHECK_REFUSED(ValueError, fft::rfft(zeros({2}), {.axis = 1}), "rfft", "axis 1", "rank 1");
  CHECK_REFUSED(ValueError, fft::rfft(Tensor(1)), "rfft", "axis -1", "rank 0");
  CHECK_REFUSED(ShapeError, fft::irfft(zeros({4, 3})), "irfft", "numbers (..., m, 2)", "[4, 3]");
  CHECK_REFUSED(ShapeError, fft::irfft(zeros({2})), "irfft", "numbers (..., m, 2)", "[2]");
  CHECK_REFUSED(ValueError, fft::irfft(zeros({1, 2})), "irfft", "n 0 is not positive");
  CHECK_REFUSED(ValueError, fft::irfft(zeros({3, 2}), {.axis = 1}), "irfft", "axis 1", "rank 1");
  CHECK_REFUSED(ValueError, fft::rfftfreq(0), "rfftfreq", "n 0 is not positive");
  CHECK_REFUSED(ValueError, fft::rfftfreq(4, 0), "rfftfreq", "d 0");
  CHECK(fft::rfft(zeros({0, 4})).shape() == Shape{0, 3, 2});
}
