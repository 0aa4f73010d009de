// The choice of precision and of the instructions for it.
#include "matmul_precision.h"

#include <atomic>
#include <iostream>

#include "../../core/base/error.h"
#include "../kernels/products/product.h"
#ifndef XGRAD_NO_BFLOAT16
#include "../kernels/bfloat16/bfloat16.h"
#endif

namespace xgrad {
namespace {

std::atomic<MatmulPrecision> current{MatmulPrecision::highest};

// The best instructions that this processor has, or why there are none. AMX tiles multiply eight times as fast as its
// registers.
struct Found {
  const detail::RoundingUnit* unit = nullptr;
  std::string_view missing = "the library was built without it";
};

const Found& found() {
#ifdef XGRAD_NO_BFLOAT16
  static const Found best;
#else
  static const auto [unit, missing] = detail::best_bfloat_unit();
  static const Found best{unit, missing};
#endif
  return best;
}

std::atomic<const detail::RoundingUnit*>& unit() {
  static std::atomic<const detail::RoundingUnit*> used = found().unit;
  return used;
}

int parts_of(MatmulPrecision precision) {
  return precision == MatmulPrecision::medium ? 1 : precision == MatmulPrecision::high ? 2 : 3;
}

}  // namespace

void set_matmul_precision(MatmulPrecision precision) {
  using enum MatmulPrecision;
  if (precision != highest && precision != high && precision != medium) {
    fail<ValueError>("set_matmul_precision", static_cast<int>(precision), " is no MatmulPrecision");
  }
  static std::atomic<bool> said{false};
  if (precision == medium && sizeof(Real) == sizeof(float) && !unit() && !said.exchange(true)) {
    std::cerr << "xgrad: products stay float, there is no bfloat16: " << detail::bfloat_unit_missing() << '\n';
  }
  current = precision;
}

MatmulPrecision matmul_precision() { return current; }

Rounding detail::rounding_of_products() {
  const int parts = parts_of(current.load(std::memory_order_relaxed));
  const RoundingUnit* const used = unit();
  return used && parts <= used->most_parts ? Rounding{used, parts} : Rounding{};
}

std::string_view detail::bfloat_unit_name() {
  const RoundingUnit* const used = unit();
  return used ? used->name : "";
}

std::string_view detail::bfloat_unit_missing() {
  return unit() ? "" : found().unit ? "it was switched off" : found().missing;
}

const detail::RoundingUnit* detail::exchange_bfloat_unit(const RoundingUnit* other) { return unit().exchange(other); }

}  // namespace xgrad
