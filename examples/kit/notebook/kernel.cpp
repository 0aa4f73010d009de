// xgrad_kernel -f CONNECTION [--double]: the kernel of Jupyter, which Jupyter starts.
#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xeus/xeus_context.hpp>
#include <xeus/xhelper.hpp>
#include <xeus/xinterpreter.hpp>
#include <xeus/xkernel.hpp>
#include <xeus/xkernel_configuration.hpp>
#include <xeus/xserver_zmq.hpp>
#include <zmq.hpp>

#include "guard.h"
#include "session.h"
#include "streams.h"

namespace xgrad::notebook {
namespace {

/// The place in bytes behind so many characters of UTF-8; Jupyter counts characters.
std::size_t behind_characters(const std::string& text, int count) {
  std::size_t at = 0;
  for (; at < text.size() && count > 0; --count) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
  }
  return at;
}

int characters(const std::string& text) {
  return static_cast<int>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The name with its namespaces that a place lies in or behind.
std::string name_at(const std::string& code, std::size_t at) {
  std::size_t begin = at, end = at;
  const auto belongs = [&](std::size_t i) { return i < code.size() && (in_name(code[i]) || code[i] == ':'); };
  while (begin > 0 && belongs(begin - 1)) --begin;
  while (end < code.size() && in_name(code[end])) ++end;
  return code.substr(begin, end - begin);
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

/// The file of an exercise, or of a link of "your own engine", by its number.
std::optional<std::filesystem::path> exercise(const std::string& number, bool own = false) {
  const std::string prefix = (number.size() < 2 ? "0" : "") + number + "_";
  const std::filesystem::path exercises = XGRAD_SOURCE_DIR "/examples/exercises";
  for (const auto& file : std::filesystem::directory_iterator(own ? exercises / "own" : exercises))
    if (file.path().filename().string().starts_with(prefix)) return file.path();
  return {};
}

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// Where the links are that the reader writes, as for examples/exercise.
const std::filesystem::path own_folder = "exercises/own";

/// Runs `examples/exercise own NUMBER`.
void exercise_own(const std::string& number, bool quiet) {
  std::string words[] = {XGRAD_SOURCE_DIR "/examples/exercise", "own", number};
  char* const arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (quiet) posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  // Jupyter interrupts all processes of the kernel's group; the kernel itself blocks the signal (guard.cpp).
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int failed = posix_spawn(&child, arguments[0], &files, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed == 0) waitpid(child, nullptr, 0);
}

/// The arguments of the compiler for cells; `in_double`: with the library in double, without the kit.
std::vector<std::string> compiler_arguments(bool in_double) {
  // Not optimised: a cell is compiled in the time that the optimiser alone would take.
  std::vector<std::string> arguments{"-std=c++20",
                                     "-fPIC",
                                     "-O0",
                                     "-w",
                                     "-pthread",
                                     "-fretain-comments-from-system-headers",
                                     "-resource-dir",
                                     XGRAD_CLANG_RESOURCES,
                                     "-I" XGRAD_INCLUDE_DIR,
                                     "-I" XGRAD_SOURCE_DIR "/examples/exercises",
                                     "-I" XGRAD_SOURCE_DIR "/docs/learn/steps",
                                     "-DXGRAD_DIR=\"" XGRAD_SOURCE_DIR "\"",
                                     "-fsanitize-coverage=bb,trace-pc,no-prune",
                                     "-fsanitize-coverage-allowlist=" XGRAD_SOURCE_DIR
                                     "/examples/kit/notebook/watched.txt"};
  if (in_double) arguments.emplace_back("-DXGRAD_F64");
  return arguments;
}

/// Answers requests of Jupyter: runs cells, completes names, shows declarations.
class Kernel : public xeus::xinterpreter {
 public:
  explicit Kernel(bool in_double)
      : in_double_(in_double),
        streams_([this](const std::string& name, const std::string& text) { publish_stream(name, text); }) {
    running = this;
    xeus::register_interpreter(this);
  }
  static inline Kernel* running = nullptr;

  /// Shows a value under the cell that runs.
  void show(const std::string& mime, const std::string& text) {
    const std::scoped_lock lock(streams_.mutex());
    nl::json data{{mime, text}};
    if (mime != "text/plain") data["text/plain"] = "(a picture)";
    publish_execution_result(number_, std::move(data), nl::json::object());
  }

 private:
  void configure_impl() override {
    SessionOptions options{.arguments = compiler_arguments(in_double_),
                           .libraries = {XGRAD_LIBRARY, XGRAD_KIT_LIBRARY},
                           .preamble = "#include <xgrad/kit/notebook/show.h>"};
    if (in_double_) options.libraries = {XGRAD_F64_LIBRARY};
    session_ = std::make_unique<Session>(options);
  }

  nl::json execute_request_impl(int number, const std::string& code, bool silent, bool, nl::json, bool) override {
    number_ = number;
    const std::string cell = trimmed(code);
    if (cell.starts_with("%")) return run_command(cell);
    if (cell.starts_with("?") || (cell.ends_with("?") && cell.find('\n') == cell.npos)) {
      const std::string name = trimmed(cell.starts_with("?") ? cell.substr(1) : cell.substr(0, cell.size() - 1));
      const std::string text = session_->describe(name);
      const nl::json shown{
          {"source", "page"}, {"start", 0}, {"data", {{"text/plain", text.empty() ? "there is no " + name : text}}}};
      return xeus::create_successful_reply(nl::json::array({shown}));
    }
    streams_.open();
    const Outcome outcome = answer(code, number);
    streams_.close();
    if (outcome.ok()) return xeus::create_successful_reply();
    std::vector<std::string> trace{"\x1b[31m" + outcome.kind + "\x1b[0m: " + outcome.text};
    if (!silent) publish_execution_error(outcome.kind, outcome.text, trace);
    return xeus::create_error_reply(outcome.kind, outcome.text, trace);
  }

  nl::json complete_request_impl(const std::string& code, int cursor) override {
    const std::string before = code.substr(0, behind_characters(code, cursor));
    std::size_t begin = before.size();
    while (begin > 0 && in_name(before[begin - 1])) --begin;
    return xeus::create_complete_reply(session_->complete(before), characters(before.substr(0, begin)), cursor);
  }

  nl::json inspect_request_impl(const std::string& code, int cursor, int) override {
    const std::string text = session_->describe(name_at(code, behind_characters(code, cursor)));
    return xeus::create_inspect_reply(!text.empty(),
                                      text.empty() ? nl::json::object() : nl::json{{"text/plain", text}});
  }

  nl::json is_complete_request_impl(const std::string& code) override {
    const auto count = [&](char c) { return std::ranges::count(code, c); };
    return xeus::create_is_complete_reply(
        count('{') > count('}') || count('(') > count(')') ? "incomplete" : "complete", "  ");
  }

  nl::json kernel_info_request_impl() override {
    return xeus::create_info_reply("", "xgrad", XGRAD_NOTEBOOK_VERSION, "c++", "20", "text/x-c++src", ".cpp", "cpp",
                                   "text/x-c++src", "notebook_program.Program",
                                   in_double_ ? "xgrad in double" : "xgrad");
  }

  void shutdown_request_impl() override {}

  nl::json run_command(const std::string& command) {
    static const std::regex form(R"(%exercise\s+(own\s+)?(\d\d?))");
    std::smatch match;
    std::string text = "the command is %exercise NUMBER, from 1 to 33, or %exercise own NUMBER, from 1 to 12";
    std::optional<std::filesystem::path> file;
    if (std::regex_match(command, match, form)) {
      const bool own = match[1].matched;
      if (own || !in_double_) file = exercise(match[2], own);
      if (!own && in_double_) text = "exercises are answered in the kernel xgrad, in float";
      if (own && file) {
        // What the reader has written stays.
        file = own_folder / file->filename();
        if (!exists(*file)) exercise_own(match[2], true);
        if (!exists(*file)) {
          text = "there is no " + file->string() + ", and it cannot be written";
          file.reset();
        }
      }
    }
    if (!file) {
      publish_execution_error("command", text, {text});
      return xeus::create_error_reply("command", text, {text});
    }
    const nl::json next{{"source", "set_next_input"}, {"text", content(*file)}, {"replace", false}};
    return xeus::create_successful_reply(nl::json::array({next}));
  }

  Outcome answer(const std::string& cell, int number) {
    static const std::regex first_line_of_own(R"(\s*// Your own engine, (\d+) of 12:)");
    std::smatch match;
    if (std::regex_search(cell, match, first_line_of_own, std::regex_constants::match_continuous))
      return answer_own(trimmed(cell), match[1]);
    last_cell_ = std::max(last_cell_ + 1, number);
    if (Outcome outcome = session_->run(cell, last_cell_); !outcome.ok()) return outcome;
    // An exercise begins with its number and is checked.
    static const std::regex first_line(R"(\s*// Exercise (\d+):)");
    if (in_double_ || !std::regex_search(cell, match, first_line, std::regex_constants::match_continuous)) return {};
    const auto file = exercise(match[1]);
    if (!file) return {};
    const std::string name = file->stem().string().substr(3);
    return session_->run("xgrad::exercises::reply([] { xgrad::exercises::check::" + name + "(" + name + "); }, \".\");",
                         ++last_cell_);
  }

  // A link of "your own engine".
  Outcome answer_own(const std::string& cell, const std::string& number) {
    const auto link = exercise(number, true);
    if (!link) return {.kind = "command", .text = "there is no link " + number};
    std::filesystem::create_directories(own_folder);
    std::ofstream(own_folder / link->filename()) << cell << "\n";
    begin_cell();
    exercise_own(number, false);
    if (is_interrupted()) return {.kind = "interrupted", .text = "the answer was stopped"};
    const std::string graph = content(own_folder / "graph.svg");
    if (const std::size_t begin = graph.find("<svg"); begin != graph.npos) show("image/svg+xml", graph.substr(begin));
    return {};
  }

  const bool in_double_;
  Streams streams_;
  std::unique_ptr<Session> session_;
  int number_ = 0;     // of the cell that runs
  int last_cell_ = 0;  // counts all, also silent ones, since each has a namespace
};

}  // namespace
}  // namespace xgrad::notebook

extern "C" void xgrad_notebook_show(const char* mime, const char* text, std::size_t size) {
  xgrad::notebook::Kernel::running->show(mime, std::string(text, size));
}

int main(int argc, char** argv) {
  using namespace xgrad::notebook;
  guard_process();
  bool in_double = false;
  for (int i = 1; i < argc; ++i) in_double |= argv[i] == std::string_view("--double");
  // A word that nobody reads under a cell goes where the kernel was started.
  std::FILE* const terminal = fdopen(dup(STDERR_FILENO), "w");
  try {
    const xeus::xconfiguration connection = xeus::load_configuration(xeus::extract_filename(argc, argv));
    xeus::xkernel kernel(connection, xeus::get_user_name(), xeus::make_context<zmq::context_t>(),
                         std::make_unique<Kernel>(in_double), xeus::make_xserver_zmq,
                         xeus::make_in_memory_history_manager(), nullptr, xeus::make_null_debugger, nl::json::object(),
                         nl::json::error_handler_t::replace);
    kernel.start();
  } catch (const std::exception& error) {
    std::fputs(("xgrad_kernel: " + std::string(error.what()) + "\n").c_str(), terminal);
    std::fflush(terminal);
    std::_Exit(1);
  }
  std::_Exit(0);  // without the destructors of what cells declared
}
