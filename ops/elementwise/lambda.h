// elementwise(), which turns a lambda into an operation; fused.h adds the operations that lambdas may call.
#pragma once

#include <array>
#include <bit>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../core/graph/donation.h"
#include "../../core/graph/record.h"
#include "../kernels/registers/loops.h"
#include "../shape/broadcast.h"
#include "symbol.h"

namespace xgrad {

/// y = a b (arithmetic.h), declared here because the recorded rules of lambdas call it.
Tensor mul(const Tensor& a, const Tensor& b);

namespace detail {

// For lambdas: computes safe(v...). A printed formula shows meant(v...), the mathematical expression, in its place.
template <class Safe, class Meant, class... V>
[[gnu::always_inline]] inline auto guarded(const Safe& safe, const Meant& meant, const V&... v) {
  if constexpr ((std::is_same_v<V, Symbol> && ...)) {
    return meant(v...);
  } else {
    return safe(v...);
  }
}

// v clamped to [-limit, limit], so that a huge v times a vanishing factor gives limit * 0 = 0 and not inf * 0 = NaN.
[[gnu::always_inline]] inline auto bounded(const auto& v, double limit) {
  return guarded([limit](const auto& u) { return maximum(minimum(u, limit), -limit); }, [](const auto& u) { return u; },
                 v);
}

// v, but not below -1e4, for use where the other factor vanishes at -inf: -1e4 * 0 is 0, -inf * 0 would be NaN.
[[gnu::always_inline]] inline auto bounded_below(const auto& v) {
  return guarded([](const auto& u) { return maximum(u, -1e4); }, [](const auto& u) { return u; }, v);
}

// v where it is negative, else 0, for a branch that is taken only there and must not overflow elsewhere.
[[gnu::always_inline]] inline auto below_zero(const auto& v) {
  return guarded([](const auto& u) { return minimum(u, 0); }, [](const auto& u) { return u; }, v);
}

// Whether F can be called with `count` values. Probes are tried first: their static_asserts give readable errors.
template <class F, std::size_t count>
constexpr bool takes_numbers() {
  return []<std::size_t... k>(std::index_sequence<k...>) {
    if constexpr (std::is_invocable_v<const F&, std::conditional_t<k == count, void, Probe<1>>...>) {
      return true;
    } else {
      return std::is_invocable_v<const F&, std::conditional_t<k == count, void, Pack>...>;
    }
  }
  (std::make_index_sequence<count>{});
}

// The arguments (bits 0 ... K-1) and the result (bit K) that the partial derivative D depends on.
template <class D, std::size_t K>
constexpr unsigned dependencies() {
  return []<std::size_t... k>(std::index_sequence<k...>) {
    return probed<decltype(std::declval<D>()(Probe<(1u << k)>{}..., Probe<(1u << K)>{}))>;
  }
  (std::make_index_sequence<K>{});
}

// The gradient of one input of an elementwise operation: gx = gy d(x..., y), summed where the input was broadcast.
// Saves only the inputs that d depends on, and passes 0 for the others.
template <unsigned depends, std::size_t K, class D>
class PartialRule {
 public:
  PartialRule(const std::array<const Tensor*, K>& inputs, D d) : d_(std::move(d)) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < K; ++i) {
      if (depends >> i & 1) saved_[next++] = saved(*inputs[i]);
    }
  }

  Tensor gradient(const Tensor& gy, const Tensor& y, InputShape to) const {
    return sum_to(recording() ? by_tensors(gy, y) : by_packs(gy, y, std::make_index_sequence<saved_count()>()), to);
  }

 private:
  static constexpr std::size_t saved_count() {
    std::size_t count = 0;
    for (std::size_t k = 0; k < K; ++k) count += depends >> k & 1;
    return count;
  }

  // The index of argument k in the list of 0 and the arguments that d depends on.
  static constexpr std::size_t argument_index(std::size_t k) {
    return depends >> k & 1 ? 1 + static_cast<std::size_t>(std::popcount(depends & ((1u << k) - 1))) : 0;
  }

  Tensor by_tensors(const Tensor& gy, const Tensor& y) const {
    std::array<Tensor, K + 1> arguments;
    std::size_t next = 0;
    for (std::size_t k = 0; k <= K; ++k) {
      arguments[k] = !(depends >> k & 1) ? Tensor(0) : k == K ? y : saved_[next++];
    }
    return mul(gy, Tensor(std::apply(d_, arguments)));
  }

  // Calls d. `given` is one 0, which replaces all arguments that d does not depend on, then the other arguments.
  template <class Given, std::size_t... k>
  auto derivative(const Given& given, std::index_sequence<k...>) const {
    return d_(std::get<argument_index(k)>(given)...);
  }

  template <std::size_t... i>
  Tensor by_packs(const Tensor& gy, const Tensor& y, std::index_sequence<i...>) const {
    const auto gradient = [this](const auto& g, const auto&... given) {
      using V = std::remove_cvref_t<decltype(g)>;  // a Pack, or a type in its place
      const V zero(0);
      return g * V(this->derivative(std::tie(zero, given...), std::make_index_sequence<K + 1>()));
    };
    if constexpr (depends >> K & 1) {
      return map_over({"gradient"}, Donation::take(gy), gradient, Engine::value(saved_[i])..., Engine::value(y));
    } else {
      return map_over({"gradient"}, Donation::take(gy), gradient, Engine::value(saved_[i])...);
    }
  }

