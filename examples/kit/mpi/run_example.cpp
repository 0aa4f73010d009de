// Examples as ranks.
#include <xgrad/kit/mpi/run_example.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <streambuf>


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
