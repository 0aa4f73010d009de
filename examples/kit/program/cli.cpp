// Options with checked values, and the frame around a program. The only file that knows CLI11.
#include <xgrad/kit/program/cli.h>

#include <fcntl.h>

#include <algorithm>
#include <concepts>
#include <csignal>
#include <cstring>
#include <exception>
#include <iostream>
#include <map>
#include <new>
#include <system_error>

#include <CLI/CLI.hpp>

#include <xgrad/core/array/random.h>
#include <xgrad/core/base/error.h>
#include <xgrad/core/base/from_text.h>
#include <xgrad/core/base/text.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/core/runtime/parallel.h>
#include <xgrad/kit/program/signal.h>
#include <xgrad/ops/products/build_info.h>
#include <xgrad/ops/products/matmul_precision.h>

namespace xgrad::kit {
namespace {

/// The number that a text is; throws CLI::ValidationError unless it is one within the range.
template <class Number>
Number parsed(const std::string& name, const std::string& text, Number least, Number most) {
  Number value{};
  const auto [end, error] = xgrad::detail::from_text(text.data(), text.data() + text.size(), value);
  const bool fits = error == std::errc() && end == text.data() + text.size() && value >= least && value <= most;
  if (!fits) {
    const std::string kind = std::integral<Number> ? "an integer" : "a number";
    throw CLI::ValidationError(
        name, "expected " + kind + " from " + number(least) + " to " + number(most) + ", found " + escaped(text));
  }
  return value;
}

/// Opens /dev/null on closed standard streams, so that no file opened later gets their descriptors and, say, receives
/// the output of standard error. Opened for reading only: writing fails, as it would without.
void occupy_standard_streams() {
  for (const int descriptor : {0, 1, 2}) {
    if (fcntl(descriptor, F_GETFD) == -1) open("/dev/null", O_RDONLY);
  }
}

using Files = std::map<std::string, std::filesystem::file_time_type>;

/// The files of a folder by name, and when they were written.
Files files_in(const std::filesystem::path& folder) {
  Files files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::error_code gone;  // another program's temporary file
    const auto written = entry.last_write_time(gone);
    if (!gone && !entry.is_directory(gone)) files[entry.path().filename().string()] = written;
  }
  return files;
}

/// "out/translate: loss.csv, loss.svg": the files written since.
void print_new(const std::filesystem::path& folder, const Files& before) {
  std::string names;
  for (const auto& [name, written] : files_in(folder)) {
    const auto found = before.find(name);
    if (found == before.end() || found->second != written) names += (names.empty() ? "" : ", ") + name;
  }
  if (!names.empty()) std::cout << "\n" << folder.string() << ": " << names << "\n";
}

/// Makes writes fail where a file may not grow any more (ulimit -f), which would otherwise end the program.
void survive_file_limits() {
  struct sigaction action = {};
  if (sigaction(SIGXFSZ, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) std::signal(SIGXFSZ, SIG_IGN);
}

/// Prints the line of an error: one line, also if the library names the module on a second one.
void print_error(const char* reason, const char* ending = "") {
  std::cerr << "error: ";
  for (const char* end; (end = std::strstr(reason, "\n ")) != nullptr; reason = end + 2) {
    std::cerr.write(reason, end - reason);
  }
  std::cerr << reason << ending << "\n";
}

/// Prints the exception that is being handled, and returns the status of the program. Asks for no memory, as there may
/// be none.
int report_error() {
  try {
    throw;
  } catch (const CLI::ParseError& error) {
    print_error(error.what(), " (--help lists the options)");
    return 2;
  } catch (const OptionError& error) {
    print_error(error.what(), " (--help lists the options)");
    return 2;
  } catch (const std::bad_alloc&) {
    print_error("not enough memory");
  } catch (const std::exception& error) {
    print_error(error.what());
  } catch (...) {
    print_error("unknown");
  }
  return 1;
}

template <class Number>
void add_number(CLI::App& app, const std::string& name, Number& value, const std::string& what, Number least,
                Number most) {
  const auto take = [name, &value, least, most](const CLI::results_t& texts) {
    value = parsed<Number>(name, texts.front(), least, most);
    return true;
  };
  app.add_option(name, take, what, true, [&value] { return number(value); })
      ->type_name(std::integral<Number> ? "INT" : "NUMBER");
}

}  // namespace

OptionError::OptionError(std::string_view name, std::string_view reason) : Error(str(name, ": ", reason)) {}

void Options::integer(const std::string& name, std::int64_t& value, const std::string& what, std::int64_t least,
                      std::int64_t most) {
  add_number(app_, name, value, what, least, most);
}

void Options::integer(const std::string& name, int& value, const std::string& what, int least, int most) {
  add_number(app_, name, value, what, least, most);
}

void Options::integers(const std::string& name, std::vector<std::int64_t>& values, const std::string& what,
                       std::int64_t least, std::int64_t most) {
  const auto take = [name, &values, least, most](const CLI::results_t& texts) {
    values.clear();
    for (const std::string& text : texts) values.push_back(parsed(name, text, least, most));
    return true;
  };
  app_.add_option(name, take, what, true, [&values] { return str(values); })->type_name("INT ...")->expected(1, 100);
}

void Options::real(const std::string& name, double& value, const std::string& what, double least, double most) {
  add_number(app_, name, value, what, least, most);
}

void Options::choice(const std::string& name, std::size_t value, const std::vector<std::string>& words,
                     const std::string& what, const std::function<void(std::size_t)>& chosen) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  const auto take = [=](const CLI::results_t& texts) {
    const auto found = std::ranges::find(words, texts.front());
    if (found == words.end()) {
      throw CLI::ValidationError(name, "expected one of " + list + ", found " + escaped(texts.front()));
    }
    chosen(static_cast<std::size_t>(found - words.begin()));
    return true;
  };
  app_.add_option(name, take, what + ": " + list)
      ->type_name("WORD")
      ->default_str(value < words.size() ? words[value] : "");
}

