// The registers that the running kernels were compiled for.
#pragma once

namespace xgrad::detail {

struct Registers {
  const char* instructions;  ///< "AVX-512", "AVX2", "AVX", "NEON", "SSE2"
  int width;                 ///< numbers in one
};
Registers registers_of_kernels();

}  // namespace xgrad::detail
