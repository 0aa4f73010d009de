// The output of the progress bar, with a clock and a terminal of the test's own.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include <xgrad/kit/program/progress.h>
#include <xgrad/kit/unicode/unicode.h>

#include "support.h"

using namespace xgrad::kit;
using xgrad::kit::testing::count_of;

namespace {

struct Fixture {
  std::ostringstream out;
  double now = 100;

  ProgressBar::Options options(const Terminal& terminal, std::int64_t total = 200) {
    return {.total = total, .title = "training", .terminal = terminal, .clock = [this] {
              return std::chrono::duration<double>(now);
            }};
  }
  Terminal window(int columns) { return {.out = &out, .redraws = true, .columns = columns}; }
  Terminal file() { return {.out = &out}; }

  /// The last line drawn, without control sequences.
  std::string last_line() const {
    const std::string text = out.str();
    const std::size_t begin = text.rfind('\r') + 1;
    return text.substr(begin, text.rfind("\x1b[K") - begin);
  }
};

/// The line in a window of so many columns when so much is done after 30 seconds.
std::string line_in(int columns, std::int64_t done, std::int64_t total = 200, const NamedFields& fields = {}) {
  Fixture f;
  ProgressBar bar(f.options(f.window(columns), total));
  f.now += 30;
  bar.update(done, fields);
  return f.last_line();
}

/// While it lives, standard error is this file, which it closes.
struct StandardError {
  explicit StandardError(int file) : earlier(dup(STDERR_FILENO)) {
    dup2(file, STDERR_FILENO);
    close(file);
  }
  ~StandardError() {
    dup2(earlier, STDERR_FILENO);
    close(earlier);
  }
  const int earlier;
};

/// Sets a variable of the environment for a scope.
struct Variable {
  Variable(const char* name, const char* value) : name(name), had(std::getenv(name) != nullptr) {
    if (had) before = std::getenv(name);
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~Variable() { had ? setenv(name, before.c_str(), 1) : unsetenv(name); }
  const char* name;
  bool had;
  std::string before;
};

}  // namespace

TEST_CASE("the bar shows how far, what, how long and how much longer") {
  Fixture f;
  ProgressBar bar(f.options(f.window(100)));
  f.now += 30;
  bar.update(50, {{"loss", 0.25}, {"tok/s", "54k"}});
  CHECK(f.last_line() == "training =======-----------------------  50/200  loss 0.25  tok/s 54k  0:30, 1:30 left");
  f.now += 90;
  bar.update(200, {{"loss", 0.03}});
  CHECK(f.last_line() == "training ==============================  200/200  loss 0.03  2:00");

  Fixture resumed, endless, idle;
  auto options = resumed.options(resumed.file());
  options.start = 100;  // by an earlier run: that counts for the bar and not for the speed
  ProgressBar rest(std::move(options)), without_total(endless.options(endless.window(80), 0));
  resumed.now += 10;
  rest.update(150);
  CHECK(resumed.out.str() == "training 150/200  0:10, 0:10 left\n");
  endless.now += 10;
  without_total.update(150);
  CHECK(endless.last_line() == "training 150  0:10");
  { const ProgressBar never_ran(idle.options(idle.window(80))); }
  CHECK(idle.out.str().empty());
}

TEST_CASE("a line never reaches the last column of the terminal") {
  for (const int width : {1, 2, 10, 20, 30, 40, 60, 80, 200}) {
    Fixture f;
    Terminal terminal = f.window(width);
    terminal.unicode = true;
    ProgressBar bar(f.options(terminal));
    f.now += 1;
    bar.update(3, {{"loss", 123.456}, {"étape", "猫猫猫"}});
    CAPTURE(width);
    CHECK(columns(f.last_line()) < width);
    CHECK(f.last_line().find('\n') == std::string::npos);
  }
}

TEST_CASE("the bar gives way to the numbers, and does not run over where more is done than was planned") {
  CHECK(line_in(45, 50) == "training ==--------  50/200  0:30, 1:30 left");
  CHECK(line_in(41, 50) == "training =-----  50/200  0:30, 1:30 left");  // the shortest bar
  CHECK(line_in(40, 50) == "training 50/200  0:30, 1:30 left");
  CHECK(line_in(80, 250) == "training ==============================  250/200  0:30");
  CHECK(line_in(80, 199).ends_with("  199/200  0:30, 0:00 left"));
  CHECK(line_in(80, 0, 1) == "training ------------------------------  0/1  0:30, -:-- left");
}

TEST_CASE("a terminal is redrawn at most ten times a second, and shows the last state in the end") {
  Fixture f;
  {
    ProgressBar bar(f.options(f.window(80)));
    for (int i = 1; i <= 100; ++i) {
      f.now += 0.0101;
      bar.update(i);
    }
    CHECK(count_of("\r", f.out.str()) == 10);
  }
  CHECK(f.last_line().find("100/200") != std::string::npos);
  CHECK(f.out.str().ends_with("\x1b[K\n"));
  Fixture ended;
  {
    ProgressBar bar(ended.options(ended.window(80)));
    bar.update(1);
    bar.finish();
  }
  CHECK(ended.out.str().ends_with("\x1b[K\n"));  // and not twice
}

TEST_CASE("where nothing can be drawn over, a plain line comes every few seconds and at the end") {
  Fixture f;
  {
    ProgressBar bar(f.options(f.file()));
    for (int i = 1; i <= 120; ++i) {
      f.now += 0.1;
      bar.update(i, {{"loss", 0.5}});
    }
    CHECK(count_of("\n", f.out.str()) == 3);
    bar.finish();
    bar.update(130);
  }
  const std::string text = f.out.str();
  CHECK(text.starts_with("training 1/200  loss 0.5  0:00, 0:20 left\n"));
  CHECK(text.ends_with("training 120/200  loss 0.5  0:12, 0:08 left\n"));
  CHECK(count_of("\n", text) == 4);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
  Fixture endless;
  ProgressBar(endless.options(endless.file(), 0)).update(150);
  CHECK(endless.out.str() == "training 150  0:00\n");
  Fixture single;
  ProgressBar two(single.options(single.file(), 1));
  two.update(0);
  single.now += 5;
  two.update(1);
  CHECK(single.out.str() == "training 0/1  0:00, -:-- left\ntraining 1/1  0:05\n");
}

TEST_CASE("colours only come where they are wanted") {
  Fixture f;
  Terminal terminal = f.window(80);
  terminal.colours = true;
  ProgressBar bar(f.options(terminal));
  bar.update(1);
  CHECK(f.out.str().find("\x1b[36m") != std::string::npos);
  CHECK(f.out.str().find("\x1b[0m") != std::string::npos);
}

TEST_CASE("the first variable of the locale that is set says whether the terminal shows Unicode") {
  struct Case {
    const char *all, *ctype, *lang;
    bool unicode;
  };
  for (const Case& c :
       {Case{"fr_FR.UTF-8", nullptr, "C", true}, Case{"C", "fr_FR.UTF-8", "fr_FR.UTF-8", false},
        Case{"", "en_US.utf8", "C", true}, Case{nullptr, "", "C.utf-8", true}, Case{nullptr, nullptr, nullptr, false}}) {
    const Variable all("LC_ALL", c.all), ctype("LC_CTYPE", c.ctype), lang("LANG", c.lang);
    CHECK(Terminal::standard_error().unicode == c.unicode);
  }
}

TEST_CASE("a terminal is drawn over, in colours and in its own width; what is none has the width that COLUMNS says, or 80") {
  const Variable term("TERM", "xterm"), ci("CI", nullptr), colours("NO_COLOR", nullptr);
  const auto width = [](const char* variable) {
    const Variable columns_of_shell("COLUMNS", variable);
    return columns(line_in(0, 50, 200, {{"loss", std::string(99, '9')}})) + 1;
  };
  const auto is = [](bool redraws, bool in_colours) {
    const Terminal found = Terminal::standard_error();
    return found.redraws == redraws && found.colours == in_colours;
  };
  {
    const StandardError file(open("/dev/null", O_RDWR));
    CHECK(is(false, false));
    CHECK(width("60") == 60);
    CHECK(width("1") == 1);
    for (const char* none : {static_cast<const char*>(nullptr), "", "0", "wide"}) CHECK(width(none) == 80);
  }
  const int screen = posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE((screen >= 0 && grantpt(screen) == 0 && unlockpt(screen) == 0));
  const winsize size{.ws_row = 24, .ws_col = 50};
  ioctl(screen, TIOCSWINSZ, &size);
  {
    const StandardError terminal(open(ptsname(screen), O_RDWR | O_NOCTTY));
    CHECK(is(true, true));
    CHECK(width("60") == 50);
    for (const auto& [name, value] : {std::pair("CI", "true"), std::pair("TERM", "dumb"), std::pair("TERM", "")}) {
      const Variable variable(name, value);
      CHECK(is(false, false));
    }
    const Variable no_colour("NO_COLOR", "1");
    CHECK(is(true, false));
  }
  close(screen);
}
