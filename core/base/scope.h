// The state of a thread: its place in a model, whether it records, the gradient rule that it runs, its observers.
// Errors name the place, and nodes of the graph remember it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "config.h"

namespace xgrad {

class Observer;
struct Node;

/// What becomes of the operations of a thread. A tensor that was computed without a graph keeps the mode as the reason.
enum class GradMode : std::uint8_t {
  recording,  ///< they are recorded where a gradient flows
  no_grad,    ///< they are not, under NoGrad; nor what is computed from their results
  gradient,   ///< they compute gradients whose graph was not asked for
};

/// The reason in words for a tensor without history; empty for one whose operations were recorded.
std::string_view why_no_history(GradMode computed_in);

/// A place in a model: a module's path, and what the module is ("Linear 512 -> 64") where that is known.
struct Place {
  std::string path;
  std::string what = {};
  std::string rule = {};          ///< the operation whose gradient rule runs there, if one does
  const Place* around = nullptr;  ///< of the module around it, where that is known
  friend bool operator==(const Place&, const Place&) = default;
};
/// The interned copy of a place, which lives as long as the program; equal places give equal pointers.
const Place* intern(std::string_view path, std::string_view what = {}, std::string_view rule = {},
                    const Place* around = nullptr);

/// Whether something with this path is the module or part of it: "blocks.1.attn" lies within "blocks.1" and within "".
inline bool lies_within(std::string_view path, std::string_view module) {
  return module.empty() || path == module || (path.starts_with(module) && path[module.size()] == '.');
}

namespace detail {
class CopyListener;
class Donation;

/// The state of a thread. Every scope of the library sets one of these fields and restores it.
struct Context {
  const Place* place = nullptr;           ///< in the model; nullptr: nowhere
  Observer* observers = nullptr;          ///< the newest one
  CopyListener* copy_listener = nullptr;  ///< called for copies of tensors and arrays
  const Node* rule = nullptr;             ///< the operation whose gradient rule runs, the outermost
  Donation* donation = nullptr;           ///< the rule that may overwrite the values it holds
  std::uint32_t recorded_rule = 0;        ///< low bits of the id of `rule` while the graph of its gradient is recorded
  std::uint8_t grad_order = 0;            ///< of the nodes that are made (graph/node.h)
  GradMode grad_mode = GradMode::recording;
  int tracing = 0;         ///< scopes in which operations that no gradient flows through leave a trace
  bool plain = false;      ///< fused operations run in their composed form
  bool notifying = false;  ///< the running code is an observer's
  bool in_loop = false;    ///< inside a parallel_for
  std::uint32_t call = 0;  ///< the id of the innermost call of a module, or 0
};
inline thread_local constinit Context context;

/// The place of the gradient rule of an operation that was recorded at `place`, while the graph of the gradient is
/// recorded; else, and in the rules of a pass that a rule runs, `place` itself.
const Place* place_of_rule(const Place* place, const char* op);
/// A place that is entered within such a rule, with the rule of the place around it; else `place` itself.
const Place* place_in_rule(const Place* place);
/// The place of the composed form of an operation, within this thread's place.
const Place* place_of_composed(const char* op);

/// Sets a field of the thread's context for its life. Scopes nest: the innermost ends first, so none is on the heap.
/// Threads: it belongs to the thread that made it, and must die there.
template <class T>
class ScopedValue {
 public:
  ScopedValue(T Context::*member, std::type_identity_t<T> value)
      : field_(context.*member), before_(std::exchange(field_, value)) {}
  ~ScopedValue() { field_ = before_; }
  ScopedValue(const ScopedValue&) = delete;
  ScopedValue& operator=(const ScopedValue&) = delete;
  static void* operator new(std::size_t) = delete;

 private:
  T& field_;
  T before_;
};

/// A call of a module: diagrams draw several calls of one module apart.
struct Call {
  std::uint32_t id = 0;     ///< 0: none, or not known any more
  std::uint32_t outer = 0;  ///< the id of the call around it, or 0
  const Place* place = nullptr;
};
/// Gives an id to a call that begins at a place. The last 65,536 calls of the program are known. Thread-safe.
std::uint32_t begin_call(const Place* place);
Call find_call(std::uint32_t id);
}  // namespace detail

/// This thread's place in a model; nullptr: nowhere.
inline const Place* current_place() { return detail::context.place; }

/// A named place, `decoder.blocks.1.cross_attn`, entered for the life of the object and left when it dies, also by an
/// exception. Scopes nest per thread; the innermost one is current. Threads: parallel_for takes the place along; a new
/// thread is nowhere.
class Scope {
 public:
  /// `place` is interned, or nullptr for "nowhere".
  [[nodiscard]] explicit Scope(const Place* place)
      : call_(&detail::Context::call, detail::begin_call(place)),
        place_(&detail::Context::place, detail::context.recorded_rule == 0 ? place : detail::place_in_rule(place)) {}
  static void* operator new(std::size_t) = delete;

 private:
  const detail::ScopedValue<std::uint32_t> call_;
  const detail::ScopedValue<const Place*> place_;
};

/// While it lives, fused operations (softmax, attention) run as the operations that they are composed of: a graph has
/// each of these, and a breakpoint stops in a formula (ops/record_fused.h). That is one level: an operation that
/// a composed form calls, as attention calls softmax, stays a single one. Rules and the second run of a checkpoint do
/// as their forward pass did. `Plain(false)` returns to the kernels. Threads: parallel_for takes it along; a new thread
/// runs kernels.
struct [[nodiscard]] Plain : detail::ScopedValue<bool> {
  [[nodiscard]] explicit Plain(bool on = true) : ScopedValue(&detail::Context::plain, on) {}
};
/// Whether this thread is to run fused operations in their composed form.
inline bool runs_plain() { return detail::context.plain; }

}  // namespace xgrad
