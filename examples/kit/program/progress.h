// A progress bar on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include <xgrad/kit/program/format.h>

namespace xgrad::kit {

/// The terminal that shows progress, and its abilities.
struct Terminal {
  std::ostream* out = nullptr;  ///< where to write; not owned
  bool redraws = false;         ///< a line can be drawn over: a terminal and no log file
  bool colours = false;         ///< escape sequences for colour are welcome
  bool unicode = false;         ///< the bar may be drawn with line characters
  int columns = 0;              ///< its width, or 0 to ask the terminal each time, since windows are resized

  /// Standard error as it is: redraws if it is a terminal, TERM is set and not "dumb" and CI is not set; colours if it
  /// redraws and NO_COLOR is not set; unicode if LC_ALL, LC_CTYPE or LANG says UTF-8.
  static Terminal standard_error();
};

/// The time since some moment.
using ProgressClock = std::function<std::chrono::duration<double>()>;

struct ProgressOptions {
  std::int64_t total = 0;  ///< how many updates of 1 make the whole; 0: unknown, no bar and no time left
  std::string title = {};  ///< the name of the task
  std::int64_t start = 0;  ///< updates before this run, which count for the bar but not for the speed
  Terminal terminal = Terminal::standard_error();
  ProgressClock clock = {};  ///< time since some moment; by default the steady clock
};
/// Shows the progress of a loop, its measurements, and the time left:
///
///     training ━━━━━━━━━━━╺━━━━━━━━━  112/200  loss 0.042  tok/s 53.9k  0:31, 0:24 left
///
/// On a terminal one line is drawn over at most ten times a second and never wraps: the bar shrinks first, then the
/// line is cut. Elsewhere a plain line appears at the first update, every few seconds, and at the end.
///
/// Threads: one at a time; nothing else should write to the terminal meanwhile.
class ProgressBar {
 public:
  using Clock = ProgressClock;
  using Options = ProgressOptions;

  /// Throws ValueError for a terminal without a stream.
  explicit ProgressBar(Options options);

  /// Ends the line, as `finish` does.
  ~ProgressBar();

  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `done` of the total are done; `fields` are shown after the bar: bar.update(7, {{"loss", "0.031"}}). Costs little
  /// where nothing is to be drawn.
  void update(std::int64_t done, NamedFields fields = {});

  /// Shows the last state if it is not shown yet and ends the line; later updates show nothing.
  void finish();

 private:
  std::string bar_line(int columns) const;
  std::string plain_line() const;
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
