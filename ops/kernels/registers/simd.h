// Pack: a register of elements, with the operations that elementwise lambdas are written in. Only this header uses
// xsimd (xtensor's SIMD layer).
//
// The same lambda runs on Packs, on Tensors and on Probes (below), so the names and meanings here are those of ops/.
//
// In each lane a Pack computes as the scalar language does, also for NaN, infinity and -0: +, -, negation, *, /, sqrt,
// comparisons, where, maximum, minimum, abs, sign, floor, ceil, trunc and round to the last bit
// (tests/ops/elementwise/registers_test.cpp). xsimd alone does not promise that: it divides and takes roots by
// estimates on ARM, and its version 14 exchanged the operands of min and max. So division is that of the compiler's own
// vectors, and minimum and maximum ask for the order of the version.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#include <xsimd/xsimd.hpp>
#if !defined(XGRAD_ANY_VERSION) && (XSIMD_VERSION_MAJOR * 100 + XSIMD_VERSION_MINOR < 801 || XSIMD_VERSION_MAJOR > 14)
#error "xgrad needs xsimd 8.1 to 14; to try another version, define XGRAD_ANY_VERSION and run the tests"
#endif

#include "../../../core/base/assert.h"
#include "../../../core/base/config.h"
#include "erf.h"
#include "exp.h"
#include "functions.h"

// Inline functions that depend on the width of registers have the instructions in their names: a program may be
// compiled for another processor than the library, and the linker takes functions of one name for the same.
#if defined(__AVX512F__)
#define XGRAD_SIMD avx512
#elif defined(__AVX2__)
#define XGRAD_SIMD avx2
#elif defined(__AVX__)
#define XGRAD_SIMD avx
#else
#define XGRAD_SIMD narrow_simd
#endif

namespace xgrad::inline XGRAD_SIMD {

template <class Batch>
class BasicPack;

template <class Batch>
class BasicPackMask {
 public:
  explicit BasicPackMask(typename Batch::batch_bool_type bits) : bits_(bits) {}
  friend BasicPackMask operator&&(const BasicPackMask& a, const BasicPackMask& b) {
    return BasicPackMask(a.bits_ & b.bits_);
  }
  friend BasicPackMask operator||(const BasicPackMask& a, const BasicPackMask& b) {
    return BasicPackMask(a.bits_ | b.bits_);
  }
  friend BasicPackMask operator!(const BasicPackMask& a) { return BasicPackMask(~a.bits_); }
  friend bool all(const BasicPackMask& a) { return xsimd::all(a.bits_); }

  friend BasicPack<Batch> where(const BasicPackMask& mask, const BasicPack<Batch>& yes, const BasicPack<Batch>& no) {
    return BasicPack<Batch>(xsimd::select(mask.bits_, yes.batch(), no.batch()));
  }

 private:
  typename Batch::batch_bool_type bits_;
};

template <class Batch>
class BasicPack {
 public:
  using Number = typename Batch::value_type;
  using Mask = BasicPackMask<Batch>;
  static constexpr std::size_t width = Batch::size;
  static constexpr bool avx512 = sizeof(Batch) == 64;
  /// Whether xsimd's own functions divide and take roots by estimates, which are some units off.
#ifdef __aarch64__
  static constexpr bool estimates = std::is_same_v<Number, float>;
#else
  static constexpr bool estimates = false;
#endif
  /// The same numbers for the compiler, by which +, <, ?: and the like mean what they do for single numbers.
  using Vector [[gnu::vector_size(sizeof(Batch))]] = Number;

  BasicPack() : batch_(Number(0)) {}
  BasicPack(const Batch& batch) : batch_(batch) {}
  BasicPack(const Vector& vector) : batch_(std::bit_cast<typename Batch::register_type>(vector)) {}
  /// The same number in every lane.
  template <class T>
  requires std::is_arithmetic_v<T> BasicPack(T number) : batch_(static_cast<Number>(number)) {}

