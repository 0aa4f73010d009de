// The kernel of Jupyter: answers its requests with a Session. Private.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <xeus/xinterpreter.hpp>

#include "session.h"
#include "streams.h"

namespace xgrad::notebook {

/// Where a kernel finds its files.
struct KernelOptions {
  bool in_double = false;  ///< the library in double, without the kit
};

/// The arguments of the compiler for cells.
std::vector<std::string> compiler_arguments(const KernelOptions& options);

/// Answers requests of Jupyter: runs cells, completes names, shows declarations.
class Kernel : public xeus::xinterpreter {
 public:
  explicit Kernel(KernelOptions options);

  /// Shows a value under the cell that runs.
  void show(const std::string& mime, const std::string& text);

 private:
  void configure_impl() override;
  nl::json execute_request_impl(int number, const std::string& code, bool silent, bool store_history,
                                nl::json user_expressions, bool allow_stdin) override;
  nl::json complete_request_impl(const std::string& code, int cursor) override;
  nl::json inspect_request_impl(const std::string& code, int cursor, int detail_level) override;
  nl::json is_complete_request_impl(const std::string& code) override;
  nl::json kernel_info_request_impl() override;
  void shutdown_request_impl() override;

  nl::json run_command(const std::string& command);
  Outcome answer(const std::string& cell, int number);
  Outcome answer_own(const std::string& cell, const std::string& number);  // a link of "your own engine"

  KernelOptions options_;
  Streams streams_;
  std::unique_ptr<Session> session_;
  int number_ = 0;     // of the cell that runs
  int last_cell_ = 0;  // counts all, also silent ones, since each has a namespace
};

}  // namespace xgrad::notebook
