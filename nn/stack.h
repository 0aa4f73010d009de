// Stack: n copies of a layer, numbered, called one after the other.
#pragma once

#include <memory>
#include <vector>

#include <xgrad/nn/module.h>

namespace xgrad::inline XGRAD_ABI::nn {

/// More layers than this, one after the other, are refused: nobody can have meant them.
inline constexpr std::int64_t most_layers = 1 << 16;

/// Layers of one type with the names 0, 1, ..., n - 1, each made from the same arguments.
///
///     nn::Stack<Block> blocks{at("blocks"), config.layers, config};       // blocks.0, blocks.1, ...
///     y = blocks(x);                                                      // or blocks(x, mask)
template <class Layer>
class Stack : public Module {
 public:
  /// `count` layers, each born as Layer(its place, arguments...). Throws ValueError for a negative count,
  /// LimitError for more than most_layers.
  template <class... Arguments>
  Stack(At here, std::int64_t count, const Arguments&... arguments) : Module(here) {
    const Scope scope(&path());
    if (count < 0) fail<ValueError>("stack", count, " layers");
    if (count > most_layers) fail<LimitError>("stack", count, " layers, allowed are ", most_layers);
    for (std::int64_t i = 0; i < count; ++i) layers_.push_back(std::make_unique<Layer>(at(cat(i)), arguments...));
  }

  /// layer n-1(... layer 1(layer 0(x, more...), more...) ..., more...); x itself if there are no layers.
  template <class... More>
  Tensor operator()(const Tensor& x, const More&... more) const {
    Tensor y = x;
    for (const auto& layer : layers_) y = (*layer)(y, more...);
    return y;
  }

  std::int64_t size() const { return static_cast<std::int64_t>(layers_.size()); }
  /// Layer i. Throws ValueError.
  const Layer& operator[](std::int64_t i) const {
    if (i < 0 || i >= size()) fail<ValueError>("stack", "layer ", i, " of ", size());
    return *layers_[static_cast<std::size_t>(i)];
  }

 protected:
  std::string settings() const override { return cat("of ", size()); }

 private:
  std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace xgrad::inline XGRAD_ABI::nn