void Options::flag(const std::string& name, bool& value, const std::string& what) { app_.add_flag(name, value, what); }

void Options::text(const std::string& name, std::string& value, const std::string& what) {
  app_.add_option(name, value, what)->default_str(xgrad::detail::printable(value));
}

void Options::text(const std::string& name, std::filesystem::path& value, const std::string& what) {
  app_.add_option(name, value, what)->default_str(xgrad::detail::printable(value.string()));
}

void Options::texts(const std::string& name, std::vector<std::string>& values, const std::string& what) {
  app_.add_option(name, values, what)->default_str(values.empty() ? "" : xgrad::detail::printable(str(values)));
}

int main(int argc, char** argv, const char* name, const char* what, const std::function<void(Options&)>& options,
         const std::function<void(Example&)>& run) try {
  occupy_standard_streams();
  survive_file_limits();
  CLI::App app(what, name);
  Options all(app);
  options(all);
  Example example;
  int threads = 0;
  auto precision = MatmulPrecision::highest;
  bool plain = false;
  add_number(app, "--seed", example.seed, "seed of all randomness", std::uint64_t{0}, ~std::uint64_t{0});
  app.add_option("--out", example.out, str("folder for results (default: out/", name, ")"));
  all.integer("--threads", threads, "threads to compute with, 0 for the library's choice", 0, 1024);
  all.choice("--precision", precision, {"highest", "high", "medium"},
             "of products of matrices: all digits of float, or 16 or 8 of them where the processor can");
  all.flag("--plain", plain, "run softmax, attention and the like as compositions of simpler operations");
  const auto flushed = [](int status) {
    if (std::cout << std::flush) return status;
    print_error("standard output did not take everything");
    return 1;
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help
    return flushed(app.exit(request));
  }
  example.out = output_folder(name, example.out);
  if (threads > 0) set_threads(threads);
  if (precision != matmul_precision()) set_matmul_precision(precision);
  manual_seed(example.seed);
  std::cout << to_string(build_info()) << "\n";

  const Files before = files_in(example.out);
  {
    const Plain scope(plain);
    try {
      run(example);
    } catch (const Interrupted& stopped) {
      std::cout << stopped.what() << "\n";
      return flushed(stopped.exit_code);
    }
  }
  print_new(example.out, before);
  example.result.add("out", example.out.string()).print();
  return flushed(0);
} catch (...) {  // there may be no memory even for the options
  return report_error();
}

int main(int argc, char** argv, const char* name, const char* what, const std::function<void(Example&)>& run) {
  return main(
      argc, argv, name, what, [](Options&) {}, run);
}

}  // namespace xgrad::kit
