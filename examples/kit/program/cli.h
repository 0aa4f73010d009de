// kit::main: programs with a command line, with checked options, a directory for files, and one line of results for
// scripts.
//
//     void run(const Config& config, kit::Example& example) {
//       ...
//       kit::save(example.out / "loss.svg", kit::line_plot({loss}));
//       example.result.add("loss", loss.y.back());
//     }
//
//     int main(int argc, char** argv) {
//       const auto options = [](kit::Options& o, Config& c) {
//         o.integer("--epochs", c.epochs, "times that every pair is seen", 1, 1'000'000);
//       };
//       return kit::main<Config>(argc, argv, "my_example", "Trains a model.", options, run);
//     }
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/program/output.h>

namespace CLI {
class App;
}

namespace xgrad::kit {

/// A rejected command line: `--dim: 6 is no multiple of 4`.
struct OptionError : Error {
  OptionError(std::string_view name, std::string_view reason);
};

/// The options of a program. Each has a name, `--epochs`, and a variable, whose value is the default. --help prints
/// both and the text `what`. Variables must exist as long as the program.
///
/// Values out of range are rejected when the command line is parsed: `--epochs: expected an integer from 1 to 1000,
/// found "abc"`. Numbers are decimal in every locale.
///
/// Threads: one thread at a time.
class Options {
 public:
  explicit Options(CLI::App& app) : app_(app) {}

  void integer(const std::string& name, std::int64_t& value, const std::string& what, std::int64_t least,
               std::int64_t most);
  void integer(const std::string& name, int& value, const std::string& what, int least, int most);
  /// One or several integers.
  void integers(const std::string& name, std::vector<std::int64_t>& values, const std::string& what, std::int64_t least,
                std::int64_t most);
  void real(const std::string& name, double& value, const std::string& what, double least, double most);
  /// One of these words; `value` becomes the number of the word, from 0.
  template <class Value>
  void choice(const std::string& name, Value& value, const std::vector<std::string>& words, const std::string& what) {
    choice(name, static_cast<std::size_t>(value), words, what,
           [&value](std::size_t i) { value = static_cast<Value>(i); });
  }
  /// A flag: true if it is given.
  void flag(const std::string& name, bool& value, const std::string& what);
  void text(const std::string& name, std::string& value, const std::string& what);
  void text(const std::string& name, std::filesystem::path& value, const std::string& what);
  /// One or several texts.
  void texts(const std::string& name, std::vector<std::string>& values, const std::string& what);

 private:
  void choice(const std::string& name, std::size_t value, const std::vector<std::string>& words,
              const std::string& what, const std::function<void(std::size_t)>& chosen);

  CLI::App& app_;
};

/// The input of an example, and its result.
struct Example {
  std::filesystem::path out;  ///< the directory for its files, which exists: --out, or out/<name of the program>
  std::uint64_t seed = 1;     ///< --seed: the generator starts with it, and all random numbers depend on it
  ResultLine result = {};     ///< printed at the end for scripts, with out=<directory> as its last value
};

/// Runs a program and returns the value for main. Declares the options and --seed, --out, --threads, --precision and
/// --plain, parses the command line, makes the directory, and prints information about the library and the processor.
/// After run(example), prints the new files in the directory and the line of results.
///
/// An error is printed as one line `error: ...` on standard error, and the result is 1. The same happens if writing to
/// standard output fails. The result is 2 for a wrong command line and an OptionError, and 0 for --help. Standard
/// streams that are closed at the start are opened on /dev/null, so that no file gets their numbers. SIGXFSZ is ignored
/// unless the program handles it, so writing beyond the file size limit throws IoError.
int main(int argc, char** argv, const char* name, const char* what, const std::function<void(Options&)>& options,
         const std::function<void(Example&)>& run);
/// The same for a program without options.
int main(int argc, char** argv, const char* name, const char* what, const std::function<void(Example&)>& run);
/// The same with a Config: options(options, config) declares its options, run(config, example) runs the program.
template <class Config, class Declare, class Run>
int main(int argc, char** argv, const char* name, const char* what, const Declare& options, const Run& run) {
  std::optional<Config> config;  // constructed in the inner main(), which handles exceptions
  return main(
      argc, argv, name, what, [&](Options& of_program) { options(of_program, config.emplace()); },
      [&](Example& example) { run(*config, example); });
}

}  // namespace xgrad::kit
