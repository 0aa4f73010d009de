// The shared options, declared once.
#include <kit/cli.h>

#include <CLI/CLI.hpp>

namespace kit {

void add_common_options(CLI::App& app, CommonOptions& options) {
  app.add_option("--seed", options.seed, "seed of all randomness")->capture_default_str();
  app.add_option("--out", options.out, "folder for results (default: out/" + app.get_name() + ")");
  app.add_option("--threads", options.threads, "threads to compute with, 0 for the library's choice")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
}

void add_resume_option(CLI::App& app, CommonOptions& options) {
  app.add_flag("--resume", options.resume, "go on from the checkpoint in the folder");
}

}  // namespace kit
