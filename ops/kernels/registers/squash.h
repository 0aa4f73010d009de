// The activation function of a plain recurrent cell.
#pragma once

#include "../../../core/base/config.h"

namespace xgrad {

/// The f of rnn.
enum class Squash { tanh, relu };

}  // namespace xgrad
