// Other tensors in place of parameters.
#include "substitution.h"

namespace xgrad::nn::detail {

using xgrad::detail::Engine;

Substitution::Substitution(Pairs pairs) : pairs_(std::move(pairs)) {
  for (const auto& [leaf, stand_in] : pairs_) stand_ins_.emplace(Engine::identity(*leaf), &stand_in);
  for (auto& [leaf, stand_in] : pairs_) {
    stand_in.needed_node();  // one vertex for all
    if (stand_ins_.contains(Engine::identity(stand_in))) stand_in = Engine::twin(stand_in);
    before_.push_back(Engine::twin(stand_in));
  }
  for (std::size_t i = 0; i < pairs_.size(); ++i) Engine::swap(*pairs_[i].first, before_[i]);
}

Substitution::~Substitution() {
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const auto& [leaf, stand_in] = pairs_[i];
    Engine::swap(*leaf, before_[i]);
    if (before_[i].is_leaf()) Engine::own_value(stand_in) = Engine::own_value(before_[i]);
  }
}

void Substitution::saw(Tensor& copy) {
  const auto found = stand_ins_.find(Engine::identity(copy));
  if (found != stand_ins_.end()) {
    Engine::redirect(copy, *found->second);
  } else if (outer()) {
    outer()->saw(copy);
  }
}

std::function<std::shared_ptr<void>()> Substitution::again() const {
  struct Both {
    std::shared_ptr<void> around;
    Substitution inside;
  };
  return [pairs = pairs_, around = outer() ? outer()->again() : nullptr] {
    std::shared_ptr<void> first = around ? around() : nullptr;
    return std::shared_ptr<void>(new Both{std::move(first), Substitution(pairs)});
  };
}

}  // namespace xgrad::nn::detail
