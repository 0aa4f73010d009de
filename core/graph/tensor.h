// Tensor: a value and its place in the graph.
//
//     const Tensor w = variable({2, 1, 0}, "w");
//     const Tensor y = sum(w * w);
//     y.backward();
//     w.grad();                                   // [4, 2, 0]
//
// const applies to the handle, as for a pointer: a const Tensor always refers to the same tensor. The values, gradient
// and hooks of that tensor may change.
#pragma once

#include <concepts>
#include <iosfwd>
#include <string>
#include <string_view>

#include "../array/array.h"
#include "../base/not_members.h"
#include "node.h"

namespace xgrad {

/// The options of backward(), in core/graph/grad.h.
struct BackwardOptions;
namespace detail {
struct Engine;
}  // namespace detail

/// A cheap handle (one reference-counted pointer) to a value and, if the value has a history, to its node in the graph.
/// Copies of a handle refer to the same tensor. A tensor that is made from numbers or under NoGrad has no history and
/// no node; it takes no more memory than its value.
///
/// Threads: many threads may use a tensor, record operations on it and drop it, without a lock. backward() may run in
/// several threads at once, even if their graphs share leaves: it adds to a leaf's gradient one pass after the other.
/// No other thread may use a tensor while one changes it by assign(), update(), set_requires_grad(), named(), hooks,
/// retain_grad() or zero_grad(). Read a leaf's grad() only after all backward passes have ended. One handle (the
/// variable) may be read by many threads or assigned by one.
class [[nodiscard]] Tensor : public detail::NotMembers {
 public:
  /// An undefined tensor. It means "none" where a Tensor is optional.
  Tensor() = default;
  Tensor(const Tensor& other) : body_(other.body_) {
    if (detail::CopyListener* listener = detail::context.copy_listener) [[unlikely]]
      listener->on_copy(*this);
  }
  Tensor(Tensor&&) = default;
  /// Makes this variable refer to another tensor.
  Tensor& operator=(const Tensor& other) & { return *this = Tensor(other); }
  Tensor& operator=(Tensor&&) & = default;
  /// Does not compile: assigning to a temporary would have no effect.
  template <class T>
  void operator=(T&&) && {
    static_assert(std::is_void_v<T>,
                  "x[0] = y would not write into x: a tensor is not written in place. index_put(x, {0}, y) returns a "
                  "new one, as do where(), scatter() and index_add(); of a leaf, x.update([](Array& values) { "
                  "values[{0}] = 5; })");
  }
  ~Tensor() = default;
  /// A constant with this value.
  Tensor(const Array& value);
  Tensor(Array&& value);
  /// A scalar constant with this value.
  template <class Number>
  requires std::is_arithmetic_v<Number> Tensor(Number value) : Tensor(Array(Shape{}, static_cast<Real>(value))) {}

  bool defined() const { return static_cast<bool>(body_); }
  explicit operator bool() const = delete;

  /// The value, which shares its elements with the tensor. This function and all below throw GraphError for an
  /// undefined tensor.
  Array value() const { return body().value; }
  const Shape& shape() const& { return body().value.shape(); }
  Shape shape() && { return body().value.shape(); }
  int rank() const { return body().value.rank(); }
  std::int64_t size() const { return body().value.size(); }
  using NotMembers::dim, NotMembers::size;  // PyTorch's: errors of the compiler
  /// The size along `axis`; negative axes count from the end. Throws ValueError if there is no such axis.
  std::int64_t dim(int axis) const { return body().value.dim(axis); }
  /// The only element. Throws ShapeError unless there is exactly one.
  Real item() const { return body().value.item(); }

