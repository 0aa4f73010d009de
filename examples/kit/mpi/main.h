// Programs with a command line that are ranks.
#pragma once

#include <functional>

#include <xgrad/kit/mpi/world.h>
#include <xgrad/kit/program/cli.h>

namespace xgrad::mpi {

namespace detail {
/// Runs program(world), in which rank 0 alone writes to standard output.
int run_quietly(int argc, char** argv, const std::function<int(World&)>& program);
/// Calls the function; an error other than kit::Interrupted ends all ranks.
void or_end_all(const World& world, const std::function<void()>& function);
}  // namespace detail

/// kit::main of a program that is one of the ranks that mpirun has started, or alone: run(config, example, world).
template <class Config, class Declare, class Run>
int main(int argc, char** argv, const char* name, const char* what, const Declare& options, const Run& run) {
  return detail::run_quietly(argc, argv, [&](World& world) {
    return kit::main<Config>(argc, argv, name, what, options, [&](const Config& config, kit::Example& example) {
      detail::or_end_all(world, [&] { run(config, example, world); });
    });
  });
}

}  // namespace xgrad::mpi