  static BasicPack load(const Number* from) { return BasicPack(Batch::load_unaligned(from)); }
  void store(Number* to) const { batch_.store_unaligned(to); }
  /// The first `count` (at most width) elements from memory, `fill` in the other lanes. Reads no memory after them.
  static BasicPack load_first(const Number* from, std::size_t count, Number fill = 0) {
    XGRAD_ASSERT(count <= width);
#ifdef __AVX512F__
    if constexpr (avx512 && std::is_same_v<Number, float>) {
      return Batch(_mm512_mask_loadu_ps(_mm512_set1_ps(fill), static_cast<__mmask16>((1u << count) - 1), from));
    } else if constexpr (avx512 && std::is_same_v<Number, double>) {
      return Batch(_mm512_mask_loadu_pd(_mm512_set1_pd(fill), static_cast<__mmask8>((1u << count) - 1), from));
    }
#elif defined(__AVX2__)
    // Not by way of memory: a register is loaded late from numbers that were stored one by one.
    if constexpr (std::is_same_v<Number, float>) {
      const __m256i lane_numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
      const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lane_numbers);
      return Batch(_mm256_blendv_ps(_mm256_set1_ps(fill), _mm256_maskload_ps(from, mask), _mm256_castsi256_ps(mask)));
    } else if constexpr (std::is_same_v<Number, double>) {
      const __m256i lane_numbers = _mm256_setr_epi64x(0, 1, 2, 3);
      const __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<std::int64_t>(count)), lane_numbers);
      return Batch(_mm256_blendv_pd(_mm256_set1_pd(fill), _mm256_maskload_pd(from, mask), _mm256_castsi256_pd(mask)));
    }
#endif
    if (count >= width) return load(from);
    Vector first = BasicPack(fill).vector();
    for (std::size_t i = 0; i + 1 < width; ++i) {
      if (i < count) first[i] = from[i];
    }
    return first;
  }
  /// Writes the first `count` numbers only.
  void store_first(Number* to, std::size_t count) const {
    XGRAD_ASSERT(count <= width);
#ifdef __AVX512F__
    if constexpr (avx512 && std::is_same_v<Number, float>) {
      return _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), batch_);
    } else if constexpr (avx512 && std::is_same_v<Number, double>) {
      return _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1u << count) - 1), batch_);
    }
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<Number,
                                 float>) {  // eight, four, two and one: masked stores are slow on some processors
      if (count >= width) return store(to);
      __m128 part = _mm256_castps256_ps128(batch_);
      if (count & 4) {
        _mm_storeu_ps(to, part);
        to += 4;
        part = _mm256_extractf128_ps(batch_, 1);
      }
      if (count & 2) {
        _mm_storel_pi(reinterpret_cast<__m64*>(to), part);
        to += 2;
        part = _mm_movehl_ps(part, part);
      }
      if (count & 1) _mm_store_ss(to, part);
      return;
    }