  /// A part of the tensor, as in numpy: x[{0, _, slice(1, 3)}]. See core/array/slice.h. Gradients flow through it.
  /// Throws ValueError for more entries than axes, a position outside its axis or a step of 0.
  Tensor operator[](std::initializer_list<Slice> slices) const;
  /// The same with one entry: x[0].
  Tensor operator[](const Slice& first) const;
  /// The rows that an Index lists; -1 is the last row. x[ids] has the shape of ids followed by the shape of a row.
  /// Throws ValueError for an index outside [-rows, rows), ShapeError for a scalar x.
  Tensor operator[](const Index& rows) const;
  /// The elements or rows at positions that are given by one Index for each of the first axes, as in numpy: element i
  /// of logits[{arange(n), classes}] is logits[i, classes[i]]. The indices broadcast to one shape; negative indices
  /// count from the end. Throws ShapeError if their shapes do not fit, ValueError for more indices than axes or an
  /// index out of range.
  template <std::same_as<Index> I>
  Tensor operator[](std::initializer_list<I> indices) const {
    return at_indices(indices);
  }
  /// The list of the elements or rows of x where the mask is true. Throws ShapeError unless the mask has the shape of
  /// x's first axes.
  Tensor operator[](const Mask& where) const;

  /// Whether gradients flow to this tensor.
  bool requires_grad() const {
    const Node* node = body_ ? body_->node.published() : nullptr;
    return node && node->requires_grad;
  }
  /// Makes a tensor without history a leaf that gradients flow to, or a constant again. Throws GraphError for a result
  /// of an operation.
  const Tensor& set_requires_grad(bool wanted = true) const&;
  Tensor set_requires_grad(bool wanted = true) && { return set_requires_grad(wanted); }
  /// Whether this is not the result of a recorded operation.
  bool is_leaf() const {
    const Node* node = body_ ? body_->node.published() : nullptr;
    return !node || node->is_leaf();
  }

  /// Gives a leaf a new value. Graphs that were recorded before and need the old value can no longer be differentiated.
  /// Throws ShapeError if the shape differs, GraphError for a result of an operation.
  void assign(Array value) const;
  /// Assigns the value of a tensor, without its history: w.assign(w - rate * g).
  void assign(const Tensor& value) const { assign(value.value()); }
  /// Lets `change(Array&)` change a copy of the value, and assigns the copy. Throws as assign, and what `change`
  /// throws; the value is then unchanged.
  template <class F>
  void update(F&& change) const;
  /// The value of a leaf for writing in place, without the copy that update() makes: for optimizers. The elements may
  /// change, but not the shape. Throws GraphError for a result of an operation.
  Array& mutable_value() const;

  /// A tensor with the same value and without history.
  Tensor detach() const;

  /// Computes the gradients of this scalar with respect to every leaf that it depends on, and adds them to grad() of
  /// the leaves. Throws GraphError if it has more than one element and no seed is given, if it depends on no leaf that
  /// requires a gradient, if the graph was released by an earlier pass, or if a needed value was assigned after its
  /// use. If it throws, no gradient has changed.
  void backward(const BackwardOptions& options) const;
  void backward() const;
  /// The gradient accumulated by backward(), as a constant. Throws GraphError if there is none yet.
  Tensor grad() const;
  bool has_grad() const;
  /// Clears the gradient.
  void zero_grad() const;
  /// Makes backward() accumulate a gradient for this tensor, too, although it is the result of an operation. Throws
  /// GraphError if no gradient flows here.
  const Tensor& retain_grad() const&;
  Tensor retain_grad() && { return retain_grad(); }

  /// Makes every backward pass call `hook` with this tensor's complete gradient; a defined result replaces the
  /// gradient. Returns an id for remove_hook. Throws GraphError if no gradient flows here.
  std::uint64_t on_grad(GradientHook hook) const;
  void remove_hook(std::uint64_t id) const;

  /// The name that errors and diagrams use; empty if none was given.
  std::string name() const;
  const Tensor& named(std::string_view name) const&;
  Tensor named(std::string_view name) && { return named(name); }

  /// Whether both handles refer to the same tensor.
  friend bool same(const Tensor& a, const Tensor& b) { return a.body_ == b.body_; }

 private:
  friend struct detail::Engine;
  struct Body {
    RefCount refs;
    GradMode computed_in = GradMode::recording;
    Array value;
    Ref<Node> node;
    static void destroy(Body* body) noexcept;
  };

  Body& body() const {
    if (!body_) [[unlikely]]
      refuse_undefined();
    return *body_;
  }
  [[noreturn]] static void refuse_undefined();
  void check_leaf(const char* caller, const char* done) const;
  void bump_version() const;
  Tensor at_indices(std::span<const Index> indices) const;
  static Ref<Body> make_body(Array&& value, Ref<Node>&& node, GradMode computed_in = GradMode::recording);

