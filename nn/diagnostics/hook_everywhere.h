// A hook on every module of a model.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "../module.h"

namespace xgrad::nn::detail {

/// A hook on a module and all below it, for as long as it lives; on none if there is no module. Threads: of one.
class HookEverywhere {
 public:
  HookEverywhere(const Module* model, const std::function<void(const ForwardCall&)>& hook) {
    if (!model) return;
    model->apply([&](const Module& part) {
      hooks_.reserve(hooks_.size() + 1);
      hooks_.emplace_back(&part, part.on_forward(hook));
    });
  }
  ~HookEverywhere() {
    for (const auto& [module, id] : hooks_) module->remove_hook(id);
  }
  HookEverywhere(const HookEverywhere&) = delete;
  HookEverywhere& operator=(const HookEverywhere&) = delete;

 private:
  std::vector<std::pair<const Module*, std::uint64_t>> hooks_;
};

}  // namespace xgrad::nn::detail
