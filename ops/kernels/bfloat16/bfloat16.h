// Products of numbers that are rounded to bfloat16 while they are packed, summed in float: the interface of the
// instructions for them. Both factors are packed in pairs of neighbours along the sums, as AVX512-BF16 and AMX read
// them.
#pragma once

#include <cstdint>

#include "../../../core/runtime/memory.h"
#include "../products/product.h"

namespace xgrad {

/// A bfloat16 number, by its bits: the upper half of a float's.
using Bfloat16 = std::uint16_t;

namespace detail {

inline constexpr std::int64_t panel_columns = 32;

/// Depths are packed up to whole steps with zeros: the depth of one AMX tile.
inline std::int64_t whole_depth(std::int64_t depth) { return (depth + 31) / 32 * 32; }
/// The stride of the rows of a packed left factor, in numbers: no power of two, whose rows would displace one another
/// in the first-level cache.
inline std::int64_t left_step(std::int64_t depth) {
  const std::int64_t step = whole_depth(depth);
  return step % 256 == 0 ? step + 32 : step;
}
/// Numbers of a packed left factor, whose rows are filled up to the 16 of an AMX tile.
inline std::int64_t left_size(std::int64_t rows, std::int64_t depth) {
  return (rows + 15) / 16 * 16 * left_step(depth);
}
/// Numbers of a packed panel of the right factor.
inline std::int64_t panel_size(std::int64_t depth) { return whole_depth(depth) * panel_columns; }

/// c = scale a b + keep c + bias for any number of rows and at most panel_columns columns.
struct BfloatBlock {
  const Bfloat16* a = nullptr;  ///< rows a_step apart, packed; there are whole groups of 16
  std::int64_t a_step = 0;
  const Bfloat16* b = nullptr;  ///< a packed panel
  std::int64_t depth = 0;
  std::int64_t rows = 0, columns = 0;
  Real* c = nullptr;  ///< rows c_step apart
  std::int64_t c_step = 0;
  Real scale = 1;
  Real keep = 0;               ///< 0: the old c is ignored, even NaN
  const Real* bias = nullptr;  ///< one number a column
};

/// Instructions that multiply in bfloat16. Each sum goes along the depth in an order that depends on the depth alone.
/// Numbers are rounded to nearest even; subnormal ones, and sums that become subnormal, count as 0.
struct BfloatUnit {
  const char* name;  ///< "AMX", "AVX512-BF16"
  /// A thread calls these before and after its calls of `multiply`.
  void (*start)();
  void (*end)();
  /// The first rows and columns of a left factor (rows, depth): rows left_step(depth) apart, zeros up to whole_depth
  /// and to whole groups of 16 rows.
  void (*pack_left)(const Factor& a, std::int64_t rows, std::int64_t depth, Bfloat16* to);
  /// The first rows and, at most panel_columns, columns of scale times a right factor (depth, columns) as a panel: row
  /// 2i and 2i + 1 in turn, column by column; zeros up to whole_depth and panel_columns.
  void (*pack_right)(const Factor& b, std::int64_t depth, std::int64_t columns, Real scale, Bfloat16* to);
  void (*multiply)(const BfloatBlock& block);
};

/// The unit of these instructions; nullptr where the kernels were not compiled for them or this processor, or its
/// operating system, does not have them. AMX comes with AVX512-BF16, which packs for it.
const BfloatUnit* avx512_bf16_unit();
const BfloatUnit* amx_unit();

/// While it lives, its thread may multiply. Threads: for the thread that made it.
class BfloatWork {
 public:
  explicit BfloatWork(const BfloatUnit& unit) : unit_(unit) { unit_.start(); }
  ~BfloatWork() { unit_.end(); }
  BfloatWork(const BfloatWork&) = delete;
  BfloatWork& operator=(const BfloatWork&) = delete;

 private:
  const BfloatUnit& unit_;
};

/// A buffer of packed numbers. Threads: a plain value.
class BfloatRoom {
 public:
  explicit BfloatRoom(std::int64_t count)
      : bytes_(static_cast<std::size_t>(count) * sizeof(Bfloat16)),
        data_(static_cast<Bfloat16*>(pool_allocate(bytes_))) {}
  ~BfloatRoom() { pool_release(data_, bytes_); }
  BfloatRoom(const BfloatRoom&) = delete;
  BfloatRoom& operator=(const BfloatRoom&) = delete;

  Bfloat16* data() const { return data_; }

 private:
  std::size_t bytes_;
  Bfloat16* data_;
};

/// The product c = scale a b + keep c + bias by p.unit, on the calling thread; sizes are at least 1. An element of c
/// has the same bits whichever part of c is computed with it.
void bfloat_gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride);

}  // namespace detail
}  // namespace xgrad
