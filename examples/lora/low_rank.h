// LoRA (Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", 2021): W + 2 B A in place of the weight W of
// each linear map of a model, A (r, in), B (out, r). B begins as 0, so that the model begins unchanged.
#pragma once

#include <xgrad/xgrad.h>

namespace lora {

using namespace xgrad;

struct LowRank : nn::Module {
  struct Change {
    const nn::Linear& map;
    Tensor a, b;
  };
  std::vector<Change> changes;

  LowRank(const nn::Module& model, std::int64_t r) {
    model.apply<nn::Linear>([&](const nn::Linear& map) {
      changes.push_back({map, param(str("a", changes.size()), {r, map.in}, nn::init::uniform_within_root(map.in)),
                         param(str("b", changes.size()), {map.out, r}, nn::init::zeros())});
    });
  }
  std::vector<std::pair<std::string, Tensor>> weights() const {  // for nn::functional_call
    std::vector<std::pair<std::string, Tensor>> all;
    for (const auto& [map, a, b] : changes) all.emplace_back(map.path() + ".weight", map.weight + 2 * matmul(b, a));
    return all;
  }
};

}  // namespace lora
