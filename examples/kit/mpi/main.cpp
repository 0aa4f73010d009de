// The standard output of ranks, and their errors.
#include <xgrad/kit/mpi/main.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <streambuf>

#include <xgrad/kit/mpi/run.h>
#include <xgrad/kit/program/signal.h>

namespace xgrad::mpi::detail {
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

int run_quietly(int argc, char** argv, const std::function<int(World&)>& program) {
  return run(argc, argv, [&](World& world) {
    std::optional<Silence> silence;
    if (!world.first()) silence.emplace();
    return program(world);
  });
}

void or_end_all(const World& world, const std::function<void()>& function) {
  try {
    function();
  } catch (const kit::Interrupted&) {
    throw;
  } catch (...) {
    end_all(world, reason_of_current());
  }
}

}  // namespace xgrad::mpi::detail
