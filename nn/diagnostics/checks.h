// Checks for leaks in sequence models: outputs must not depend on later positions, nor on padding.
//
//     const nn::Gpt gpt{nn::root, {.vocabulary = 65, .context = 64, .dim = 32, .heads = 4, .layers = 2}};
//     std::cout << nn::check_causality(gpt, ids);                                                // ids (B, T)
//     std::cout << nn::check_causality([&](const Index& target) { return model(source, lengths, target); }, target,
//                                      {.model = &model});
//
// A leak is easy to overlook: the loss falls faster than it should, but generated text is garbage.
#pragma once

#include <concepts>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>

#include "../module.h"

namespace xgrad::nn {

struct CausalityOptions {
  /// The model that f runs. With it, the check switches dropout off and can name the module with the leak. Not needed
  /// if f is a module.
  const Module* model = nullptr;
};

/// The first output that depends on a later input, and the first such input.
struct CausalityLeak {
  std::int64_t t = 0;       ///< position of the output
  std::int64_t s = 0;       ///< position of the input, s > t
  double change = 0;        ///< by how much the output changes when this input is replaced
  std::string module = {};  ///< first module whose result leaks, with its path; empty if not known
};

/// The result of check_causality.
struct [[nodiscard]] CausalityReport {
  std::int64_t positions = 0;  ///< T, the number of positions
  bool depends = false;        ///< whether any output depends on any input
  std::optional<CausalityLeak> leak = {};

  bool ok() const { return depends && !leak; }
};

/// The outputs of a padded batch that must not depend on the padding.
enum class PaddedOutput {
  positions,   ///< the first lengths[b] positions of row b, for outputs (B, T, ...)
  everything,  ///< all outputs: the summary of an encoder, or the logits of a decoder that reads the padded source
};

struct PaddingInvarianceOptions {
  const Module* model = nullptr;  ///< as in CausalityOptions
  PaddedOutput output = PaddedOutput::positions;
  double tolerance = sizeof(Real) == 8 ? 1e-9 : 1e-4;  ///< of removed padding, relative to the largest output
};

/// How outputs depend on padding.
struct PaddingLeak {
  Shape output = {};         ///< position of the first output that changes with the padding
  double change = 0;         ///< the largest change of an output
  std::string module = {};   ///< first module whose result leaks, with its path; empty if not known
  std::int64_t columns = 0;  ///< if not 0: outputs change when this many last columns, all padding, are removed
};

/// The result of check_padding_invariance.
struct [[nodiscard]] PaddingInvarianceReport {
  bool depends = false;  ///< whether outputs depend on the valid inputs
  std::optional<PaddingLeak> leak = {};

  bool ok() const { return depends && !leak; }
};

namespace detail {
/// Token ids (B, T), or numbers (B, T, ...).
using Sequences = std::variant<Index, Tensor>;

/// A function of sequences, to be run with x and with changed inputs.
struct Trial {
  const char* op;
  std::function<Tensor(const Sequences& x)> f;
  Sequences x;
  Shape shape;          ///< of x
  const Module* model;  ///< the model that f runs: given by the caller, or f itself
};
template <class F, class Input, class... More>
Trial trial_of(const char* op, const F& f, const Input& x, const Module* model, const More&... more) {
  xgrad::detail::refuse_empty(op, f);
  using X = std::conditional_t<std::same_as<Input, Index>, Index, Tensor>;
  if constexpr (std::derived_from<F, Module>) model = model ? model : &f;
  const auto run = [&](const Sequences& sequences) { return f(std::get<X>(sequences), more...); };
  return {op, run, X(x), x.shape(), model};
}

CausalityReport check_causality(const Trial& trial);
PaddingInvarianceReport check_padding_invariance(const Trial& trial, const Index& lengths,
                                                 const PaddingInvarianceOptions& options);
}  // namespace detail

/// Checks that output t of f depends only on inputs 0 ... t. f(x) is (B, T, ...) for token ids x (B, T), or for values
/// x (B, T, ...), for example embeddings. For each s, input s is replaced: by another id that occurs in x, or by a
/// random value. The outputs 0 ... s - 1 must stay the same to the last bit. This takes about T forward passes and does
/// not change the model. Throws ShapeError if x or f(x) has another shape. Throws ValueError for an empty f, fewer than
/// 2 positions, and ids that are all equal. Also throws it if the result of f differs between calls, for example by
/// dropout; and throws what f throws.
/// Threads: no other thread may run the model during the check.
template <class F, class Input>
CausalityReport check_causality(const F& f, const Input& x, const CausalityOptions& options = {}) {
  return detail::check_causality(detail::trial_of("check_causality", f, x, options.model));
}

/// Checks that the valid outputs of f(x, lengths) depend only on the first lengths[b] positions of each row b of x; x
/// as for check_causality. With other padding, valid outputs must stay the same to the last bit. Without last columns
/// that are padding in all rows, they must stay the same up to the tolerance. Changes nothing.
///
///     nn::check_padding_invariance([&](const Index& ids, const Index& n) { return bert(ids, {.lengths = n}); }, ids,
///                                  lengths, {.model = &bert});
///
/// Throws ShapeError if lengths is not (B), or x or the output has another shape. Throws ValueError for an empty f, a
/// length outside [0, T], lengths without padding or with nothing but padding, ids that are all equal, and a negative
/// tolerance. Also throws it if the result of f differs between calls; and throws what f throws. Threads: no other
/// thread may run the model during the check.
template <class F, class Input>
PaddingInvarianceReport check_padding_invariance(const F& f, const Input& x, const Index& lengths,
                                                 const PaddingInvarianceOptions& options = {}) {
  const detail::Trial trial = detail::trial_of("check_padding_invariance", f, x, options.model, lengths);
  return detail::check_padding_invariance(trial, lengths, options);
}

/// The result in one line.
std::string to_string(const CausalityReport& report);
std::string to_string(const PaddingInvarianceReport& report);
std::ostream& operator<<(std::ostream& out, const CausalityReport& report);
std::ostream& operator<<(std::ostream& out, const PaddingInvarianceReport& report);

}  // namespace xgrad::nn
