// Examples of several ranks.
#pragma once

#include <functional>

#include <xgrad/kit/mpi/world.h>
#include <xgrad/kit/program/cli.h>

namespace xgrad::mpi {

/// kit::run_example of an example that is one of the ranks that mpirun has started, or alone; rank 0 alone writes to
/// standard output.
int run_example(CLI::App& app, int argc, char** argv, const std::function<void(kit::Example&, World&)>& body);

}  // namespace xgrad::mpi
