// Running another program that makes one text from another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../base/config.h"

namespace xgrad::detail {

/// The output of the program `arguments[0]`, found in PATH, with `input` as its standard input. The program is killed
/// after `seconds`, so the call always returns. This process, which may have many threads, is not copied. Throws
/// IoError, naming `caller` and ending with `advice`, if the program is missing or fails, or if there is no space for
/// temporary files. Thread-safe.
std::string run_program(const std::vector<std::string>& arguments, std::string_view input, std::string_view caller,
                        std::string_view advice = {}, int seconds = 60);

}  // namespace xgrad::detail