#endif
    if (count >= width) return store(to);
    for (std::size_t i = 0; i + 1 < width; ++i) {
      if (i < count) to[i] = vector()[i];
    }
  }
  const Batch& batch() const { return batch_; }
  Vector vector() const { return std::bit_cast<Vector>(batch_.data); }

  friend BasicPack operator+(const BasicPack& a, const BasicPack& b) { return a.batch_ + b.batch_; }
  friend BasicPack operator-(const BasicPack& a, const BasicPack& b) { return a.batch_ - b.batch_; }
  friend BasicPack operator*(const BasicPack& a, const BasicPack& b) { return a.batch_ * b.batch_; }
  friend BasicPack operator/(const BasicPack& a, const BasicPack& b) { return a.vector() / b.vector(); }
  friend BasicPack operator-(const BasicPack& a) { return -a.vector(); }
  /// a b + c, rounded once where the processor can.
  [[gnu::always_inline]] friend BasicPack multiply_add(const BasicPack& a, const BasicPack& b, const BasicPack& c) {
#ifdef __AVX512F__
    // xsimd 8.1 writes a product and a sum here, which the compiler joins or, sharing the product, does not.
    if constexpr (avx512 && std::is_same_v<Number, float>) return Batch(_mm512_fmadd_ps(a.batch_, b.batch_, c.batch_));
    if constexpr (avx512 && std::is_same_v<Number, double>) return Batch(_mm512_fmadd_pd(a.batch_, b.batch_, c.batch_));
#endif
    return xsimd::fma(a.batch_, b.batch_, c.batch_);
  }
  friend Mask operator<(const BasicPack& a, const BasicPack& b) { return Mask(a.batch_ < b.batch_); }
  friend Mask operator<=(const BasicPack& a, const BasicPack& b) { return Mask(a.batch_ <= b.batch_); }
  friend Mask operator>(const BasicPack& a, const BasicPack& b) { return Mask(a.batch_ > b.batch_); }
  friend Mask operator>=(const BasicPack& a, const BasicPack& b) { return Mask(a.batch_ >= b.batch_); }
  friend Mask operator==(const BasicPack& a, const BasicPack& b) { return Mask(a.batch_ == b.batch_); }
  friend Mask operator!=(const BasicPack& a, const BasicPack& b) {
    return !(a == b);  // xsimd 8.1's own != is false for NaN
  }

  /// NaN if either is NaN, as in numpy and PyTorch.
  friend BasicPack maximum(const BasicPack& a, const BasicPack& b) { return where(b == b, greater(b, a), b); }
  friend BasicPack minimum(const BasicPack& a, const BasicPack& b) { return where(b == b, lesser(b, a), b); }
  /// The larger one, in one instruction; if either is NaN, either may come out.
  friend BasicPack larger(const BasicPack& a, const BasicPack& b) { return xsimd::max(a.batch_, b.batch_); }
  /// The smaller one, in one instruction; NaN if a is.
  friend BasicPack bounded_above(const BasicPack& a, const BasicPack& bound) { return lesser(bound, a); }
  friend BasicPack abs(const BasicPack& a) { return xsimd::abs(a.batch_); }
  friend BasicPack sign(const BasicPack& a) { return where(a > 0, BasicPack(1), where(a < 0, BasicPack(-1), a)); }
  friend BasicPack sqrt(const BasicPack& a) {
#ifdef __aarch64__
    if constexpr (std::is_same_v<Number, float>) return Batch(vsqrtq_f32(a.batch_));
    if constexpr (std::is_same_v<Number, double>) return Batch(vsqrtq_f64(a.batch_));
#endif
    return xsimd::sqrt(a.batch_);
  }
  /// The nearest integer.
  friend BasicPack nearest(const BasicPack& a) {
#ifdef __aarch64__  // where xsimd rounds by eight instructions
    if constexpr (std::is_same_v<Number, float>) return Batch(vrndnq_f32(a.batch_));
    if constexpr (std::is_same_v<Number, double>) return Batch(vrndnq_f64(a.batch_));
#endif
    return xsimd::nearbyint(a.batch_);
  }
  /// a 2^k for whole k that do not exceed twice the range of exponents, rounded once also where that is subnormal.
  [[gnu::always_inline]] friend BasicPack scaled(const BasicPack& a, const BasicPack& k) {
#ifdef __AVX512F__
    if constexpr (avx512 && std::is_same_v<Number, float>) return Batch(_mm512_scalef_ps(a.batch_, k.batch_));
    if constexpr (avx512 && std::is_same_v<Number, double>) return Batch(_mm512_scalef_pd(a.batch_, k.batch_));
#endif
    const BasicPack half = nearest(0.5 * k);  // 2^k itself may lie outside of the range
    return a * power_of_two(half) * power_of_two(k - half);
  }
  [[gnu::always_inline]] friend BasicPack exp(const BasicPack& a) { return detail::exp_of(a); }
  friend BasicPack expm1(const BasicPack& a) { return detail::expm1_of(a); }
  friend BasicPack log(const BasicPack& a) {
    if constexpr (std::is_same_v<Number, float>) return xsimd::log(a.batch_);
    // xsimd takes the exponent of a subnormal double before it scales the number.
    const Mask tiny = a < std::numeric_limits<Number>::min();
    const BasicPack y = xsimd::log(where(tiny, a * 0x1p54, a).batch_);
    return where(tiny, y - 54 * std::numbers::ln2, y);
  }
  friend BasicPack log1p(const BasicPack& a) { return where(a == 0, a, BasicPack(xsimd::log1p(a.batch_))); }
  /// By the C library, one by one: xsimd's has errors of many ulps, and NaN or 0 at the edges.
  friend BasicPack pow(const BasicPack& a, const BasicPack& b) {
    Number bases[width], exponents[width];
    a.store(bases);
    b.store(exponents);
    for (std::size_t i = 0; i < width; ++i) bases[i] = std::pow(bases[i], exponents[i]);
    return load(bases);
  }
  friend BasicPack log2(const BasicPack& a) {
    if constexpr (std::is_same_v<Number, float>) return xsimd::log2(a.batch_);
    const Mask tiny = a < std::numeric_limits<Number>::min();  // as in log
    const BasicPack y = xsimd::log2(where(tiny, a * 0x1p54, a).batch_);
    return where(tiny, y - 54, y);
  }
  friend BasicPack log10(const BasicPack& a) {
    if constexpr (std::is_same_v<Number, float>) return xsimd::log10(a.batch_);
    const Mask tiny = a < std::numeric_limits<Number>::min();
    const BasicPack y = xsimd::log10(where(tiny, a * 0x1p54, a).batch_);
    return where(tiny, y - 54 * (std::numbers::ln2 / std::numbers::ln10), y);
  }
  friend BasicPack exp2(const BasicPack& a) { return detail::exp2_of(a); }
  friend BasicPack sin(const BasicPack& a) { return xsimd::sin(a.batch_); }
  friend BasicPack cos(const BasicPack& a) { return xsimd::cos(a.batch_); }
  friend BasicPack tan(const BasicPack& a) { return xsimd::tan(a.batch_); }
  friend BasicPack asin(const BasicPack& a) {
    if constexpr (estimates) {  // above 1/2 xsimd takes a root
      const BasicPack x = abs(a), y = xsimd::asin(where(x > 0.5, sqrt((1 - x) * 0.5), x).batch_);
      return with_sign_of(a, where(x > 0.5, std::numbers::pi / 2 - 2 * y, y).batch_);
    }
    return xsimd::asin(a.batch_);
  }
  friend BasicPack acos(const BasicPack& a) { return xsimd::acos(a.batch_); }
  friend BasicPack atan(const BasicPack& a) { return xsimd::atan(a.batch_); }
  friend BasicPack sinh(const BasicPack& a) { return xsimd::sinh(a.batch_); }
  friend BasicPack cosh(const BasicPack& a) { return xsimd::cosh(a.batch_); }
  friend BasicPack tanh(const BasicPack& a) {
    if constexpr (estimates) {  // above 5/8 xsimd divides
      const BasicPack x = abs(a), y = xsimd::tanh(where(x > 0.625, BasicPack(0), x).batch_);
      return with_sign_of(a, where(x > 0.625, 1 - 2 / (1 + exp(2 * x)), y).batch_);
    }
    return xsimd::tanh(a.batch_);
  }
  friend BasicPack asinh(const BasicPack& a) {
    // ln(x + sqrt(1 + x^2)) by log1p near 0, where the logarithm is small; else xsimd's own.
    const Mask inner = abs(a) < 2;
    const BasicPack x = minimum(abs(a), BasicPack(2)), square = x * x;
    const BasicPack centre = sign(a) * log1p(x + square / (1 + sqrt(1 + square)));
    return all(inner) ? centre : where(inner, centre, BasicPack(xsimd::asinh(a.batch_)));
  }
  friend BasicPack acosh(const BasicPack& a) {
    // xsimd's own gives numbers far below 1.
    return where(a < 1, BasicPack(std::numeric_limits<Number>::quiet_NaN()), BasicPack(xsimd::acosh(a.batch_)));
  }
  friend BasicPack atanh(const BasicPack& a) { return xsimd::atanh(a.batch_); }
  friend BasicPack floor(const BasicPack& a) { return with_sign_of(a, xsimd::floor(a.batch_)); }
  friend BasicPack ceil(const BasicPack& a) { return with_sign_of(a, xsimd::ceil(a.batch_)); }
  friend BasicPack trunc(const BasicPack& a) { return with_sign_of(a, xsimd::trunc(a.batch_)); }
  /// The nearest integer, ties to even.
  friend BasicPack round(const BasicPack& a) { return with_sign_of(a, nearest(a).batch_); }
  friend BasicPack erf(const BasicPack& a) { return detail::erf_of(a); }
  /// The normal distribution function and its density.
  [[gnu::always_inline]] friend BasicPack normal_cdf(const BasicPack& a) { return detail::normal_cdf_of(a); }
  [[gnu::always_inline]] friend BasicPack normal_pdf(const BasicPack& a) { return detail::normal_pdf_of(a); }
  /// e^(-a^2).
  [[gnu::always_inline]] friend BasicPack gauss(const BasicPack& a) { return detail::gauss_of(a); }
  /// 1/(1 + e^-a) or e^a/(1 + e^a), whichever does not overflow.
  [[gnu::always_inline]] friend BasicPack sigmoid(const BasicPack& a) {
    const BasicPack e = exp(-abs(a));
    return where(a < 0, e, BasicPack(1)) / (1 + e);
  }

  friend Number first_of(const BasicPack& a) { return a.vector()[0]; }
