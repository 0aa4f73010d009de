// Ctrl-C for training loops: finish the step, save, leave; a second Ctrl-C ends the program at once.
#pragma once

#include <string_view>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// While it lives, the first SIGINT or SIGTERM only sets a flag, which the loop polls; a second one does what it always
/// does. Signals that the program was started to ignore (as nohup and background jobs do) stay ignored.
///
///     kit::Interrupt interrupt;
///     for (...) { train_one_step(); if (interrupt) { save(); return interrupt.exit_code(); } }
///
/// Threads: one makes it and ends it; any may ask.
class Interrupt {
 public:
  /// Takes the two signals. Throws Error if another Interrupt lives.
  Interrupt();

  /// Restores the previous signal handlers.
  ~Interrupt();

  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// True once a signal came.
  explicit operator bool() const { return exit_code() != 0; }

  /// The exit code that shells expect after a signal: 128 + signal; 0 if none came.
  int exit_code() const;
};

/// Thrown to end a program after a signal, once its work is saved. main prints the text and returns the exit
/// code.
struct Interrupted : Error {
  /// `exit_code` as Interrupt::exit_code.
  Interrupted(std::string_view text, int exit_code);
  int exit_code = 0;
};

}  // namespace xgrad::kit
