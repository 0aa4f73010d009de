// Programs of several ranks.
//
//     int main(int argc, char** argv) {
//       return mpi::run(argc, argv, [](mpi::World& world) { std::cout << world.rank() << "\n"; });
//     }
//
//     mpirun -n 2 ./program
//
// Links the target xgrad::mpi.
#pragma once

#include <functional>
#include <string_view>
#include <type_traits>

#include <xgrad/kit/mpi/world.h>

namespace xgrad::mpi {

namespace detail {
int run(int argc, char** argv, const std::function<int(World&)>& program);
/// Prints "rank 1: reason" and ends all ranks.
[[noreturn]] void end_all(const World& world, std::string_view reason);
/// The message of the exception that is being handled.
std::string reason_of_current();
}  // namespace detail

/// Runs program(world) as one of the ranks that mpirun has started, or alone, and returns what main returns: 0, or what
/// the program returns, if that is an int. If it throws, the rank and the message go to standard error, and all ranks
/// end. Threads that were not asked for (XGRAD_THREADS) are divided among the ranks that share processors. Built
/// without MPI, a program that mpirun has started ends with the packages that are missing.
template <class F>
int run(int argc, char** argv, const F& program) {
  return detail::run(argc, argv, [&](World& world) {
    if constexpr (std::is_void_v<std::invoke_result_t<const F&, World&>>) {
      program(world);
      return 0;
    } else {
      return program(world);
    }
  });
}

}  // namespace xgrad::mpi