#if XSIMD_VERSION_MAJOR < 9
  friend Number sum_of(const BasicPack& a) { return xsimd::hadd(a.batch_); }
#else
  friend Number sum_of(const BasicPack& a) { return xsimd::reduce_add(a.batch_); }
#endif
  friend Number max_of(const BasicPack& a) {
#ifdef __AVX512F__
    if constexpr (avx512 && std::is_same_v<Number, float>) return _mm512_reduce_max_ps(a.batch_);
    if constexpr (avx512 && std::is_same_v<Number, double>) return _mm512_reduce_max_pd(a.batch_);
#endif
    Number elements[width];
    a.store(elements);
    Number most = elements[0];
    for (std::size_t i = 1; i < width; ++i) most = elements[i] > most ? elements[i] : most;
    return most;
  }

 private:
  // a < b ? a : b and a > b ? a : b, which x86 has as instructions. g++ takes two for vectors of which one is a
  // constant, so they are xsimd's.
#ifdef __x86_64__
  static BasicPack lesser(const BasicPack& a, const BasicPack& b) {
    return exchanged ? xsimd::min(b.batch_, a.batch_) : xsimd::min(a.batch_, b.batch_);
  }
  static BasicPack greater(const BasicPack& a, const BasicPack& b) {
    return exchanged ? xsimd::max(b.batch_, a.batch_) : xsimd::max(a.batch_, b.batch_);
  }
  static constexpr bool exchanged = XSIMD_VERSION_MAJOR >= 14;
