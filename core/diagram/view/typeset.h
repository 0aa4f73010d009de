// Names and equations in mathematical notation: Greek letters, indices below the line, exponents above it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../profile/summary.h"

namespace xgrad::detail {

enum class LetterStyle { headline, plain, name, number, detail };

/// The position of letters: indices below the line, exponents above it.
enum class Script { none, below, above };

/// Words of one style, as given: escaping is the renderer's task. Or numbers, on a line of their own: a renderer that
/// draws shows them as cells or as a histogram (number_picture.h), the others write the text.
struct LabelRun {
  std::string text;
  LetterStyle style;
  Script script = Script::none;
  SharedSummary numbers = {};
};
using LabelLine = std::vector<LabelRun>;

/// The name of a tensor: `alpha_12` is a Greek letter with an index, `W_ih`, `x1` and `dL/dW_ih` have one, too, and the
/// mark of c' becomes a prime. A word, such as `self_attn` or `fc1`, stays as it is.
LabelLine typeset_name(std::string_view name, LetterStyle style);

/// An equation of core/base/formula.h: `y = x W^T + b_(i - 1)` with its exponents and indices, `sqrt` as a root, gy as
/// a g with the index y.
LabelLine typeset_equation(std::string_view equation, LetterStyle style);

}  // namespace xgrad::detail
