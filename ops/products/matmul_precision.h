// The precision of the factors of products, as in torch.set_float32_matmul_precision.
#pragma once

#include <string_view>

#include "../../core/base/config.h"

namespace xgrad {

struct Rounding;

/// The precision to which the factors of a product are rounded. Sums are always in Real.
enum class MatmulPrecision {
  highest,  ///< the precision of Real: 24 bits in float
  high,     ///< float on AMX: the sum of two bfloat16 numbers, 16 bits; else as highest
  medium,   ///< float on AMX or AVX512-BF16: one bfloat16 number, 8 bits; else as highest
};

/// Sets the precision of matrix products in float (matmul, linear and operations that call them) and of their
/// gradients. The default is highest. Factors are rounded to the nearest bfloat16 (ties to even), or split into
/// several, while they are packed for AMX or AVX512-BF16, whichever the processor has. The kernels of convolutions,
/// attention and recurrences stay float. So do linear layers of 2^18 weights and more with up to 16 rows, because
/// reading the weights takes most of their time.
/// - medium: subnormal numbers and subnormal sums count as 0.
/// - high: applies to products (m, k) (k, n) with k and n of at least 64 and at least 2^18 multiplications.
/// - highest: on AMX, if m, k and n are at least 256, each factor is the sum of three bfloat16 numbers, which have the
///   24 bits of a float. Errors are about half as large as in float, but relative to the largest product of an element
///   of a and an element of b: anything below 2^-66 of it may count as 0.
///
/// In high and highest, factors with infinities, NaN or numbers of 2^127 and more are multiplied in float, and so are
/// factors whose largest product is below 2^-60. On a processor without the instructions the first call with medium
/// prints a warning to std::cerr. Throws ValueError for a value outside the enum. Thread-safe: the process has one
/// precision. A product reads it once, and its gradients read it when they are computed.
void set_matmul_precision(MatmulPrecision precision);
/// The current precision. Thread-safe.
MatmulPrecision matmul_precision();

namespace detail {
struct RoundingUnit;

/// The rounding of matrix products now (ops/kernels/products/product.h).
Rounding rounding_of_products();
/// The instructions for bfloat16: "AMX", "AVX512-BF16", or empty; and the reason why there are none.
std::string_view bfloat_unit_name();
std::string_view bfloat_unit_missing();
/// Replaces the instructions for bfloat16, for tests; nullptr: none. Returns the instructions that were used before.
const RoundingUnit* exchange_bfloat_unit(const RoundingUnit* unit);
}  // namespace detail

}  // namespace xgrad
