// Another program, which makes one text from another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../base/config.h"

namespace xgrad::detail {

/// How a program ended.
struct ProgramResult {
  std::string output;
  std::string failure;  ///< empty on success
  bool is_there = true;
};

/// Runs the program `arguments[0]`, found in PATH, with `input` as its standard input. It is killed after `seconds`, so
/// the call always returns. This process, which may have many threads, is not copied. Throws IoError, naming the
/// caller, if there is no room for temporary files.
///
/// Threads: any number may run programs.
ProgramResult run_program(const std::vector<std::string>& arguments, std::string_view input, std::string_view caller,
                          int seconds = 60);

}  // namespace xgrad::detail
