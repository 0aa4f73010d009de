// The functions of Lanes that the library holds (wide.h), by Packs of the level that runs.
#include "wide.h"

#include "rows.h"

namespace xgrad::detail {

Level level_of_kernels() {
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512CD__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
  return Level::v4;
#elif defined(__AVX2__) && defined(__FMA__) && defined(__BMI__) && defined(__BMI2__)
  return Level::v3;
#else
  return Level::base;
#endif
}

// Mostly they are those of one register.
#define XGRAD_WIDE_FUNCTION(f)                                                                       \
  void wide_##f(const Real* in, Real* out, std::int64_t count) {                                     \
    if (count == pack_width) return f(Pack::load(in)).store(out);                                    \
    each_pack(count, [&](std::int64_t i, auto part) { part.store(f(part.load(in + i)), out + i); }); \
  }
XGRAD_WIDE_FUNCTIONS(XGRAD_WIDE_FUNCTION)
#undef XGRAD_WIDE_FUNCTION

}  // namespace xgrad::detail
