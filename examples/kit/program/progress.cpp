// Drawing one line over and over, within the width of the terminal.
#include <xgrad/kit/program/progress.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/unicode/unicode.h>

namespace xgrad::kit {
namespace {

constexpr double seconds_between_redraws = 0.1, seconds_between_lines = 5;
constexpr int longest_bar = 30, shortest_bar = 6;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The locale's variables in the order in which the C library looks at them: the first that is set counts.
bool locale_is_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != value.npos || value.find("utf8") != value.npos || value.find("utf-8") != value.npos;
  }
  return false;
}

int current_columns(const Terminal& terminal) {
  if (terminal.columns > 0) return terminal.columns;
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const std::string_view text = environment("COLUMNS");
  int columns = 0;
  std::from_chars(text.data(), text.data() + text.size(), columns);
  return columns > 0 ? columns : 80;
}

std::string repeated(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

}  // namespace

Terminal Terminal::standard_error() {
  const bool redraws = isatty(STDERR_FILENO) == 1 && !environment("TERM").empty() && environment("TERM") != "dumb" &&
                       environment("CI").empty();
  return {.out = &std::cerr,
          .redraws = redraws,
          .colours = redraws && environment("NO_COLOR").empty(),
          .unicode = locale_is_unicode()};
}

ProgressBar::ProgressBar(Options options) : options_(std::move(options)), done_(options_.start) {
  if (options_.terminal.out == nullptr) fail<ValueError>("progress", "needs a stream to write to");
  if (!options_.clock) options_.clock = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
  if (!options_.title.empty()) options_.title += ' ';
  began_ = latest_ = options_.clock().count();
}

ProgressBar::~ProgressBar() { finish(); }

void ProgressBar::update(std::int64_t done, NamedFields fields) {
  if (finished_) return;
  done_ = done;
  fields_ = std::move(fields);
  latest_ = options_.clock().count();
  up_to_date_ = false;
  const double pause = options_.terminal.redraws ? seconds_between_redraws : seconds_between_lines;
  if (!any_shown_ || latest_ - shown_ >= pause) show();
}

void ProgressBar::finish() {
  if (finished_) return;
  if (!up_to_date_) show();
  if (any_shown_ && options_.terminal.redraws) *options_.terminal.out << '\n' << std::flush;
  finished_ = true;
}

void ProgressBar::show() {
  const Terminal& terminal = options_.terminal;
  if (terminal.redraws) {
    *terminal.out << "\r" + bar_line(current_columns(terminal)) + "\x1b[K" << std::flush;
  } else {
    *terminal.out << fit_columns(options_.title + state(), 500) + '\n' << std::flush;
  }
  shown_ = latest_;
  any_shown_ = up_to_date_ = true;
}

std::string ProgressBar::times() const {
  const double elapsed = latest_ - began_;
  if (options_.total <= 0) return duration(elapsed);
  const double rate = static_cast<double>(done_ - options_.start) / elapsed;
  const double left = static_cast<double>(std::max<std::int64_t>(options_.total - done_, 0));
  return duration(elapsed) + (left > 0 ? ", " + duration(left / rate) + " left" : "");
}

std::string ProgressBar::state() const {
  std::string text = number(done_);
  if (options_.total > 0) text += "/" + number(options_.total);
  for (const auto& [name, value] : fields_) text += "  " + name + " " + value.text();
  return text + "  " + times();
}

std::string ProgressBar::bar_line(int columns) const {
  // The last column stays free: a character in it makes some terminals begin a new line.
  const int width = columns - 1;
  const std::string &head = options_.title, tail = state();
  const int cells = std::min(width - kit::columns(head) - kit::columns(tail) - 2, longest_bar);
  if (options_.total <= 0 || cells < shortest_bar) return fit_columns(head + tail, width);

  const double fraction = std::clamp(static_cast<double>(done_) / static_cast<double>(options_.total), 0.0, 1.0);
  const int filled = static_cast<int>(fraction * cells);
  const Terminal& terminal = options_.terminal;
  const std::string_view full = terminal.unicode ? "━" : "=";
  const std::string_view empty = terminal.unicode ? (terminal.colours ? "━" : "─") : "-";
  const auto coloured = [&](std::string_view colour, const std::string& text) {
    return terminal.colours ? std::string(colour) + text + "\x1b[0m" : text;
  };
  return fit_columns(head, width) + coloured("\x1b[36m", repeated(full, filled)) +
         coloured("\x1b[90m", repeated(empty, cells - filled)) + "  " + fit_columns(tail, width);
}

}  // namespace xgrad::kit
