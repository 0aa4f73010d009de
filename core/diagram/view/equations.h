// Names and equations in mathematical notation, with the names of operands, and the widths of letters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../base/text.h"
#include "../../profile/summary.h"
#include "view.h"

namespace xgrad::detail {

enum class LetterStyle { headline, plain, name, number, detail };

/// The position of letters: indices below the line, exponents above it.
enum class Script { none, below, above };

/// Words of one style, as given: escaping is the renderer's task. Or numbers, on a line of their own: a renderer that
/// draws shows them as cells or as a histogram (labels.h), the others write the text.
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

/// A number of a formula. The root of a whole number, or its inverse, is written as such: `1/sqrt 32`, with this sign for
/// the root.
std::string constant_text(Real number, std::string_view root);

/// As printable (base/text.h), for the content of an XML element or attribute.
std::string xml_escaped(std::string_view text);

enum class FontWeight { regular, bold };

/// The width in pixels that printable text needs at a font size: for each letter the widest of the sans-serif fonts
/// that readers may have, since a picture does not know their font.
double text_width(std::string_view text, double size, FontWeight weight);

/// Gives every operation its formula and its derivative, and every gradient rule the derivative of its operation. The
/// names of the inputs and of the result, or the number that an input is, replace x, a, b, weight, ... and y; an
/// operand without a name keeps its letter, or gets another one if that already names something else in the diagram.
void add_equations(GraphView& view);

}  // namespace xgrad::detail
