// mpi::run: programs of several ranks.
//
//     int main(int argc, char** argv) {
//       return mpi::run(argc, argv, [](mpi::World& world) { std::cout << world.rank() << "\n"; });
//     }
//
//     mpirun -n 2 ./program
//
// A program links the target xgrad::mpi.
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

/// Runs program(world) as one of the ranks of mpirun, or alone. Returns the value for main: the result of the program
/// if it is an int, otherwise 0. If the program throws, prints rank and message on standard error and ends all ranks.
/// Ranks that share processors divide the threads among them, unless XGRAD_THREADS sets their number. Without MPI in
/// the build, a program started by mpirun ends with an error that names the missing packages.
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
