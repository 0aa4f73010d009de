// --mpi for examples.
#include <xgrad/kit/mpi/run_example.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <optional>
#include <streambuf>
#include <string_view>

#include <CLI/CLI.hpp>

#include <xgrad/kit/mpi/run.h>
#include <xgrad/kit/program/signal.h>

namespace xgrad::mpi {
namespace {

/// While it lives, nothing is written to standard output, and nothing of that is an error.
class Silence {
 public:
  Silence() : standard_(std::cout.rdbuf(&nothing_)) {}
  ~Silence() { std::cout.rdbuf(standard_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  struct Nothing : std::streambuf {
    int overflow(int c) override { return c == EOF ? 0 : c; }
    std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
  } nothing_;
  std::streambuf* const standard_;
};

}  // namespace

int run_example(CLI::App& app, int argc, char** argv, const std::function<void(kit::Example&, World&)>& body) {
  bool asked = false;
  app.add_flag("--mpi", asked, "be one of the ranks that mpirun has started (examples/run --ranks N ...)");
  const bool found = std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--mpi"; });
  if (!found || !detail::available()) {
    return kit::run_example(app, argc, argv, [&](kit::Example& example) {
      if (asked) detail::refuse("--mpi");
      World alone;
      body(example, alone);
    });
  }
  return run(argc, argv, [&](World& world) {
    std::optional<Silence> silence;
    if (!world.first()) silence.emplace();
    return kit::run_example(app, argc, argv, [&](kit::Example& example) {
      try {
        body(example, world);
      } catch (const kit::Interrupted&) {
        throw;
      } catch (...) {
        detail::end_all(world, detail::reason_of_current());
      }
    });
  });
}

}  // namespace xgrad::mpi
