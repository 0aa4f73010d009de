// xgrad_kernel -f CONNECTION [--double]: the kernel of Jupyter, which Jupyter starts.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include <unistd.h>
#include <xeus/xeus_context.hpp>
#include <xeus/xhelper.hpp>
#include <xeus/xkernel.hpp>
#include <xeus/xkernel_configuration.hpp>
#include <xeus/xserver_zmq.hpp>
#include <zmq.hpp>

#include "guard.h"
#include "kernel.h"

int main(int argc, char** argv) {
  using namespace xgrad::notebook;
  guard_process();
  KernelOptions options;
  for (int i = 1; i < argc; ++i) options.in_double |= argv[i] == std::string_view("--double");
  // A word that nobody reads under a cell goes where the kernel was started.
  std::FILE* const terminal = fdopen(dup(STDERR_FILENO), "w");
  try {
    const xeus::xconfiguration connection = xeus::load_configuration(xeus::extract_filename(argc, argv));
    xeus::xkernel kernel(connection, xeus::get_user_name(), xeus::make_context<zmq::context_t>(),
                         std::make_unique<Kernel>(options), xeus::make_xserver_zmq,
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
