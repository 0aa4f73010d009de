// The parameters of every model of the program.
#include "model_parameters.h"

#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "../base/fork.h"

namespace xgrad::detail {
namespace {

struct Place {
  ModelParameters* model;
  std::uint64_t number;
};

constinit std::mutex mutex;
const WholeAtFork whole{[]() -> std::mutex& { return mutex; }, WholeAtFork::engine};

// Never destroyed: models may be static objects.
std::unordered_map<const Node*, Place>& places() {
  static std::unordered_map<const Node*, Place>& all = *new std::unordered_map<const Node*, Place>;
  return all;
}
std::unordered_set<const Node*>& whole_buffers() {
  static std::unordered_set<const Node*>& all = *new std::unordered_set<const Node*>;
  return all;
}

}  // namespace

ModelParameters::~ModelParameters() {
  const std::lock_guard lock(mutex);
  for (const auto& [number, parameter] : living_) places().erase(parameter.node().get());
}

void ModelParameters::add(const Tensor& parameter) {
  const std::lock_guard lock(mutex);
  const auto added = living_.emplace(declared(), parameter).first;
  try {
    places()[parameter.node().get()] = {this, declared()};
  } catch (...) {
    living_.erase(added);
    throw;
  }
  declared_.fetch_add(1, std::memory_order_relaxed);
}

void ModelParameters::remove(const Tensor& parameter) noexcept {
  const std::lock_guard lock(mutex);
  const auto place = places().find(parameter.node().get());
  if (place == places().end()) return;
  living_.erase(place->second.number);
  places().erase(place);
}

Tensors ModelParameters::since(std::uint64_t count) const {
  const std::lock_guard lock(mutex);
  Tensors found;
  for (auto entry = living_.lower_bound(count); entry != living_.end(); ++entry) found.push_back(entry->second);
  return found;
}

std::shared_ptr<const ModelParameters> ModelParameters::of(const Node* parameter) {
  const std::lock_guard lock(mutex);
  const auto place = places().find(parameter);
  return place == places().end() ? nullptr : place->second.model->weak_from_this().lock();
}

void ModelParameters::add_whole(const Tensor& buffer) {
  const std::lock_guard lock(mutex);
  whole_buffers().insert(buffer.node().get());
}

void ModelParameters::remove_whole(const Tensor& buffer) noexcept {
  const std::lock_guard lock(mutex);
  whole_buffers().erase(buffer.node().get());
}

bool ModelParameters::is_whole(const Node* buffer) {
  const std::lock_guard lock(mutex);
  return buffer && whole_buffers().contains(buffer);
}

}  // namespace xgrad::detail
