// The number type of the library and the namespace that keeps the two builds apart; nothing else.
#pragma once

// `xgrad` is built with float; `xgrad_f64` is the same sources with double and defines XGRAD_F64 for its users. The
// inline namespace differs, so that objects of the two builds cannot be linked together by mistake.
#ifdef XGRAD_F64
#define XGRAD_ABI f64
#else
#define XGRAD_ABI f32
#endif

namespace xgrad::inline XGRAD_ABI {

/// The type of all real numbers: float in the library `xgrad`, double in `xgrad_f64`.
#ifdef XGRAD_F64
using Real = double;
#else
using Real = float;
#endif

}  // namespace xgrad::inline XGRAD_ABI
