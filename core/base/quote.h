// Text from outside, made fit to be shown.
#pragma once

#include <string>
#include <string_view>

#include "config.h"

namespace xgrad {

/// Text in double quotes, at most about 100 bytes of it, with everything escaped that is not printable ASCII: how
/// errors show names out of files.
std::string escaped(std::string_view text);

}  // namespace xgrad
