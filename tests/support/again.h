// For what only a fresh process can show: runs one test case of this program again, in a process of its own.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace xgrad::testing {

struct Again {
  int status = -1;  ///< 0: the test case passed
  std::string output;
};

/// Whether an emulator runs this program, which does not say why another one cannot be run.
inline bool emulated() {
  return !std::string(std::getenv("XGRAD_EMULATOR") ? std::getenv("XGRAD_EMULATOR") : "").empty();
}

/// Runs the test case of this name with these `NAME=value ...` in the environment.
inline Again run_again(std::string test_case, const std::string& environment) {
  std::ranges::replace(test_case, ',', '?');  // a comma separates names
  char program[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program);
  if (length < 0) throw std::runtime_error("run_again: the program cannot find itself");
  const char* const emulator = std::getenv("XGRAD_EMULATOR");  // which runs programs of another processor
  const std::string command = environment + " " + (emulator ? emulator : "") + " '" +
                              std::string(program, static_cast<std::size_t>(length)) + "' --no-colors --test-case='" +
                              test_case + "' 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("run_again: no process");
  Again result;
  char text[4096];
  while (const std::size_t size = std::fread(text, 1, sizeof text, pipe)) result.output.append(text, size);
  result.status = pclose(pipe);
  const bool found = result.output.find("test cases: 0 ") == std::string::npos;
  if (!found) throw std::runtime_error("run_again: no test case " + test_case);
  return result;
}

}  // namespace xgrad::testing
