// A flag set by a signal handler. Everything in it is async-signal-safe.
#include <xgrad/kit/program/signal.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <string>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {
namespace {

constexpr int taken_signals[] = {SIGINT, SIGTERM};

std::atomic<int> received = 0;  // lock-free, so a handler may set it whatever thread it runs on
static_assert(std::atomic<int>::is_always_lock_free);
bool alive = false;
struct sigaction earlier_actions[std::size(taken_signals)];

extern "C" void remember_signal(int signal) {
  received = signal;
  for (const int taken : taken_signals) std::signal(taken, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
  if (alive) fail<Error>("interrupt", "there is one already");
  alive = true;
  received = 0;
  for (std::size_t i = 0; i < std::size(taken_signals); ++i) {
    struct sigaction action = {};
    action.sa_handler = remember_signal;
    action.sa_flags = SA_RESTART;  // a write that the signal hits goes on, instead of failing
    sigaction(taken_signals[i], nullptr, &earlier_actions[i]);
    if (earlier_actions[i].sa_handler != SIG_IGN) sigaction(taken_signals[i], &action, nullptr);
  }
}

Interrupt::~Interrupt() {
  for (std::size_t i = 0; i < std::size(taken_signals); ++i) sigaction(taken_signals[i], &earlier_actions[i], nullptr);
  alive = false;
}

int Interrupt::exit_code() const { return received == 0 ? 0 : 128 + received; }

Interrupted::Interrupted(std::string_view text, int exit_code) : Error(std::string(text)), exit_code(exit_code) {}

}  // namespace xgrad::kit
