// The command line options that examples share.
#pragma once

#include <cstdint>
#include <filesystem>

namespace CLI {
class App;
}

namespace kit {

/// What examples can be told.
struct CommonOptions {
  std::uint64_t seed = 1;     ///< --seed: all randomness of the run follows from it
  std::filesystem::path out;  ///< --out: the folder for results; empty: out/<example>
  int threads = 0;            ///< --threads: 0 leaves the number to the library
  bool resume = false;        ///< --resume: go on from the checkpoint in the folder
};

/// Declares --seed, --out and --threads on a command line; `options` gets the values when the line is parsed, and must
/// live as long as the app does.
void add_common_options(CLI::App& app, CommonOptions& options);
/// Declares --resume, for an example that can.
void add_resume_option(CLI::App& app, CommonOptions& options);

}  // namespace kit
