// The precision of the factors of products, as torch.set_float32_matmul_precision.
#pragma once

#include <string_view>

#include "../../core/base/config.h"

namespace xgrad {

struct Rounding;

/// The precision to which the factors of a product are rounded. Sums are always in Real.
enum class MatmulPrecision {
  highest,  ///< the precision of Real: 24 digits in base 2 in float
  high,     ///< float on AMX: the sum of two bfloat16 numbers, 16 digits; else as highest
  medium,   ///< float on AMX or AVX512-BF16: one bfloat16 number, 8 digits; else as highest
};

/// Chooses the precision of matrix products (matmul, linear and what calls them) and of their gradients in float from
/// now on; highest at first. Factors are rounded to the nearest bfloat16, to even, or cut into several, while they are
/// packed for AMX or AVX512-BF16, whichever the processor has. The kernels of convolutions, attention and recurrences
/// stay float, and so do linear layers of 2^18 weights and more with up to 16 rows, which take the time of reading the
/// weights.
/// - medium: subnormal numbers, and sums that become subnormal, count as 0.
/// - high: products (m, k) (k, n) with k and n of at least 64 and 2^18 multiplications.
/// - highest: on AMX, where m, k and n are at least 256, each factor is the sum of three bfloat16 numbers, whose 24
///   digits are those of float. The errors are about half those of float, but measured in the largest product of a
///   number of each factor: what is 2^-66 of it counts as 0.
///
/// In high and highest, factors with infinities, NaN or numbers of 2^127 and more, or whose largest product is below
/// 2^-60, are multiplied in float. On a processor without the instructions the first call with medium warns on
/// std::cerr. Throws ValueError for a value outside the enum. Thread-safe; the precision is one for the
/// process. A product reads it once, its gradients when they are computed.
void set_matmul_precision(MatmulPrecision precision);
/// The current precision. Thread-safe.
MatmulPrecision matmul_precision();

namespace detail {
struct RoundingUnit;

/// The rounding of matrix products now (ops/kernels/products/product.h).
Rounding rounding_of_products();
/// The instructions for bfloat16: "AMX", "AVX512-BF16", or empty; and why there are none.
std::string_view bfloat_unit_name();
std::string_view bfloat_unit_missing();
/// Other instructions, for tests; nullptr: none. Returns those before.
const RoundingUnit* exchange_bfloat_unit(const RoundingUnit* unit);
}  // namespace detail

}  // namespace xgrad
