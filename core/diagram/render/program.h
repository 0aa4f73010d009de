// Running another program that makes one text from another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../base/config.h"

namespace xgrad::detail {

/// The end of a program.
struct ProgramResult {
  std::string output;
  std::string failure;  ///< empty on success
  bool is_there = true;
};

/// Runs the program `arguments[0]`, found in PATH, with `input` as its standard input. The program is killed after
/// `seconds`, so the call always returns. This process, which may have many threads, is not copied. Throws IoError,
/// naming `caller`, if there is no space for temporary files. Thread-safe.
ProgramResult run_program(const std::vector<std::string>& arguments, std::string_view input, std::string_view caller,
                          int seconds = 60);

}  // namespace xgrad::detail
