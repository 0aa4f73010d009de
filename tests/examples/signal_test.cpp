// Ctrl-C: polled once, deadly twice.
#include <doctest/doctest.h>

#include <csignal>
#include <stdexcept>

#include <xgrad/kit/program/signal.h>

using xgrad::kit::Interrupt;

namespace {

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

TEST_CASE("the first signal only sets a flag") {
  const DefaultActions actions;
  for (const int signal : {SIGINT, SIGTERM}) {
    const Interrupt interrupt;
    CHECK_FALSE(interrupt);
    CHECK(interrupt.exit_code() == 0);
    std::raise(signal);
    CHECK(interrupt);
    CHECK(interrupt.signal() == signal);
    CHECK(interrupt.exit_code() == 128 + signal);
  }
}

TEST_CASE("the second signal ends the program as if nothing had been caught") {
  const DefaultActions actions;
  const Interrupt interrupt;
  std::raise(SIGINT);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action = {};
    REQUIRE(sigaction(signal, nullptr, &action) == 0);
    CHECK((action.sa_handler == SIG_DFL));
  }
}

TEST_CASE("the signals are given back, and there is one Interrupt at a time") {
  const DefaultActions actions;
  std::signal(SIGTERM, SIG_IGN);
  {
    const Interrupt interrupt;
    CHECK_THROWS_AS(Interrupt(), xgrad::Error);
    std::raise(SIGTERM);  // stays ignored
    CHECK_FALSE(interrupt);
  }
  CHECK((std::signal(SIGTERM, SIG_DFL) == SIG_IGN));
  CHECK((std::signal(SIGINT, SIG_DFL) == SIG_DFL));
}
