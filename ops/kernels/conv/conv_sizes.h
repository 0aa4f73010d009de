// The sizes of a convolution on plain memory.
#pragma once

#include <cstdint>

#include "../../../core/array/shape.h"

namespace xgrad {

/// One axis of a convolution: result i looks at positions stride i - padding + dilation k of the image, k < kernel.
struct ConvAxis {
  std::int64_t in, out, kernel;
  std::int64_t stride = 1, padding = 0, dilation = 1;

  // From result to result; the stride of a single result is unused, and its products may overflow.
  std::int64_t step() const { return out > 1 ? stride : 1; }
};

/// Images (batch, groups in, h.in, w.in), kernels (groups out, in, h.kernel, w.kernel), results (batch, groups out,
/// h.out, w.out); group g of the results sees group g of the images.
struct ConvSizes {
  std::int64_t batch, groups;
  std::int64_t in, out;  ///< channels of a group
  ConvAxis h, w;

  std::int64_t taps() const { return h.kernel * w.kernel; }
  std::int64_t seen() const { return in * taps(); }      ///< elements that a result sees
  std::int64_t pixels() const { return h.out * w.out; }  ///< of a plane of results

  Shape image_shape() const { return {batch, groups * in, h.in, w.in}; }
  Shape kernel_shape() const { return {groups * out, in, h.kernel, w.kernel}; }
  Shape result_shape() const { return {batch, groups * out, h.out, w.out}; }

  // The offsets of planes: channel c of image b, channel o of result b, channel c of the kernel for o, in group g.
  std::int64_t image_at(std::int64_t b, std::int64_t g, std::int64_t c = 0) const {
    return ((b * groups + g) * in + c) * h.in * w.in;
  }
  std::int64_t result_at(std::int64_t b, std::int64_t g, std::int64_t o = 0) const {
    return ((b * groups + g) * out + o) * h.out * w.out;
  }
  std::int64_t kernel_at(std::int64_t g, std::int64_t o, std::int64_t c = 0) const {
    return ((g * out + o) * in + c) * h.kernel * w.kernel;
  }
};

}  // namespace xgrad
