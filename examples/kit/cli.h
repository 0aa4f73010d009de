// What the main functions of examples share: options of the command line, and how a program begins and ends.
//
//     int main(int argc, char** argv) {
//       CLI::App app("Trains a model.", "my_example");
//       Arguments arguments;
//       kit::add_common_options(app, arguments.common);
//       kit::add_number(app, "--epochs", arguments.epochs, "times that every pair is seen", 1, 1'000'000);
//       return kit::run_example(app, argc, argv, [&] { return run(arguments); });
//     }
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

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

/// Declares an option that takes a number from `least` to `most`: a std::int64_t, std::uint64_t, int or double.
/// Anything else is refused when the line is parsed, with both ends: `--epochs: expected a whole number from 1 to 1000,
/// found "abc"`. Numbers are decimal, whatever the locale.
template <class Number>
void add_number(CLI::App& app, const std::string& name, Number& value, const std::string& what,
                std::type_identity_t<Number> least, std::type_identity_t<Number> most);
/// Declares an option that takes one such number or several.
void add_numbers(CLI::App& app, const std::string& name, std::vector<std::int64_t>& values, const std::string& what,
                 std::int64_t least, std::int64_t most);

/// Declares an option that takes one of these words; `chosen` gets the number of the word.
void add_choice(CLI::App& app, const std::string& name, const std::vector<std::string>& words, const std::string& what,
                const std::function<void(std::size_t)>& chosen);

/// Parses the command line and runs the example: what main returns. Errors end as one line `error: ...` on standard
/// error and 1; so does output that standard output did not take. A wrong command line gives 2, --help 0, otherwise the
/// result of `body` is returned. Standard streams that the program was started without are occupied, so that no file it
/// opens takes their place.
int run_example(CLI::App& app, int argc, char** argv, const std::function<int()>& body);

}  // namespace kit
