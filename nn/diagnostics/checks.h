// Checks for leaks in models of sequences: no position may see later ones, and none the padding.
//
//     const nn::Gpt gpt{nn::root, {.vocabulary = 65, .context = 64, .dim = 32, .heads = 4, .layers = 2}};
//     std::cout << nn::check_causality(gpt, ids);                                                // ids (B, T)
//     std::cout << nn::check_causality([&](const Index& target) { return model(source, lengths, target); }, target,
//                                      {.model = &model});
//
// A leak is easy to overlook: the loss falls faster than it should, and generated text is garbage.
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
  /// The model that f runs: its dropout is off during the check, and the module with the leak is named. If f is a
  /// module, it need not be given.
  const Module* model = nullptr;
};

/// The first output that depends on a later input, and the first such input.
struct CausalityLeak {
  std::int64_t t = 0;       ///< position of the output
  std::int64_t s = 0;       ///< position of the input, s > t
  double change = 0;        ///< how far the output moves when the input is another one
  std::string module = {};  ///< the first whose result shows it, if it is known
};

/// The result of a check of causality.
struct [[nodiscard]] CausalityReport {
  std::int64_t positions = 0;  ///< T
  bool depends = false;        ///< whether outputs depend on inputs at all
  std::optional<CausalityLeak> leak = {};

  bool ok() const { return depends && !leak; }
};

/// How the outputs of a padded batch are to be read.
enum class PaddedOutput {
  positions,   ///< (B, T, ...), of which the first lengths[b] positions of row b count
  everything,  ///< all of it counts: an encoder's summary, or the logits of a decoder that reads the padded source
};

struct PaddingInvarianceOptions {
  const Module* model = nullptr;  ///< as in CausalityOptions
  PaddedOutput output = PaddedOutput::positions;
  double tolerance = sizeof(Real) == 8 ? 1e-9 : 1e-4;  ///< for other sums in a narrower batch, relative to the largest
};

/// How outputs depend on padding.
struct PaddingLeak {
  Shape output = {};         ///< position of the first output that changes with the padding
  double change = 0;         ///< how far outputs move at most
  std::string module = {};   ///< the first whose result shows it, if it is known
  std::int64_t columns = 0;  ///< not 0 if outputs only change without so many last columns, padding in all rows
};

/// The result of a check of padding.
struct [[nodiscard]] PaddingInvarianceReport {
  bool depends = false;  ///< whether outputs depend on inputs that count
  std::optional<PaddingLeak> leak = {};

  bool ok() const { return depends && !leak; }
};

namespace detail {
/// Token ids (B, T), or numbers (B, T, ...).
using Sequences = std::variant<Index, Tensor>;

/// A function of sequences that is to be run with x and with others.
struct Trial {
  const char* op;
  std::function<Tensor(const Sequences& x)> f;
  Sequences x;
  Shape shape;          ///< of x
  const Module* model;  ///< the one that f runs: it is given, or f itself
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

/// Whether output t of f depends on inputs 0 ... t alone: f(x) is (B, T, ...) for token ids x (B, T), or for x (B, T,
/// ...) of numbers, such as embedded ids. Outputs 0 ... s - 1 must be the same to the last bit when input s is another
/// one (T forward passes); other ids are taken from among those in x, other numbers are drawn. Changes nothing.
/// Throws ShapeError unless shapes are as said; ValueError for an empty f, fewer than 2 positions, ids that are all
/// equal, or an f that gives other values for the same input, as with dropout; and what f throws.
/// Threads: no other may run the model in the meantime.
template <class F, class Input>
CausalityReport check_causality(const F& f, const Input& x, const CausalityOptions& options = {}) {
  return detail::check_causality(detail::trial_of("check_causality", f, x, options.model));
}

/// Whether the outputs of f(x, lengths) that count depend on the first lengths[b] positions of each row b of x alone; x
/// as above. These outputs must be the same to the last bit with other padding. If the last columns are padding in all
/// rows, outputs must also be the same, to the tolerance, without these. Changes nothing.
///
///     nn::check_padding_invariance([&](const Index& ids, const Index& n) { return bert(ids, {.lengths = n}); }, ids,
///                                  lengths, {.model = &bert});
///
/// Throws ShapeError unless lengths is (B) and shapes are as said; ValueError for an empty f, a length outside [0, T],
/// lengths without padding or with nothing else, ids that are all equal, a negative tolerance, or an f that gives other
/// values for the same input; and what f throws. Threads: as above.
template <class F, class Input>
PaddingInvarianceReport check_padding_invariance(const F& f, const Input& x, const Index& lengths,
                                                 const PaddingInvarianceOptions& options = {}) {
  const detail::Trial trial = detail::trial_of("check_padding_invariance", f, x, options.model, lengths);
  return detail::check_padding_invariance(trial, lengths, options);
}

/// One line.
std::string to_string(const CausalityReport& report);
std::string to_string(const PaddingInvarianceReport& report);
std::ostream& operator<<(std::ostream& out, const CausalityReport& report);
std::ostream& operator<<(std::ostream& out, const PaddingInvarianceReport& report);

}  // namespace xgrad::nn
