// Another program, run under limits, that makes one text from another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../base/config.h"

namespace xgrad {

/// The limits of a program that draws.
struct DrawingLimits {
  int processor_seconds = 20;
  int seconds = 60;                             ///< of wall-clock time, in case it waits for something
  std::int64_t memory = std::int64_t{2} << 30;  ///< bytes
};

namespace detail {

/// How a program ended.
struct ProgramResult {
  std::string output;
  std::string failure;  ///< empty on success
  bool is_there = true;
};

/// Runs the program `arguments[0]`, found in PATH, with `input` as its standard input. It is killed when it exceeds a
/// limit, so the call always returns. This process, which may have many threads, is not copied.
/// Throws IoError if there is no room for temporary files.
///
/// Threads: any number may run programs.
ProgramResult run_program(const std::vector<std::string>& arguments, std::string_view input,
                          const DrawingLimits& limits, std::string_view caller);

}  // namespace detail
}  // namespace xgrad