  Ref<Body> body_;
  static const Ref<Node> none_;  // not inline: kernels may have no initialisers before main (cmake/levels.sh)
};

namespace detail {
/// Functions on tensors for the engine alone.
struct Engine {
  /// The node, or nullptr if the tensor has no history and no name.
  static const Ref<Node>& node(const Tensor& tensor) {
    const Ref<Node>& found = tensor.body().node;
    return found.published() ? found : Tensor::none_;  // another thread may be giving it one
  }
  /// The node; makes a leaf for a tensor that has none.
  static const Ref<Node>& ensure_node(const Tensor& tensor);
  /// The mode in which the tensor was computed: the reason why it has no history.
  static GradMode computed_in(const Tensor& tensor) { return tensor.body().computed_in; }
  /// Whether this is the only handle to the tensor.
  static bool unique(const Tensor& tensor) { return tensor.body_ && tensor.body_->refs.load() == 1; }
  /// A tensor at `node`, with the value of the node's operation.
  static Tensor at_node(Array&& value, Ref<Node>&& node);
  /// A tensor without a history, whose computed_in() is `why`.
  static Tensor unrecorded(Array&& value, GradMode why);
  /// A handle to a leaf without its value, to request its gradient alone.
  static Tensor without_value(const Ref<Node>& leaf) { return at_node(Array(), Ref<Node>(leaf)); }
  static bool lacks_value(const Tensor& tensor) {
    return tensor.defined() && node(tensor) && !node(tensor)->has_shape(tensor.shape());
  }
  /// The value, without counting a reference, because that takes time in small operations. The tensor must live on.
  static const Array& value(const Tensor& tensor) { return tensor.body().value; }
  /// The value of a tensor with only one handle, for writing.
  static Array& own_value(const Tensor& tensor) { return tensor.body().value; }
  /// The same value at the same vertex, but another tensor: assigning to one does not change the other.
  static Tensor shallow_copy(const Tensor& tensor);
  /// The shallow copy of a leaf. The result of an operation is returned itself, since it cannot be assigned.
  static Tensor copy_if_leaf(const Tensor& tensor) { return tensor.is_leaf() ? shallow_copy(tensor) : tensor; }
  /// Makes one handle refer to the tensor of another.
  static void rebind(Tensor& handle, const Tensor& to) { handle.body_ = to.body_; }
  /// Swaps the value and the vertex of two tensors, for all their handles.
  static void swap(const Tensor& a, const Tensor& b) noexcept;
  /// The same pointer for all handles of one tensor.
  static const void* identity(const Tensor& tensor) { return tensor.body_.get(); }
  /// The reason why x has no gradient, as the predicate of a sentence: "requires no gradient, because ...".
  static std::string why_no_grad(const Tensor& x);
  /// Moves the value out of a tensor with only one handle; else returns a copy that shares the elements.
  static Array take_value(Tensor&& tensor);
};
}  // namespace detail

/// A list of tensors: parameters, gradients.
using Tensors = std::vector<Tensor>;

/// A leaf that gradients flow to, with this value. From a tensor it takes the value, but not the history. Braces
/// contain elements: variable({{1, 2}, {3, 4}}) is a matrix. For a constant matrix write variable(full({2, 2}, 7)).
/// Throws ShapeError for rows of different lengths.
Tensor variable(Array value, std::string_view name = {});
Tensor variable(const Tensor& value, std::string_view name = {});
Tensor variable(std::initializer_list<Nested<Real>> values, std::string_view name = {});
Tensor variable(Real value, std::string_view name = {});

template <class F>
void Tensor::update(F&& change) const {
  check_leaf("update", "changed");
  const Tensor keep = *this;  // `change` may drop the caller's handle
  Array changed = value();
  change(changed);
  keep.assign(std::move(changed));
}

/// `tensor([[1, 2],
///          [3, 4]], shape=[2, 2])`, the tensor as text.
std::string to_string(const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace xgrad
