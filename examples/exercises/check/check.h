// The parts that the checkers share. Each function throws NotYet, whose text tells the reader why an answer is not
// right.
#pragma once

#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/core/array/random.h>
#include <xgrad/core/base/text.h>
#include <xgrad/core/graph/observe.h>

#include "../exercises.h"

namespace xgrad::exercises {

/// Why an answer is not right.
struct NotYet : std::runtime_error {
  using std::runtime_error::runtime_error;
};
template <class... Parts>
[[noreturn]] void not_yet(const Parts&... parts) {
  throw NotYet(str(parts...));
}

/// Throws for a hole that is as it was: "nothing written yet", and a hint.
void written(bool defined, std::string_view hint);
/// Throws unless the shapes are equal; `meaning` says what the sizes are: "(B, T, S)".
void has_shape(std::string_view what, const Shape& shape, const Shape& expected, std::string_view meaning);
/// Throws, with the first NaN's position, if there is one.
void has_no_nan(std::string_view what, const Tensor& x, std::string_view why);
/// Throws for the worst element, with its position; `what` is singular: "the weight".
void same(std::string_view what, const Tensor& x, const Tensor& expected, std::string_view why = {},
          double tolerance = 1e-4);
/// Throws `text` if x is what a known mistake gives.
template <class... Parts>
void not_this(const Tensor& x, const Tensor& mistaken, const Parts&... text) {
  if (x.shape() == mistaken.shape() && allclose(x, mistaken, {.rtol = 1e-4, .atol = 1e-5})) not_yet(text...);
}

/// Normal numbers, other ones for another seed.
Tensor numbers(const Shape& shape, std::int64_t seed = 1);
/// The same as a leaf with a gradient.
Tensor leaf(const Shape& shape, std::string_view name, std::int64_t seed = 1);
/// A number for people, with few digits.
inline std::string digits(double value) { return detail::rounded(value, 4); }

/// Collects the names of the operations that run while it lives; a backward pass counts as one, "grad".
struct Operations : Observer {
  void operation(const OperationRun& run) override { names.insert(run.op); }
  void complete_gradient(const Node&, const Tensor&) override { names.insert("grad"); }
  /// Throws if one of these ran: the exercise is to write it.
  void refuse(const std::vector<std::string_view>& refused) const;
  std::set<std::string, std::less<>> names;
};

/// What the reply says after "right": each checker ends with it.
std::string& right_because();
/// Where diagrams are written, empty: nowhere.
std::filesystem::path& drawing_folder();

}  // namespace xgrad::exercises
