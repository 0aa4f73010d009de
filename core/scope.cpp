// The place in the model where code is running now.
#include "scope.h"

#include <mutex>
#include <unordered_set>

namespace xgrad {

thread_local constinit Scope* Scope::current_ = nullptr;

const std::string* intern(std::string_view text) {
  // Never destroyed: nodes of the graph may outlive static objects.
  static std::mutex& mutex = *new std::mutex;
  static std::unordered_set<std::string>& texts = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  return &*texts.emplace(text).first;
}

}  // namespace xgrad
