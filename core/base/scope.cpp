// The place in the model where code is running now.
#include "scope.h"

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <unordered_set>

namespace xgrad {

namespace {

struct HashOfPlace {
  std::size_t operator()(const Place& place) const {
    const std::hash<std::string_view> hash;
    return hash(place.path) + 31 * (hash(place.what) + 31 * hash(place.rule));
  }
};

struct Places {
  std::mutex mutex;
  std::unordered_set<Place, HashOfPlace> all;
};
// Never destroyed: nodes of the graph may outlive static objects.
Places& places() {
  static Places& only = *new Places;
  return only;
}

// A ring: each call takes the place of an old one.
struct KnownCall {
  std::atomic<std::uint32_t> id, outer;
  std::atomic<const Place*> place;
};
constexpr std::uint32_t most_calls = 65'536;
struct {
  std::atomic<std::uint32_t> begun;
  std::array<KnownCall, most_calls> known;
} constinit calls{};

const Place* with_rule(const Place* place, std::string_view rule) {
  return place ? intern(place->path, place->what, rule, place->around) : intern({}, {}, rule);
}

}  // namespace

std::string_view why_no_history(GradMode computed_in) {
  switch (computed_in) {
    case GradMode::no_grad:
      return "was computed under NoGrad, which records no graph, or from what was";
    case GradMode::gradient:
      return "comes from a gradient that was computed without a graph; pass {.create_graph = true} to the grad() that "
             "it comes from";
    case GradMode::recording:
      break;
  }
  return "";
}

const Place* intern(std::string_view path, std::string_view what, std::string_view rule, const Place* around) {
  const std::lock_guard lock(places().mutex);
  return &*places().all.insert({std::string(path), std::string(what), std::string(rule), around}).first;
}

const Place* detail::place_of_rule(const Place* place, const char* op) {
  if (context.grad_mode != GradMode::recording || context.recorded_rule != 0) return place;
  thread_local std::map<std::pair<const Place*, const char*>, const Place*> known;
  const Place*& found = known[{place, op}];
  if (!found) found = with_rule(place, op);
  return found;
}

std::uint32_t detail::begin_call(const Place* place) {
  const bool drawn = context.recorded_rule == 0 && (context.grad_mode == GradMode::recording || context.tracing > 0);
  if (!place || !drawn) return 0;
  const std::uint32_t id = calls.begun.fetch_add(1, std::memory_order_relaxed) + 1;
  KnownCall& call = calls.known[id % most_calls];
  call.place.store(place, std::memory_order_relaxed);
  call.outer.store(context.call, std::memory_order_relaxed);
  call.id.store(id, std::memory_order_release);
  return id;
}

detail::Call detail::find_call(std::uint32_t id) {
  const KnownCall& call = calls.known[id % most_calls];
  if (id == 0 || call.id.load(std::memory_order_acquire) != id) return {};
  return {id, call.outer.load(std::memory_order_relaxed), call.place.load(std::memory_order_relaxed)};
}

const Place* detail::place_in_rule(const Place* place) {
  const Place* outer = context.place;
  if (!outer || outer->rule.empty() || (place && !place->rule.empty())) return place;
  return with_rule(place, outer->rule);
}

const Place* detail::place_of_composed(const char* op) {
  const std::string around = context.place ? context.place->path : std::string();
  return intern(around.empty() ? std::string(op) : around + '.' + op, {}, {}, context.place);
}

}  // namespace xgrad
