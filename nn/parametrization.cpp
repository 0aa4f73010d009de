// Parameters that a layer computes each time it runs.
#include "parametrization.h"

#include <algorithm>

#include "../ops/arrange/shape.h"
#include "../ops/elementwise/arithmetic.h"
#include "../ops/products/matmul.h"
#include "substitution.h"

namespace xgrad::nn {

Parametrization::Parametrization(Module& layer, std::string_view parameter, std::string_view name)
    : Module(layer.at(cat(parameter, "_", name))) {
  const Scope scope(layer.place());
  const auto is_it = [&](const Entry& entry) { return entry.name == parameter && !entry.is_buffer(); };
  const auto found = std::ranges::find_if(layer.entries_, is_it);
  if (found == layer.entries_.end()) {
    std::vector<std::string> names;
    for (const Entry& entry : layer.entries_) {
      if (!entry.is_buffer()) names.push_back(entry.name);
    }
    fail<ValueError>("parametrization", layer.description(), " has no parameter '", parameter, "', only ", names);
  }
  entry_ = static_cast<std::size_t>(found - layer.entries_.begin());
  layer.parametrizations_.push_back(this);
}

Parametrization::~Parametrization() {
  if (parent_) std::erase(parent_->parametrizations_, this);
}

const Tensor& Parametrization::plain() const {
  if (!parent_) fail<GraphError>("parametrization", "the layer of ", path(), " is gone");
  return parent_->entries_[entry_].tensor;
}

Tensor Parametrization::checked(const Tensor& given) const {
  const Scope scope(place());
  Tensor computed = compute(given);
  if (!computed.defined() || computed.shape() != given.shape()) {
    fail<ShapeError>("parametrization", "compute gives ", computed.defined() ? cat(computed.shape()) : "nothing",
                     " for ", given.name(), " of shape ", given.shape());
  }
  return computed;
}

Tensor Parametrization::value() const { return checked(plain()); }

std::shared_ptr<void> Parametrization::all_of(const Module& layer) {
  detail::Substitution::Pairs pairs;
  for (const Parametrization* one : layer.parametrizations_) {
    const Tensor& plain = one->plain();
    const auto earlier = std::ranges::find(pairs, &plain, &detail::Substitution::Pairs::value_type::first);
    if (earlier == pairs.end()) {
      pairs.emplace_back(&plain, one->checked(plain));
    } else {
      earlier->second = one->checked(earlier->second);
    }
  }
  return std::make_shared<detail::Substitution>(std::move(pairs));
}

void Entered::begin() {
  const auto hooks = module_.hooks_;  // a hook may remove itself
  for (const Module::Hook& hook : hooks) {
    if (hook.when == Module::When::before) hook.function({module_, inputs_, indices_, Tensor()});
  }
  if (!module_.parametrizations_.empty()) substitution_ = Parametrization::all_of(module_);
}

namespace {

const Tensor& at_least_a_matrix(const char* op, const Tensor& plain) {
  if (plain.rank() < 2) fail<ShapeError>(op, plain.name(), " of shape ", plain.shape(), " is no matrix");
  return plain;
}

}  // namespace

Lora::Lora(Module& layer, const Options& given)
    : Parametrization(layer, given.parameter, "lora"),
      options(given),
      a(param("a", {positive("rank", given.rank),
                    at_least_a_matrix("lora", plain()).size() / std::max<std::int64_t>(plain().dim(0), 1)},
              init::uniform_within_root(plain().size() / std::max<std::int64_t>(plain().dim(0), 1)))),
      b(param("b", {plain().dim(0), options.rank}, init::zeros())) {}

Tensor Lora::compute(const Tensor& plain) const {
  return plain + reshape(matmul(b, a) * (options.alpha / static_cast<double>(options.rank)), plain.shape());
}

void Lora::merge() const {
  Array merged = compute(plain().detach()).value();
  plain().assign(std::move(merged));
  b.assign(Array(b.shape(), Real(0)));
}

}  // namespace xgrad::nn
