// Equations of the operations of a view, with the names of their operands.
#pragma once

#include "view.h"

namespace xgrad::detail {

/// Gives every operation its formula and its derivative, and every gradient rule the derivative of its operation. The
/// names of the inputs and of the result, or the number that an input is, replace x, a, b, weight, ... and y; an
/// operand without a name keeps its letter, or gets another one if that already names something else in the equation.
void add_equations(GraphView& view);

}  // namespace xgrad::detail