  [[no_unique_address]] D d_;
  std::array<Tensor, saved_count()> saved_;
};

template <std::size_t K, class D>
auto partial(const std::array<const Tensor*, K>& inputs, std::size_t k, D d) {
  static_assert(takes_numbers<D, K + 1>(), "elementwise: a derivative is a function of every input and of the result");
  constexpr unsigned depends = dependencies<D, K>();
  PartialRule<depends, K, D> rule(inputs, std::move(d));
  if constexpr (depends >> K & 1) {
    return wrt(*inputs[k],
               [rule](const Tensor& gy, const Tensor& y, InputShape to) { return rule.gradient(gy, y, to); });
  } else {
    return wrt(*inputs[k], [rule](const Tensor& gy, InputShape to) { return rule.gradient(gy, gy, to); });
  }
}

// The expression that f computes from these letters.
template <class F, std::size_t... i>
[[gnu::cold]] Symbol in_letters(const F& f, const Symbol* letters, std::index_sequence<i...>) {
  return Symbol(f(letters[i]...));
}

// The formulas of f and its partial derivatives, in letters.
template <class F, class... D>
[[gnu::cold]] Formula formula_in_letters(const F& f, const D&... d) {
  constexpr std::size_t K = sizeof...(D);
  const Symbol* const letters = letters_of(K);
  return formula_of(in_letters(f, letters, std::make_index_sequence<K>()),
                    {in_letters(d, letters, std::make_index_sequence<K + 1>())...});
}

// Whether F has no state, so that its type alone determines its formula, and accepts letters as arguments.
template <class F, std::size_t count>
constexpr bool prints() {
  if constexpr (std::is_empty_v<F> && std::is_default_constructible_v<F>) {
    return []<std::size_t... k>(std::index_sequence<k...>) {
      return std::is_invocable_v<const F&, std::conditional_t<k == count, void, const Symbol&>...>;
    }
    (std::make_index_sequence<count>{});
  } else {
    return false;
  }
}

// Checks f, and registers the formula of the operation when it first runs. Lambdas with captures have no formula.
template <class F, class... D>
void register_formula(const char* op) {
  static_assert(takes_numbers<F, sizeof...(D)>(), "elementwise: the function takes one number for each input");
  if constexpr (prints<F, sizeof...(D)>() && (prints<D, sizeof...(D) + 1>() && ...)) {
    static const RegisteredFormula registered(op, [] { return formula_in_letters(F(), D()...); });
  }
}

}  // namespace detail

/// y = f(x), elementwise. `f` takes an element v of x; `df` takes (v, y) and returns dy/dv. The last arguments are the
/// constants of f, as attributes: attribute("negative_slope", slope).
template <class F, class D, class... T>
Tensor elementwise(const char* op, const Tensor& x, F f, D df, const detail::NamedValue<T>&... attributes) {
  detail::register_formula<F, D>(op);
  const std::array<const Tensor*, 1> inputs{&x};
  return record(op, map(detail::Engine::value(x), f, {op}), detail::partial(inputs, 0, std::move(df)), attributes...);
}

/// y = f(a, b), elementwise with broadcasting. `da` and `db` take (a, b, y). Throws ShapeError when the shapes do not
/// fit.
template <class F, class DA, class DB, class... T>
Tensor elementwise(const char* op, const Tensor& a, const Tensor& b, F f, DA da, DB db,
                   const detail::NamedValue<T>&... attributes) {
  detail::register_formula<F, DA, DB>(op);
  const Array &p = detail::Engine::value(a), &q = detail::Engine::value(b);
  const Shape shape = broadcast_shapes(op, p.shape(), q.shape());
  const std::array<const Tensor*, 2> inputs{&a, &b};
  return record(op, map({shape, {op}}, f, p, q), detail::partial(inputs, 0, std::move(da)),
                detail::partial(inputs, 1, std::move(db)), attributes...);
}

/// y = f(a, b, c), elementwise with broadcasting. The partial derivatives take (a, b, c, y). Throws as above.
template <class F, class DA, class DB, class DC>
Tensor elementwise(const char* op, const Tensor& a, const Tensor& b, const Tensor& c, F f, DA da, DB db, DC dc) {
  detail::register_formula<F, DA, DB, DC>(op);
  const Shape shape = broadcast_shapes(op, {{"a", a.shape()}, {"b", b.shape()}, {"c", c.shape()}});
  const std::array<const Tensor*, 3> inputs{&a, &b, &c};
  return record(op, map({shape, {op}}, f, a.value(), b.value(), c.value()), detail::partial(inputs, 0, std::move(da)),
                detail::partial(inputs, 1, std::move(db)), detail::partial(inputs, 2, std::move(dc)));
}

}  // namespace xgrad
