// Padding of sequences (..., L) and pictures (..., H, W) as layers, under PyTorch's names. Each is pad() along the last
// axis, or the last two.
#pragma once

#include "../../ops/arrange/slice.h"
#include "../module.h"

namespace xgrad::nn {

/// How many elements to add around a picture; a single number stands for all four sides.
struct Padding4 {
  Padding4(std::int64_t each) : left(each), right(each), top(each), bottom(each) {}
  Padding4(std::int64_t left, std::int64_t right, std::int64_t top, std::int64_t bottom)
      : left(left), right(right), top(top), bottom(bottom) {}

  std::int64_t left, right, top, bottom;
};

/// How many elements to add to a sequence; a single number stands for both ends.
struct Padding2 {
  Padding2(std::int64_t each) : left(each), right(each) {}
  Padding2(std::int64_t left, std::int64_t right) : left(left), right(right) {}

  std::int64_t left, right;
};

/// Around a sequence, the sequence, reflected at its ends: PadMode::reflect. Throws as pad.
struct ReflectionPad1d : Module {
  ReflectionPad1d(At here, const Padding2& width) : Module(std::move(here)), padding(width) {}
  explicit ReflectionPad1d(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const Padding2 padding;

 protected:
  std::string settings() const override;
};

/// Around a picture, the picture, reflected at its borders: PadMode::reflect. Throws as pad.
struct ReflectionPad2d : Module {
  ReflectionPad2d(At here, const Padding4& width) : Module(std::move(here)), padding(width) {}
  explicit ReflectionPad2d(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const Padding4 padding;

 protected:
  std::string settings() const override;
};

/// Around a sequence, the last element: PadMode::replicate. Throws as pad.
struct ReplicationPad1d : Module {
  ReplicationPad1d(At here, const Padding2& width) : Module(std::move(here)), padding(width) {}
  explicit ReplicationPad1d(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const Padding2 padding;

 protected:
  std::string settings() const override;
};

/// Around a picture, the last element: PadMode::replicate. Throws as pad.
struct ReplicationPad2d : Module {
  ReplicationPad2d(At here, const Padding4& width) : Module(std::move(here)), padding(width) {}
  explicit ReplicationPad2d(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const Padding4 padding;

 protected:
  std::string settings() const override;
};

/// Around a sequence, the sequence again, from its other end: PadMode::circular. Throws as pad.
struct CircularPad1d : Module {
  CircularPad1d(At here, const Padding2& width) : Module(std::move(here)), padding(width) {}
  explicit CircularPad1d(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const Padding2 padding;

 protected:
  std::string settings() const override;
};

/// Around a picture, the picture again, from its other side: PadMode::circular. Throws as pad.
struct CircularPad2d : Module {
  CircularPad2d(At here, const Padding4& width) : Module(std::move(here)), padding(width) {}
  explicit CircularPad2d(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const Padding4 padding;

 protected:
  std::string settings() const override;
};

/// Around a sequence, this value. Throws as pad.
struct ConstantPad1d : Module {
  ConstantPad1d(At here, const Padding2& width, double number)
      : Module(std::move(here)), padding(width), value(number) {}
  explicit ConstantPad1d(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const Padding2 padding;
  const double value;

 protected:
  std::string settings() const override;
};

/// Around a picture, this value. Throws as pad.
struct ConstantPad2d : Module {
  ConstantPad2d(At here, const Padding4& width, double number)
      : Module(std::move(here)), padding(width), value(number) {}
  explicit ConstantPad2d(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const Padding4 padding;
  const double value;

 protected:
  std::string settings() const override;
};

/// Around a sequence, zeros. Throws as pad.
struct ZeroPad1d : ConstantPad1d {
  ZeroPad1d(At here, const Padding2& width) : ConstantPad1d(std::move(here), width, 0) {}
  explicit ZeroPad1d(Placeless, ...);  ///< does not compile: no place
};

/// Around a picture, zeros. Throws as pad.
struct ZeroPad2d : ConstantPad2d {
  ZeroPad2d(At here, const Padding4& width) : ConstantPad2d(std::move(here), width, 0) {}
  explicit ZeroPad2d(Placeless, ...);  ///< does not compile: no place
};

}  // namespace xgrad::nn
