// The parameters of every model of the program.
#include "model_parameters.h"

#include <mutex>
#include <unordered_map>
#include <unordered_set>


namespace xgrad::detail {
namespace {

struct Entry {
  ModelParameters* model;
  std::uint64_t number;
};

struct Known {
  std::mutex mutex;
  std::unordered_map<const Node*, Entry> parameters;
  std::unordered_set<const Node*> whole_buffers;
};
// Never destroyed: models may be static objects.
Known& known() {
  static Known& only = *new Known;
  return only;
}

}  // namespace

ModelParameters::~ModelParameters() {
  const std::lock_guard lock(known().mutex);
  for (const auto& [number, parameter] : living_) known().parameters.erase(parameter.node().get());
}

void ModelParameters::add(const Tensor& parameter) {
  const std::lock_guard lock(known().mutex);
  const auto added = living_.emplace(declared(), parameter).first;
  try {
    known().parameters[parameter.node().get()] = {this, declared()};
  } catch (...) {
    living_.erase(added);
    throw;
  }
  declared_.fetch_add(1, std::memory_order_relaxed);
}

void ModelParameters::remove(const Tensor& parameter) noexcept {
  const std::lock_guard lock(known().mutex);
  const auto entry = known().parameters.find(parameter.node().get());
  if (entry == known().parameters.end()) return;
  living_.erase(entry->second.number);
  known().parameters.erase(entry);
}

Tensors ModelParameters::since(std::uint64_t count) const {
  const std::lock_guard lock(known().mutex);
  Tensors found;
  for (auto entry = living_.lower_bound(count); entry != living_.end(); ++entry) found.push_back(entry->second);
  return found;
}

std::shared_ptr<const ModelParameters> ModelParameters::of(const Node* parameter) {
  const std::lock_guard lock(known().mutex);
  const auto entry = known().parameters.find(parameter);
  return entry == known().parameters.end() ? nullptr : entry->second.model->weak_from_this().lock();
}

void ModelParameters::add_whole(const Tensor& buffer) {
  const std::lock_guard lock(known().mutex);
  known().whole_buffers.insert(buffer.node().get());
}

void ModelParameters::remove_whole(const Tensor& buffer) noexcept {
  const std::lock_guard lock(known().mutex);
  known().whole_buffers.erase(buffer.node().get());
}

bool ModelParameters::is_whole(const Node* buffer) {
  const std::lock_guard lock(known().mutex);
  return buffer && known().whole_buffers.contains(buffer);
}

}  // namespace xgrad::detail
