// States as bytes, to be sent.
#pragma once

#include <string>

#include <xgrad/core/files/state.h>

namespace xgrad::mpi::detail {

/// All arrays and facts of a state in one string; unpacked() makes them of it again.
std::string packed(const StateFile& state);
StateFile unpacked(const std::string& bytes);

}  // namespace xgrad::mpi::detail
