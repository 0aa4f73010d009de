// ModuleState: what the library keeps about a module. Programs call Module; this header is for the library's own
// sources.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/graph/model_parameters.h"
#include "module.h"

namespace xgrad::nn::detail {

/// A module's place in the tree, its tensors, its mode and its hooks. Threads: as Module.
struct ModuleState {
  /// A parameter or a buffer.
  struct Entry {
    std::string name;
    Tensor tensor;
    enum Kind { owned, shared, buffer, integer_buffer } kind;
    Decay decay = Decay::yes;

    bool is_buffer() const { return kind == buffer || kind == integer_buffer; }
  };
  struct Hook {
    std::uint64_t id;
    ForwardHook function;
  };

  ModuleState(const Module& module, Module* around) : self(module), place(intern("")), parent(around) {}
  static ModuleState& of(const Module& module) { return *module.state_; }

  std::string full_name(std::string_view name) const;

  /// Calls f(name from here, entry) for everything in this module and below. Throws as check_places.
  void visit(const std::function<void(const std::string& name, const Entry&)>& f, const std::string& prefix = {}) const;
  /// Calls f(name from here, parameter) once for each parameter.
  void visit_parameters(const std::function<void(const std::string& name, const Tensor&)>& f) const;
  void set_training(bool on);

  /// Throws ValueError for a name that a member has already, is empty or holds a dot.
  void check_new_name(std::string_view name) const;
  /// Marks a place that at() has made as taken.
  void take_place(const std::string& name);
  /// Throws ValueError if at() has made a place for a child and no module has taken it.
  void check_places() const;
  /// The place with the module's description, and those of the modules around it.
  const Place* described_place();

  const Module& self;
  const Place* place;
  Module* parent;
  std::shared_ptr<xgrad::detail::ModelParameters> model = {};  ///< of the whole tree
  std::vector<Entry> entries = {};
  std::vector<std::pair<std::string, Module*>> children = {};
  std::vector<std::string> places = {};  ///< made by at() and not taken yet
  bool training = true;
  std::vector<Hook> hooks = {};
  std::uint64_t next_hook = 1;
  std::vector<Eval*> evals = {};  ///< the oldest first

 private:
  const Place* cached_place() const;
  const Place* place_around() const;
  const Place* describe(const Place* around);

  std::atomic<const Place*> described_{nullptr};
  std::atomic<Class> described_as_{Class()};  // the class that was asked
};

}  // namespace xgrad::nn::detail
