// What is wrong with an answer, found without knowledge of its exercise: the answer and the right function run on the
// same arguments, and on changed ones.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "check.h"

namespace xgrad::exercises {

/// An argument of an answer, by its name in the statement.
struct Given {
  std::string name;
  std::variant<Tensor, Index, double, std::int64_t> value;
};
using Arguments = std::vector<Given>;
using Function = std::function<Tensor(const Arguments&)>;

/// A function of tensors, indices and numbers as a function of their list.
template <class... P>
Function of_list(std::function<Tensor(P...)> f) {
  return [f](const Arguments& given) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return f(std::get<std::decay_t<P>>(given[I].value)...); }
    (std::index_sequence_for<P...>{});
  };
}

/// A mistake that an exercise knows by itself: what it gives, and what to say about it.
struct Known {
  Tensor value;
  std::string text;
};

/// A part of a result that is a sum, as a function of the arguments: the reply says how often a wrong result has it.
struct Term {
  std::string name;
  Function value;
};
template <class F>
Term term(std::string name, const F& f) {
  return {std::move(name), of_list(std::function{f})};
}

/// What is compared: "the weight", what its sizes mean: "(B, T, S)", and what the replies say about it.
struct Compared {
  std::string what;
  std::string meaning = "that of the right result";
  std::string hint = {};                       ///< said for a hole that is as it was
  std::string misfit = {};                     ///< said after the library's reason if shapes do not fit in the answer
  std::vector<std::string_view> refused = {};  ///< the operations that the exercise is to write
  std::vector<Known> known = {};
  std::vector<Term> terms = {};
  std::string why = {};  ///< said if no mistake fits
  double tolerance = 1e-4;
};

/// Throws NotYet unless both functions give one result, and the same gradients of the arguments that require one. The
/// reason is the first that fits: another shape with the right elements; a known mistake; the right result with another
/// sign, times a factor, with other axes, shifted or under a function; the right result for changed arguments, or along
/// another axis; a sum of the terms with other factors; the argument on which the result depends in a wrong way.
void agree(const Compared& compared, const Function& answer, const Function& right, const Arguments& given);
template <class F, class G>
void agree(const Compared& compared, const F& answer, const G& right, const Arguments& given) {
  agree(compared, of_list(std::function{answer}), of_list(std::function{right}), given);
}

/// Where x is farthest from the right result of its shape, " at [0, 2] is 1 instead of 2", or an empty text.
std::string place_of_error(const Tensor& x, const Tensor& right, double tolerance);
/// How x follows from the right result, as a clause that begins with ": ", or an empty text.
std::string form_of(const Tensor& x, const Tensor& right, const Arguments& given = {});

}  // namespace xgrad::exercises
