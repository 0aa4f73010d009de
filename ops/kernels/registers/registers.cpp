// Compiled with the kernels, so that it reports their instructions.
#include "registers.h"

#include "simd.h"

namespace xgrad {

detail::Registers detail::registers_of_kernels() {
  constexpr int width = static_cast<int>(Pack::width);
#if defined(__AVX512F__)
  return {"AVX-512", width};
#elif defined(__AVX2__)
  return {"AVX2", width};
#elif defined(__AVX__)
  return {"AVX", width};
#elif defined(__SSE2__)
  return {"SSE2", width};
#elif defined(__ARM_NEON)
  return {"NEON", width};
#elif defined(__wasm_simd128__)
  return {"WebAssembly SIMD", width};
#else
  return {"no SIMD", width};
#endif
}

}  // namespace xgrad
