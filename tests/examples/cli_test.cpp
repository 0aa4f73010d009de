// The options that examples share, how an example begins and ends, and Ctrl-C: polled once, deadly twice.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include <xgrad/core/array/random.h>
#include <xgrad/core/base/scope.h>
#include <xgrad/core/runtime/parallel.h>
#include <xgrad/kit/files/csv.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/signal.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/train/classifier.h>
#include <xgrad/ops/creation/create.h>
#include <xgrad/ops/products/build_info.h>
#include <xgrad/ops/products/matmul_precision.h>

#include "support.h"

namespace kit = xgrad::kit;

namespace {

using xgrad::kit::testing::read_text;
using xgrad::kit::testing::Redirected;
using xgrad::kit::testing::TemporaryFolder;

/// The exit code of main and its standard output and standard error, with results in a folder of its own.
struct Outcome {
  int status = 0;
  std::string out, error;
};
Outcome outcome(
    std::vector<const char*> arguments, const std::function<void(kit::Example&)>& body,
    const std::function<void(kit::Options&)>& options = [](kit::Options&) {}) {
  const TemporaryFolder folder;
  const std::string out_folder = folder.path().string();
  const bool chosen = std::ranges::find(arguments, std::string_view("--out")) != arguments.end();
  if (!chosen) arguments.insert(arguments.end(), {"--out", out_folder.c_str()});
  arguments.insert(arguments.begin(), "example");
  const Redirected out(std::cout), error(std::cerr);
  const int status = kit::main(static_cast<int>(arguments.size()), const_cast<char**>(arguments.data()), "example",
                               "Trains.", options, body);
  return {status, out.text.str(), error.text.str()};
}

constexpr auto must_not_run = [](kit::Example&) { throw std::logic_error("must not run"); };

/// The status and the error with which an example ends.
std::string ended(const std::vector<const char*>& arguments, const std::function<void(kit::Example&)>& body) {
  const Outcome end = outcome(arguments, body);
  return std::to_string(end.status) + " " + end.error;
}

/// The exit code of a process of its own.
int status_of(const std::function<int()>& child) {
  const pid_t process = fork();
  if (process == 0) _exit(child());
  int status = 0;
  REQUIRE(waitpid(process, &status, 0) == process);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/// The message with which a command line of these options is refused, or "accepted".
std::string refusal(const std::function<void(kit::Options&)>& options, std::vector<const char*> line) {
  const Outcome all = outcome(
      std::move(line), [](kit::Example&) {}, options);
  if (all.status == 0) return "accepted";
  const std::string begin = "error: ", end = " (--help lists the options)\n";
  CHECK(all.status == 2);
  CHECK(all.error.starts_with(begin));
  CHECK(all.error.ends_with(end));
  return all.error.substr(begin.size(), all.error.size() - begin.size() - end.size());
}

/// Puts the default actions in place for a scope: a test program started in the background ignores SIGINT.
struct DefaultActions {
  DefaultActions() : interrupt(std::signal(SIGINT, SIG_DFL)), terminate(std::signal(SIGTERM, SIG_DFL)) {}
  ~DefaultActions() {
    std::signal(SIGINT, interrupt);
    std::signal(SIGTERM, terminate);
  }
  void (*interrupt)(int);
  void (*terminate)(int);
};

}  // namespace

TEST_CASE("an example is given its folder and its seed, and ends with its files and a line for scripts") {
  const TemporaryFolder folder;
  const auto path = folder / "my run";
  std::filesystem::create_directory(path);
  for (const char* name : {"old", "again"}) kit::testing::write_text(path / name, "");
  std::filesystem::last_write_time(path / "again",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const std::string chosen = path.string();
  const int threads = xgrad::threads();
  xgrad::Real drawn = 0;
  const Outcome good = outcome({"--seed", "18446744073709551615", "--threads", "2", "--out", chosen.c_str()},
                               [&](kit::Example& example) {
                                 CHECK(example.out == path);
                                 CHECK(example.seed == ~std::uint64_t{0});
                                 CHECK(xgrad::threads() == 2);
                                 drawn = xgrad::rand({1}).item();
                                 for (const char* name : {"loss.svg", "again"}) kit::save_text(example.out / name, "");
                                 std::filesystem::create_directory(example.out / "frames");
                                 example.result.add("loss", 0.5);
                                 std::cout << "trained\n";
                               });
  CHECK(good.status == 0);
  CHECK(good.out == xgrad::to_string(xgrad::build_info()) + "\ntrained\n\n" + chosen +
                        ": again, loss.svg\nresult loss=0.5 out=\"" + chosen + "\"\n");
  xgrad::set_threads(3);
  const auto counts = [&](std::vector<const char*> line) {
    int found = 0;
    outcome(std::move(line), [&](kit::Example&) { found = xgrad::threads(); });
    return found;
  };
  CHECK(counts({}) == 3);  // as they are
  CHECK(counts({"--threads", "1"}) == 1);
  xgrad::set_threads(threads);
  xgrad::manual_seed(~std::uint64_t{0});
  CHECK(drawn == xgrad::rand({1}).item());

  const Outcome stopped = outcome({}, [](kit::Example& example) {
    kit::save_text(example.out / "loss.svg", "");
    example.result.add("loss", 0.5);
    throw kit::Interrupted("stopped", 130);
  });
  CHECK(stopped.status == 130);
  CHECK(stopped.out.find("loss") == std::string::npos);
  const Outcome rounded = outcome({"--precision", "medium"}, [](kit::Example&) {
    CHECK(xgrad::matmul_precision() == xgrad::MatmulPrecision::medium);
  });
  CHECK(rounded.status == 0);
  xgrad::set_matmul_precision(xgrad::MatmulPrecision::highest);
  for (const bool plain : {false, true}) {
    const std::vector<const char*> arguments(plain ? 1 : 0, "--plain");
    const Outcome run = outcome(arguments, [&](kit::Example&) { CHECK(xgrad::runs_plain() == plain); });
    CHECK(run.status == 0);
    CHECK_FALSE(xgrad::runs_plain());
  }
  const Outcome help = outcome({"--help"}, must_not_run);
  CHECK(help.status == 0);
  CHECK(help.out.starts_with("Trains.\n"));
  CHECK(help.out.find("out/example") != std::string::npos);
  CHECK(help.out.find("--resume") == std::string::npos);
}

// Whether the help has this option with its default, which CLI11 writes as "=7", and from 2.4 on as " [7]".
bool shows(const std::string& help, const std::string& option, const std::string& value) {
  const std::string begin = "  " + option;
  return help.find(begin + "=" + value) != std::string::npos || help.find(begin + " [" + value + "]") != std::string::npos;
}

TEST_CASE("a number on the command line is a decimal number within its range, or is refused with the range") {
  const kit::testing::CommaLocale commas;
  std::int64_t epochs = 200;
  double rate = 0.005;
  std::vector<std::int64_t> depths{1, 2};
  const auto options = [&](kit::Options& o) {
    o.integer("--epochs", epochs, "epochs", 0, 1000);
    o.real("--lr", rate, "learning rate", 1e-9, 1000);
    o.integers("--depths", depths, "blocks", 1, 64);
  };
  CHECK(refusal(options, {"--epochs", "1000", "--lr", "2.5e-1", "--depths", "64", "010"}) == "accepted");
  CHECK(epochs == 1000);
  CHECK(rate == 0.25);
  CHECK(depths == std::vector<std::int64_t>{64, 10});
  CHECK(refusal(options, {"--epochs", "0", "--depths", "7"}) == "accepted");
  CHECK(epochs == 0);
  CHECK(depths == std::vector<std::int64_t>{7});
  epochs = 1000;

  const std::string whole = "--epochs: expected an integer from 0 to 1000, found ";
  for (const char* text : {"abc", "100000000000000000000", "1001", "1e2", "1.0", "0x10", "3x", "nan"}) {
    CHECK(refusal(options, {"--epochs", text}) == whole + '"' + text + '"');
  }
  CHECK(refusal(options, {"--epochs=-1"}) == whole + "\"-1\"");
  CHECK(refusal(options, {"--seed=-1"}) ==
        "--seed: expected an integer from 0 to 18446744073709551615, found \"-1\"");
  CHECK(refusal(options, {"--threads", "-1"}) == "--threads: expected an integer from 0 to 1024, found \"-1\"");
  CHECK(refusal(options, {"--seed", "18446744073709551616"}).ends_with("found \"18446744073709551616\""));
  for (const std::string text : {"0", "-1", "abc", "nan", "inf", "1e4", "1e400", "0,5"}) {
    const std::string given = "--lr=" + text;
    CHECK(refusal(options, {given.c_str()}) == "--lr: expected a number from 1e-09 to 1000, found \"" + text + '"');
  }
  CHECK(refusal(options, {"--depths", "3", "65"}) == "--depths: expected an integer from 1 to 64, found \"65\"");
  const std::string nines(400, '9');
  CHECK(refusal(options, {"--epochs", nines.c_str()}).size() < 200);
  CHECK(epochs == 1000);
  CHECK(rate == 0.25);
}

TEST_CASE("the options of classifiers and of corpora have their ranges") {
  using Ranges = std::vector<std::pair<std::string, std::string>>;
  kit::ClassifierOptions classifier;
  kit::CorpusOptions corpus;
  const auto check = [](const Ranges& ranges, const std::function<void(kit::Options&)>& options) {
    for (const auto& [name, range] : ranges) {
      CHECK(refusal(options, {(name + "=-1").c_str()}) == name + ": expected " + range + ", found \"-1\"");
    }
  };
  check({{"--epochs", "an integer from 1 to 10000"},
         {"--batch", "an integer from 1 to 10000"},
         {"--lr", "a number from 1e-09 to 10"},
         {"--crop", "an integer from 0 to 1000"},
         {"--flip", "a number from 0 to 1"}},
        [&](kit::Options& o) { kit::add_classifier_options(o, classifier); });
  check({{"--pairs", "an integer from 1 to 1000000000"}, {"--held-out", "an integer from 0 to 1000000000"}},
        [&](kit::Options& o) { kit::add_corpus_options(o, corpus); });
}

TEST_CASE("a word on the command line is one of a list") {
  enum class Kind { last, all } chosen = Kind::last;
  const auto options = [&](kit::Options& o) { o.choice("--kind", chosen, {"last", "all"}, "layers"); };
  CHECK(refusal(options, {"--kind", "all"}) == "accepted");
  CHECK(chosen == Kind::all);
  CHECK(refusal(options, {"--kind", "0"}) == "--kind: expected one of last, all, found \"0\"");
  CHECK(chosen == Kind::all);
}

TEST_CASE("texts and flags on the command line, and a configuration that begins with its defaults") {
  struct Config {
    std::string text = "one";
    std::vector<std::string> texts;
    bool flag = false;
  } found;
  const auto options = [](kit::Options& o, Config& c) {
    o.text("--text", c.text, "a text");
    o.texts("--texts", c.texts, "several");
    o.flag("--flag", c.flag, "yes or no");
  };
  const auto run = [&](const Config& config, kit::Example&) { found = config; };
  const TemporaryFolder folder;
  const std::string out = folder.path().string();
  std::vector<const char*> line{"example", "--out", out.c_str(), "--texts", "a b", "c", "--flag"};
  CHECK(kit::main<Config>(static_cast<int>(line.size()), const_cast<char**>(line.data()), "example", "Trains.", options,
                          run) == 0);
  CHECK(found.text == "one");
  CHECK(found.texts == std::vector<std::string>{"a b", "c"});
  CHECK(found.flag);
}

TEST_CASE("the help shows every default") {
  enum class Kind { last, all } kind = Kind::all;
  std::int64_t integer = 7;
  std::vector<std::int64_t> integers{1, 2};
  double real = 0.5;
  std::string text = "\n", none;
  std::filesystem::path path = "data/pairs.tsv";
  std::vector<std::string> texts{"a", "b c"}, no_texts;
  const Outcome help = outcome({"--help"}, must_not_run, [&](kit::Options& o) {
    o.integer("--integer", integer, "", 0, 9);
    o.integers("--integers", integers, "", 0, 9);
    o.real("--real", real, "", 0, 1);
    o.choice("--kind", kind, {"last", "all"}, "");
    o.text("--text", text, "");
    o.text("--none", none, "");
    o.text("--path", path, "");
    o.texts("--texts", texts, "");
    o.texts("--no-texts", no_texts, "");
  });
  CHECK(help.status == 0);
  const std::vector<std::pair<const char*, const char*>> defaults = {
      {"--integer INT", "7"},      {"--integers INT ...", "[1, 2]"},   {"--real NUMBER", "0.5"},  {"--kind WORD", "all"},
      {"--text TEXT", "\\n"},      {"--path TEXT", "data/pairs.tsv"},  {"--texts TEXT", "[a, b c]"}, {"--seed INT", "1"},
      {"--precision WORD", "highest"}};
  for (const auto& each : defaults) CHECK_MESSAGE(shows(help.out, each.first, each.second), each.first, " in ", help.out);
  for (const char* none : {"  --none TEXT ", "  --no-texts TEXT ..."}) {
    CHECK_MESSAGE(help.out.find(none) != std::string::npos, none, " in ", help.out);
  }
}

TEST_CASE("errors of an example, and any around main, are one line and a status") {
  CHECK(ended({"--epoch"}, must_not_run) ==
        "2 error: The following argument was not expected: --epoch (--help lists the options)\n");
  CHECK(ended({}, [](kit::Example&) { throw kit::OptionError("--dim", "6 is no multiple of 4"); }) ==
        "2 error: --dim: 6 is no multiple of 4 (--help lists the options)\n");
  CHECK(ended({}, [](kit::Example&) { throw std::runtime_error("no data"); }) == "1 error: no data\n");
  CHECK(ended({}, [](kit::Example&) { throw std::bad_alloc(); }) == "1 error: not enough memory\n");
  CHECK(ended({}, [](kit::Example&) { std::cout.setstate(std::ios::badbit); }) ==
        "1 error: cannot write to standard output: earlier lines were lost\n");
  std::cout.clear();
  const Outcome lost = outcome({"--help"}, must_not_run, [](kit::Options&) { std::cout.setstate(std::ios::badbit); });
  CHECK(lost.status == 1);
  CHECK(lost.error == "error: standard output did not take everything\n");
  std::cout.clear();
  const auto reported = [](void (*fails)()) {  // where options are declared, the earliest that a program does
    const Outcome end = outcome({}, must_not_run, [=](kit::Options&) { fails(); });
    return std::to_string(end.status) + " " + end.error;
  };
  CHECK(reported([] { throw std::bad_alloc(); }) == "1 error: not enough memory\n");
  CHECK(reported([] { throw std::runtime_error("one\n  two\n  three"); }) == "1 error: one two three\n");
  CHECK(reported([] { throw kit::OptionError("--x", "is wrong"); }) ==
        "2 error: --x: is wrong (--help lists the options)\n");
  CHECK(reported([] { throw 3; }) == "1 error: unknown\n");
}

TEST_CASE("a file that may not grow is an error and not the end of the program, before anything is computed if none may") {
  const TemporaryFolder folder;
  const auto said = [&](rlim_t most) {
    return status_of([&] {
      std::signal(SIGXFSZ, SIG_DFL);
      const rlimit limit{most, most};
      setrlimit(RLIMIT_FSIZE, &limit);
      const std::string end =
          ended({}, [&](kit::Example&) { kit::save_text(folder / "large", std::string(10'000, 'x')); });
      if (!end.starts_with("1 error: ")) return 1;
      if (end.find("cannot write to folder ") != end.npos) return end.ends_with("No space left on device\n") ? 2 : 3;
      return end.ends_with("File too large\n") ? 4 : 5;
    });
  };
  CHECK(said(4096) == 4);
  CHECK(said(1000) == 2);
  CHECK(std::filesystem::is_empty(folder.path()));
  // A program that handles the signal goes on to do so.
  CHECK(status_of([&] {
          constexpr auto handler = [](int) {};
          std::signal(SIGXFSZ, handler);
          ended({}, [](kit::Example&) {});
          return std::signal(SIGXFSZ, SIG_DFL) == static_cast<void (*)(int)>(handler) ? 0 : 7;
        }) == 0);
}

TEST_CASE("a result that standard output does not take is an error with its reason") {
  if (!std::filesystem::exists("/dev/full")) return;
  CHECK(status_of([] {
          dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
          const std::string said = xgrad::testing::error_of<xgrad::IoError>([] { kit::ResultLine().print(); });
          return said == "cannot write to standard output: No space left on device" ? 0 : 7;
        }) == 0);
}

TEST_CASE("what was meant for a closed standard stream does not end in a file") {
  const TemporaryFolder folder;
  const auto path = folder / "loss.csv";
  for (const int closed : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    CAPTURE(closed);
    CHECK(status_of([&] {
            for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {  // quiet, and one closed
              if (descriptor != closed) dup2(open("/dev/null", O_RDWR), descriptor);
            }
            close(closed);
            const std::string out = folder.path().string();
            const char* arguments[] = {"example", "--out", out.c_str()};
            return kit::main(3, const_cast<char**>(arguments), "example", "Trains.", [&](kit::Example&) {
              kit::CsvLogger log(path, {"loss"});
              for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
                if (write(descriptor, "noise", 5) == 5 && descriptor == closed) throw kit::Interrupted("", 7);
              }
              std::cout << "noise" << std::endl;
              std::cerr << "noise" << std::endl;
              log.row({3});
            });
          }) == (closed == STDOUT_FILENO ? 1 : 0));
    CHECK(read_text(path) == "loss\n3\n");
  }
}

TEST_CASE("the first signal only sets a flag, the second one ends the program as if nothing had been caught") {
  const DefaultActions actions;
  const auto action_of = [](int signal) {
    struct sigaction action = {};
    REQUIRE(sigaction(signal, nullptr, &action) == 0);
    return action;
  };
  for (const int signal : {SIGINT, SIGTERM}) {
    const kit::Interrupt interrupt;
    CHECK_FALSE(interrupt);
    CHECK(interrupt.exit_code() == 0);
    CHECK((action_of(signal).sa_flags & SA_RESTART) != 0);  // a write that the signal hits goes on
    std::raise(signal);
    CHECK(interrupt);
    CHECK(interrupt.exit_code() == 128 + signal);
    for (const int second : {SIGINT, SIGTERM}) CHECK((action_of(second).sa_handler == SIG_DFL));
  }
}

TEST_CASE("the signals are given back, and there is one Interrupt at a time") {
  const DefaultActions actions;
  std::signal(SIGTERM, SIG_IGN);
  {
    const kit::Interrupt interrupt;
    CHECK_THROWS_AS(kit::Interrupt(), xgrad::Error);
    std::raise(SIGTERM);  // stays ignored
    CHECK_FALSE(interrupt);
  }
  CHECK((std::signal(SIGTERM, SIG_DFL) == SIG_IGN));
  CHECK((std::signal(SIGINT, SIG_DFL) == SIG_DFL));
}
