// Programs with a command line: options with checked values, a folder for files, one line for scripts at the end.
//
//     void run(const Config& config, kit::Example& example) {
//       ...
//       kit::save_text(example.out / "loss.svg", kit::line_plot({loss}));
//       example.result.add("loss", loss.y.back());
//     }
//
//     int main(int argc, char** argv) try {
//       CLI::App app("Trains a model.", "my_example");
//       Config config;
//       kit::add_number(app, "--epochs", config.epochs, "times that every pair is seen", 1, 1'000'000);
//       return kit::run_example(app, argc, argv, [&](kit::Example& example) { run(config, example); });
//     } catch (...) {  // there may be no memory even for the options
//       return kit::report_error();
//     }
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <xgrad/kit/program/output.h>

namespace CLI {
class App;
}

namespace xgrad::kit {

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

/// The input of the body of an example, and its result.
struct Example {
  std::filesystem::path out;  ///< the folder for its files, which is there: --out, or out/<name of the app>
  std::uint64_t seed = 1;     ///< --seed, from which all randomness follows: the generator has it
  ResultLine result = {};     ///< for scripts: printed at the end, with out=<folder> as its last value
  int status = 0;             ///< what main returns; unless 0, the end is not printed
};

/// Runs an example: what main returns. Declares --seed, --out, --threads, --precision and --plain, parses the command
/// line, makes the folder, and prints what the library runs on; after the body, the files that it wrote into the
/// folder, and the result line.
///
/// Errors end as `report_error` has it; so does output that standard output did not take. A wrong command line gives 2,
/// --help 0. Standard streams that are closed at the start are opened on /dev/null, so that no file takes their place.
/// SIGXFSZ is ignored from then on, unless the program handles it: a file that may not grow is an IoError.
int run_example(CLI::App& app, int argc, char** argv, const std::function<void(Example&)>& body);

/// Prints the exception that is being handled as one line `error: ...` on standard error: for a handler around main.
/// Returns 1, or 2 for a CLI::ParseError. Asks for no memory, as there may be none.
int report_error();

}  // namespace xgrad::kit
