// The choice of precision and of the instructions for it.
#include "matmul_precision.h"

#include <atomic>
#include <iostream>

#include "../../core/base/error.h"
#include "../kernels/bfloat16/bfloat16.h"

namespace xgrad {
namespace {

std::atomic<MatmulPrecision> current{MatmulPrecision::highest};

// The best that this processor has. AMX tiles multiply eight times as fast as its registers.
const detail::BfloatFound& found() {
  static const detail::BfloatFound best = detail::best_bfloat_unit();
  return best;
}

std::atomic<const detail::BfloatUnit*>& unit() {
  static std::atomic<const detail::BfloatUnit*> used = found().unit;
  return used;
}

int parts_of(MatmulPrecision precision) {
  switch (precision) {
    case MatmulPrecision::medium: return 1;
    case MatmulPrecision::high: return 2;
    default: return 3;
  }
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
        std::cerr << "xgrad: products stay float, there is no bfloat16: " << detail::bfloat_unit_missing() << '\n';
      }
      break;
    }
    default:
      fail<ValueError>("set_matmul_precision", static_cast<int>(precision), " is no MatmulPrecision");
  }
  current = precision;
}

MatmulPrecision matmul_precision() { return current; }

Rounding detail::rounding_of_products() {
  const int parts = parts_of(current.load(std::memory_order_relaxed));
  const BfloatUnit* const used = unit();
  return used && parts <= used->most_parts ? Rounding{used, parts} : Rounding{};
}

std::string_view detail::bfloat_unit_name() {
  const BfloatUnit* const used = unit();
  return used ? used->name : "";
}

std::string_view detail::bfloat_unit_missing() {
  return unit() ? "" : found().unit ? "it was switched off" : found().missing;
}

const detail::BfloatUnit* detail::exchange_bfloat_unit(const BfloatUnit* other) { return unit().exchange(other); }

}  // namespace xgrad