#else
  static BasicPack lesser(const BasicPack& a, const BasicPack& b) {
    return a.vector() < b.vector() ? a.vector() : b.vector();
  }
  static BasicPack greater(const BasicPack& a, const BasicPack& b) {
    return a.vector() > b.vector() ? a.vector() : b.vector();
  }
#endif
  // With SSE2 alone xsimd's roundings lose the sign of -0.
  static BasicPack with_sign_of(const BasicPack& a, const Batch& rounded) { return xsimd::copysign(rounded, a.batch_); }

  // For whole k that are exponents of normal numbers: k plus this constant has the exponent's bits at its end.
  static BasicPack power_of_two(const BasicPack& k) {
    constexpr int bits = std::numeric_limits<Number>::digits - 1;
    constexpr Number shift = Number(1.5) * (std::int64_t(1) << bits) + (std::numeric_limits<Number>::max_exponent - 1);
    using Integer = std::conditional_t<sizeof(Number) == 4, std::int32_t, std::int64_t>;
    using Integers [[gnu::vector_size(sizeof(Batch))]] = Integer;
    return std::bit_cast<Vector>(std::bit_cast<Integers>((k + shift).vector()) << bits);
  }

  Batch batch_;
};

/// The widest register of the processor that this file is compiled for.
using Pack = BasicPack<xsimd::batch<Real>>;

