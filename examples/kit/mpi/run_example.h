// Examples of several ranks.
#pragma once

#include <functional>

#include <xgrad/kit/mpi/world.h>
#include <xgrad/kit/program/cli.h>

namespace xgrad::mpi {

/// kit::run_example with the option --mpi, with which the example is one of the ranks that mpirun has started; rank 0
/// alone writes to standard output. Throws Error for --mpi if the library was built without MPI, with the packages that
/// are missing.
int run_example(CLI::App& app, int argc, char** argv, const std::function<void(kit::Example&, World&)>& body);

}  // namespace xgrad::mpi
