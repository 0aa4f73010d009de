// ProgressBar: a progress bar on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include <xgrad/kit/program/format.h>

namespace xgrad::kit {

/// The terminal for progress, and its abilities.
struct Terminal {
  std::ostream* out = nullptr;  ///< where to write; not owned
  bool redraws = false;         ///< whether a line can be overwritten: in a terminal, not in a log file
  bool colours = false;         ///< whether it understands escape sequences for colours
  bool unicode = false;         ///< whether it shows Unicode line characters
  int columns = 0;              ///< its width; 0: determined each time, because windows are resized

  /// Standard error. It redraws if it is a terminal, TERM is set and not "dumb", and CI is not set. It has colours if
  /// it redraws and NO_COLOR is not set, and unicode if LC_ALL, LC_CTYPE or LANG contains UTF-8.
  static Terminal standard_error();
};

/// A clock: the time since a fixed moment.
using ProgressClock = std::function<std::chrono::duration<double>()>;

struct ProgressOptions {
  std::int64_t total = 0;  ///< final number of updates; 0: unknown, so no bar and no remaining time
  std::string title = {};  ///< the name of the task
  std::int64_t start = 0;  ///< updates before this run; they count for the bar but not for the speed
  Terminal terminal = Terminal::standard_error();
  ProgressClock clock = {};  ///< by default the steady clock
};
/// Shows the progress of a loop, its measurements, and the remaining time:
///
///     training ━━━━━━━━━━━╺━━━━━━━━━  112/200  loss 0.042  tok/s 53.9k  0:31, 0:24 left
///
/// On a terminal, one line is overwritten at most ten times a second. It never wraps: first the bar gets shorter, then
/// the line is cut. Without `redraws`, a line is printed at the first update, every few seconds, and at the end.
///
/// Threads: one thread at a time; nothing else should write to the terminal.
class ProgressBar {
 public:
  using Clock = ProgressClock;
  using Options = ProgressOptions;

  /// Throws ValueError for a terminal without a stream.
  explicit ProgressBar(Options options);

  /// Calls finish().
  ~ProgressBar();

  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Sets the number of updates so far. `fields` are shown after the bar: bar.update(7, {{"loss", "0.031"}}). It is
  /// fast if nothing is drawn.
  void update(std::int64_t done, NamedFields fields = {});

  /// Shows the last state and ends the line. Later updates show nothing.
  void finish();

 private:
  std::string bar_line(int columns) const;
  std::string state() const;
  std::string times() const;
  void show();

  Options options_;
  NamedFields fields_;
  std::int64_t done_;
  double began_ = 0;   // seconds on the clock
  double latest_ = 0;  // when done_ was set
  double shown_ = 0;   // when the last line was written
  bool any_shown_ = false;
  bool up_to_date_ = true;
  bool finished_ = false;
};

}  // namespace xgrad::kit