/// Finds the arguments that a lambda's result depends on, from its type alone: calling it with Probe<1>, Probe<2>,
/// Probe<4> gives a Probe whose bits name the arguments used. So a rule keeps only the values that it needs. Since
/// lambdas are called with Probes first, these report unsupported operations.
template <unsigned bits>
struct Probe {
  template <class T>
  requires std::is_same_v<T, double>
  operator T() const {  // double only, so that std::exp and the like are not ambiguous
    static_assert(bits > 31,
                  "a lambda of elementwise() works on many numbers at once: write exp(v), not std::exp(v), with "
                  "the functions named in xgrad/ops/elementwise/fused.h");
    return 0;
  }
};
template <unsigned bits>
struct ProbeMask {
  template <class T>
  requires std::is_same_v<T, bool>
  explicit operator T() const {
    static_assert(bits > 31,
                  "a lambda of elementwise() works on many numbers at once: write where(v > 0, a, b), not "
                  "v > 0 ? a : b or if");
    return false;
  }
};

#define XGRAD_PROBE_BINARY(result, op)               \
  template <unsigned a, unsigned b>                  \
  constexpr result<a | b> op(Probe<a>, Probe<b>) {   \
    return {};                                       \
  }                                                  \
  template <unsigned a, class T>                     \
  requires std::is_arithmetic_v<T>                   \
  constexpr result<a> op(Probe<a>, T) { return {}; } \
  template <unsigned a, class T>                     \
  requires std::is_arithmetic_v<T>                   \
  constexpr result<a> op(T, Probe<a>) { return {}; }
XGRAD_PROBE_BINARY(Probe, operator+)
XGRAD_PROBE_BINARY(Probe, operator-)
XGRAD_PROBE_BINARY(Probe, operator*)
XGRAD_PROBE_BINARY(Probe, operator/)
XGRAD_PROBE_BINARY(Probe, maximum)
XGRAD_PROBE_BINARY(Probe, minimum)
XGRAD_PROBE_BINARY(Probe, pow)
XGRAD_PROBE_BINARY(ProbeMask, operator<)
XGRAD_PROBE_BINARY(ProbeMask, operator<=)
XGRAD_PROBE_BINARY(ProbeMask, operator>)
XGRAD_PROBE_BINARY(ProbeMask, operator>=)
XGRAD_PROBE_BINARY(ProbeMask, operator==)
XGRAD_PROBE_BINARY(ProbeMask, operator!=)
#undef XGRAD_PROBE_BINARY

template <unsigned a, unsigned b>
constexpr ProbeMask<a | b> operator&&(ProbeMask<a>, ProbeMask<b>) {
  return {};
}
template <unsigned a, unsigned b>
constexpr ProbeMask<a | b> operator||(ProbeMask<a>, ProbeMask<b>) {
  return {};
}
template <unsigned a>
constexpr ProbeMask<a> operator!(ProbeMask<a>) {
  return {};
}

#define XGRAD_PROBE_UNARY(op)       \
  template <unsigned a>             \
  constexpr Probe<a> op(Probe<a>) { \
    return {};                      \
  }
XGRAD_PROBE_UNARY(operator-)
XGRAD_FUNCTIONS(XGRAD_PROBE_UNARY)
#undef XGRAD_PROBE_UNARY

template <class T>
inline constexpr unsigned probed = 0;
template <unsigned bits>
inline constexpr unsigned probed<Probe<bits>> = bits;

template <unsigned m, class A, class B>
constexpr Probe<m | probed<A> | probed<B>> where(ProbeMask<m>, A, B) {
  return {};
}

}  // namespace xgrad::inline XGRAD_SIMD
