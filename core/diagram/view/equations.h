// What the operations of a view compute, in the names that their operands have.
#pragma once

#include "view.h"

namespace xgrad::detail {

/// Gives every operation its formula and its derivative, and every gradient rule the derivative of its operation. In
/// place of x, a, b, weight, ... and y stand the names of the inputs and of the result, or the number that an input is;
/// what has no name keeps its letter, or another one if that is the name of something else in the equation.
void add_equations(GraphView& view);

}  // namespace xgrad::detail
