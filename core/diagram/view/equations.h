// Names and equations in mathematical notation, with the names of operands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../profile/summary.h"
#include "view.h"

namespace xgrad::detail {

enum class LetterStyle { headline, plain, name, number, detail };

/// The position of letters: indices below the line, exponents above it.
enum class Script { none, below, above };

/// Words of one style, or numbers on a line of their own. Words are as given: the renderer escapes them. Numbers are
/// drawn as cells or a histogram (NumberPicture in labels.h), or written as the text.
struct LabelSpan {
  std::string text;
  LetterStyle style;
  Script script = Script::none;
  SharedSummary numbers = {};
};
using LabelLine = std::vector<LabelSpan>;

/// The name of a tensor: `alpha_12` becomes a Greek letter with an index; `W_ih`, `x1` and `dL/dW_ih` get an index,
/// too, and the mark of c' becomes a prime. A word such as `self_attn` or `fc1` stays as it is.
LabelLine typeset_name(std::string_view name, LetterStyle style);

/// An equation of core/base/formula.h, `y = x W^T + b_(i - 1)`, with exponents and indices, `sqrt` as a root, and gy as
/// a g with the index y.
LabelLine typeset_equation(std::string_view equation, LetterStyle style);

/// A number of a formula. The root of an integer, or its inverse, is written as such: `1/sqrt 32`, with this sign for
/// the root.
std::string constant_text(Real number, std::string_view root);

/// Gives every operation its formula and its derivative, and every gradient rule the derivative of its operation. The
/// names of the inputs and of the result replace x, a, b, weight, ... and y; so does the value of an input that is a
/// number. A result without a name is y1, y2, ... in its frame; results from outside have the title of their frame, or
/// "input".
void add_equations(GraphView& view);

}  // namespace xgrad::detail
