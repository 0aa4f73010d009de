// An option by its name.
#pragma once

#include "../core/base/config.h"

namespace xgrad::optim {

/// An option of an optimizer besides the rate, by its name: a state remembers it.
struct NamedOption {
  enum Range { any, not_negative, below_one };

  const char* name;
  double value;
  Range range = any;  ///< where it must lie; not_negative: and finite
};

}  // namespace xgrad::optim
