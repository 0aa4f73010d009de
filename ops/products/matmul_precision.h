// The precision of the factors of products, as torch.set_float32_matmul_precision.
#pragma once

#include <string_view>

#include "../../core/base/config.h"

namespace xgrad {

/// The precision to which the factors of a product are rounded. Sums are in Real in any case.
enum class MatmulPrecision {
  highest,  ///< nothing is rounded
  high,     ///< the same here; PyTorch allows TensorFloat32, which CPUs do not have
  medium,   ///< float: to bfloat16, 8 digits in base 2; double: nothing is rounded
};

/// Chooses the precision of all products in float from now on, those of attention, convolutions and recurrences and
/// their gradients included; highest at first. With medium, factors are rounded to the nearest bfloat16, to even, while
/// they are packed for AMX or AVX512-BF16, whichever the processor has; subnormal numbers, and sums that become
/// subnormal, count as 0. Everything else stays float. On a processor with neither, products stay float too, and the
/// first call with medium warns on std::cerr. Throws ValueError for a value outside the enum. Threads: any may call
/// this; the choice is one for the process. An operation reads it once, attention and recurrences also for their
/// gradients; other gradients read it when they are computed.
void set_matmul_precision(MatmulPrecision precision);
/// The choice. Threads: any may call this.
MatmulPrecision matmul_precision();

namespace detail {
struct BfloatUnit;

/// The unit for products in bfloat16 now (ops/kernels/bfloat16/bfloat16.h); nullptr: products stay Real.
const BfloatUnit* bfloat_unit();
/// The instructions of medium precision: "AMX", "AVX512-BF16", or empty.
std::string_view bfloat_unit_name();
/// Another unit in medium precision, for tests; nullptr: none. Returns the one before.
const BfloatUnit* exchange_bfloat_unit(const BfloatUnit* unit);
}  // namespace detail

}  // namespace xgrad
