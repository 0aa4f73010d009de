// Interrupt: how a training loop handles SIGINT (Ctrl-C). It finishes its step, saves and ends; a second Ctrl-C ends
// the program at once.
#pragma once

#include <string_view>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// A scope in which the first SIGINT or SIGTERM only sets a flag, which the loop reads. A second signal has its usual
/// effect. Signals that were ignored when the program started (nohup, background jobs) stay ignored.
///
///     kit::Interrupt interrupt;
///     for (...) { train_one_step(); if (interrupt) { save(); return interrupt.exit_code(); } }
///
/// Threads: one thread makes and destroys it; all threads may read it.
class Interrupt {
 public:
  /// Handles the two signals. Throws Error if another Interrupt exists.
  Interrupt();

  /// Restores the previous signal handlers.
  ~Interrupt();

  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Whether a signal was received.
  explicit operator bool() const { return exit_code() != 0; }

  /// The exit code for shells: 128 + signal, or 0 if no signal was received.
  int exit_code() const;
};

/// Thrown to end a program after a signal, when its work is saved. kit::main prints the text and returns the exit code.
struct Interrupted : Error {
  /// `exit_code` is the result of Interrupt::exit_code().
  Interrupted(std::string_view text, int exit_code);
  int exit_code = 0;
};

}  // namespace xgrad::kit
