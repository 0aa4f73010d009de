// The choice of precision and of the instructions for it.
#include "matmul_precision.h"

#include <atomic>
#include <iostream>

#include "../../core/base/error.h"
#include "../kernels/bfloat16/bfloat16.h"

namespace xgrad {
namespace {

std::atomic<MatmulPrecision> chosen{MatmulPrecision::highest};

// The best that this processor has. AMX tiles multiply eight times as fast as its registers.
std::atomic<const detail::BfloatUnit*>& unit() {
  static std::atomic<const detail::BfloatUnit*> best = [] {
    const detail::BfloatUnit* const tiles = detail::amx_unit();
    return tiles ? tiles : detail::avx512_bf16_unit();
  }();
  return best;
}

}  // namespace

void set_matmul_precision(MatmulPrecision precision) {
  switch (precision) {
    case MatmulPrecision::highest:
    case MatmulPrecision::high:
      break;
    case MatmulPrecision::medium: {
      static std::atomic<bool> said{false};
      if (sizeof(Real) == sizeof(float) && !unit() && !said.exchange(true)) {
        std::cerr << "xgrad: this processor has neither AMX nor AVX512-BF16 (or the kernels were not compiled for "
                     "AVX-512): products stay float\n";
      }
      break;
    }
    default:
      fail<ValueError>("set_matmul_precision", static_cast<int>(precision), " is no MatmulPrecision");
  }
  chosen = precision;
}

MatmulPrecision matmul_precision() { return chosen; }

const detail::BfloatUnit* detail::bfloat_unit() {
  return chosen.load(std::memory_order_relaxed) == MatmulPrecision::medium ? unit().load() : nullptr;
}

std::string_view detail::bfloat_unit_name() {
  const BfloatUnit* const best = unit();
  return best ? best->name : "";
}

const detail::BfloatUnit* detail::exchange_bfloat_unit(const BfloatUnit* other) { return unit().exchange(other); }

}  // namespace xgrad
