// What keeps a kernel alive while a cell runs: interrupts, a full stack, std::exit, the last word of a crash. Private.
#pragma once

#include <functional>
#include <string>

namespace xgrad::notebook {

/// A cell that was stopped by the user. Not a std::exception, so that cells do not catch it by accident.
struct Stopped {};

/// Blocks SIGINT in every thread to come and waits for it in one; handles crashes. To be called first in `main`.
void guard_process();

/// Calls a function in which std::exit, std::abort and std::terminate come back here. Says which of these it called;
/// empty if it ended by itself. Exceptions pass.
std::string guarded(const std::function<void()>& run);

/// Where the cell is, for the last word.
void set_place(const std::string& place);

/// Forgets an earlier interrupt.
void begin_cell();
/// Whether there was an interrupt since then.
bool is_interrupted();

/// Functions that take the place of those of the C library in cells.
struct Replacement {
  const char* name;
  void* function;
};
const std::initializer_list<Replacement>& replacements();

}  // namespace xgrad::notebook
