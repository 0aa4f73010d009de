#include "guard.h"

#include <atomic>
#include <charconv>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace xgrad::notebook {
namespace {

std::atomic<bool> interrupted = false;
const char* stack_limit = nullptr;  // below it a recursion ends
sigjmp_buf* way_back = nullptr;     // of the thread that runs cells
pthread_t cells_thread;
char ending[512] = {}, place[512] = {};

void write_all(const char* text) {
  for (std::size_t left = std::strlen(text); left > 0;) {
    const ssize_t written = write(STDERR_FILENO, text, left);
    if (written <= 0) return;
    text += written;
    left -= static_cast<std::size_t>(written);
  }
}

/// Joins texts in an array, as far as it has room. Allocates nothing, so that handlers of signals may call it.
template <std::size_t N>
void join_in(char (&array)[N], std::initializer_list<std::string_view> texts) {
  std::size_t size = 0;
  for (const std::string_view text : texts) size += text.copy(array + size, N - 1 - size);
  array[size] = 0;
}

/// Says why the kernel ends, and gives the thread that reads standard error the time to pass it on.
[[noreturn]] void end_kernel(const char* reason) {
  write_all("the kernel ended: ");
  write_all(reason);
  if (place[0] != 0) write_all(", in ");
  write_all(place);
  write_all("\n");
  usleep(700'000);
  _exit(1);
}

/// Back to guarded(), where this is the thread of the cells; else the end.
[[noreturn]] void leave_cell(const char* reason) {
  if (way_back == nullptr || !pthread_equal(pthread_self(), cells_thread)) end_kernel(reason);
  join_in(ending, {reason});
  siglongjmp(*way_back, 1);
}

extern "C" void replaced_exit(int status) {
  char text[64], digits[16] = {};
  std::to_chars(digits, std::end(digits) - 1, status);
  join_in(text, {"std::exit(", digits, ") was called"});
  leave_cell(text);
}
extern "C" void replaced_abort() { leave_cell("std::abort() was called"); }

void terminated() {
  char text[400];
  const std::string_view where = pthread_equal(pthread_self(), cells_thread) ? "" : " of a thread";
  join_in(text, {"std::terminate() was called", where});
  if (const std::exception_ptr error = std::current_exception()) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      join_in(text, {"nothing caught the exception '", e.what(), "'", where});
    } catch (...) {
      join_in(text, {"nothing caught an exception", where});
    }
  }
  leave_cell(text);
}

extern "C" void crashed(int signal) {
  for (const int other : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) std::signal(other, SIG_DFL);
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
      end_kernel("memory was used that is not there (an element beyond the end, an empty pointer, a full stack)");
    case SIGFPE:
      end_kernel("an integer was divided by zero");
    case SIGABRT:
      end_kernel("a function gave up (abort)");
    default:
      end_kernel("the processor does not know an instruction");
  }
}

void wait_for_interrupts(sigset_t signals) {
  while (true) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    interrupted = true;
    // A loop of the kit that looks for interrupts itself has a handler for them.
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
      action.sa_handler(signal);
  }
}

}  // namespace

void guard_process() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread(wait_for_interrupts, signals).detach();

  cells_thread = pthread_self();
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(cells_thread, &attributes);
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  stack_limit = static_cast<const char*>(lowest) + size / 8;

  constexpr std::size_t own_stack = 1 << 16;
  stack_t stack = {.ss_sp = std::malloc(own_stack), .ss_flags = 0, .ss_size = own_stack};
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = crashed;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &action, nullptr);
  std::set_terminate(terminated);
}

std::string guarded(const std::function<void()>& run) {
  sigjmp_buf back;
  if (sigsetjmp(back, 1) != 0) {
    way_back = nullptr;
    return ending;
  }
  struct Armed {
    explicit Armed(sigjmp_buf* buffer) { way_back = buffer; }
    ~Armed() { way_back = nullptr; }
  } armed(&back);
  run();
  return {};
}

void set_place(const std::string& text) { join_in(place, {text}); }

void begin_cell() { interrupted = false; }
bool is_interrupted() { return interrupted; }

const std::initializer_list<Replacement>& replacements() {
  static const std::initializer_list<Replacement> all{{"exit", reinterpret_cast<void*>(replaced_exit)},
                                                      {"_exit", reinterpret_cast<void*>(replaced_exit)},
                                                      {"_Exit", reinterpret_cast<void*>(replaced_exit)},
                                                      {"quick_exit", reinterpret_cast<void*>(replaced_exit)},
                                                      {"abort", reinterpret_cast<void*>(replaced_abort)}};
  return all;
}

/// The compiler puts a call of it into every branch of a cell's functions (watched.txt).
extern "C" void __sanitizer_cov_trace_pc() {
  if (!pthread_equal(pthread_self(), cells_thread)) return;
  if (interrupted && std::uncaught_exceptions() == 0) throw Stopped();
  const char* const here = static_cast<const char*>(__builtin_frame_address(0));
  if (here < stack_limit) throw std::runtime_error("the stack is full: does the recursion end?");
}

}  // namespace xgrad::notebook
