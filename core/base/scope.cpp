// The place in the model where code is running now.
#include "scope.h"

#include <mutex>
#include <unordered_set>

#include "fork.h"

namespace xgrad {

namespace {

constinit std::mutex interning;
const detail::WholeAtFork whole_interning{[]() -> std::mutex& { return interning; }, detail::WholeAtFork::engine};

}  // namespace

const Place* intern(std::string_view path, std::string_view what) {
  struct Hash {
    std::size_t operator()(const Place& place) const {
      const std::hash<std::string_view> hash;
      return hash(place.path) + 31 * hash(place.what);
    }
  };
  // Never destroyed: nodes of the graph may outlive static objects.
  static std::unordered_set<Place, Hash>& places = *new std::unordered_set<Place, Hash>;
  const std::lock_guard lock(interning);
  return &*places.insert({.path = std::string(path), .what = std::string(what)}).first;
}

}  // namespace xgrad
