// mpi::main: programs of several ranks with a command line.
#pragma once

#include <functional>

#include <xgrad/kit/mpi/world.h>
#include <xgrad/kit/program/cli.h>

namespace xgrad::mpi {

namespace detail {
/// Runs program(world). Only rank 0 writes to standard output.
int run_quietly(int argc, char** argv, const std::function<int(World&)>& program);
/// Calls the function. An error other than kit::Interrupted ends all ranks.
void or_end_all(const World& world, const std::function<void()>& function);
}  // namespace detail

/// kit::main for a program that runs as one of the ranks of mpirun, or alone. Calls run(config, example, world).
template <class Config, class Declare, class Run>
int main(int argc, char** argv, const char* name, const char* what, const Declare& options, const Run& run) {
  return detail::run_quietly(argc, argv, [&](World& world) {
    return kit::main<Config>(argc, argv, name, what, options, [&](const Config& config, kit::Example& example) {
      detail::or_end_all(world, [&] { run(config, example, world); });
    });
  });
}

}  // namespace xgrad::mpi
