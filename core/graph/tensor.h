// Tensor: a value and its place in the graph.
//
//     const Tensor w = variable({2, 1, 0}, "w");
//     const Tensor y = sum(w * w);
//     y.backward();
//     w.grad();                                   // [4, 2, 0]
//
// const is about the handle, as for a pointer: a const Tensor always means the same tensor, whose values, gradient and
// hooks may change.
#pragma once

#include <concepts>
#include <iosfwd>
#include <string>
#include <string_view>

#include "../array/array.h"
#include "../array/nested.h"
#include "../base/not_members.h"
#include "node.h"

namespace xgrad {

/// How backward() runs.
struct BackwardOptions;
namespace detail {
struct Engine;
}  // namespace detail

/// A cheap handle (one counted pointer) to a value and, if the value has a history, to its node in the graph. Copies of
/// a handle mean the same tensor. A tensor without history has no node: under NoGrad, or made from plain numbers, it
/// costs its numbers and nothing else.
///
/// Threads: many may use a tensor, record operations on it and drop it, without a lock. backward() may run in several
/// threads at once, also where their graphs share leaves, whose gradients it adds up one after the other. Functions
/// that change a tensor are for one thread while no other uses it: assign(), update(), set_requires_grad(), named(),
/// hooks, retain_grad(), zero_grad(); and grad() is read when the passes are over. One handle (the variable) is read by
/// many threads or assigned by one.
class [[nodiscard]] Tensor : public detail::NotMembers {
 public:
  /// Undefined: means "none" where a Tensor is optional.
  Tensor() = default;
  Tensor(const Tensor& other) : body_(other.body_) {
    if (detail::CopyListener* listener = detail::context.copy_listener) [[unlikely]]
      listener->on_copy(*this);
  }
  Tensor(Tensor&&) = default;
  /// Makes a variable mean another tensor.
  Tensor& operator=(const Tensor& other) & { return *this = Tensor(other); }
  Tensor& operator=(Tensor&&) & = default;
  /// Does not compile for temporaries.
  template <class T>
  void operator=(T&&) && {
    static_assert(std::is_void_v<T>,
                  "x[0] = y would not write into x: a tensor is not written in place. index_put(x, {0}, y) returns a "
                  "new one, as do where(), scatter() and index_add(); of a leaf, x.update([](Array& values) { "
                  "values[{0}] = 5; })");
  }
  ~Tensor() = default;
  /// A constant.
  Tensor(const Array& value);
  Tensor(Array&& value);
  /// A scalar constant.
  template <class Number>
  requires std::is_arithmetic_v<Number> Tensor(Number value) : Tensor(Array(Shape{}, static_cast<Real>(value))) {}

  bool defined() const { return static_cast<bool>(body_); }
  explicit operator bool() const = delete;

  /// The numbers, without a copy of them. This and all below throw GraphError for an undefined tensor.
  Array value() const { return body().value; }
  const Shape& shape() const& { return body().value.shape(); }
  Shape shape() && { return body().value.shape(); }
  int rank() const { return body().value.rank(); }
  std::int64_t size() const { return body().value.size(); }
  using NotMembers::dim, NotMembers::size;  // of PyTorch: errors
  /// The size along `axis`, negative axes from the end. Throws ValueError.
  std::int64_t dim(int axis) const { return body().value.dim(axis); }
  /// The only element. Throws ShapeError unless there is exactly one.
  Real item() const { return body().value.item(); }

  /// A part of the tensor, as in numpy: x[{0, _, slice(1, 3)}]. See core/array/slice.h; an operation like others
  /// (ops/shape/slice.cpp). Throws ValueError for more entries than axes, a position outside its axis or a step of 0.
  Tensor operator[](std::initializer_list<Slice> slices) const;
  /// The same with one entry: x[0].
  Tensor operator[](const Slice& first) const;
  /// Rows by index, -1 for the last one: x[ids] has the shape of ids, then that of a row. Throws ValueError for an
  /// index outside [-rows, rows), ShapeError for a scalar x.
  Tensor operator[](const Index& rows) const;
  /// Rows by one index for each of the first axes, which broadcast to one shape, as in numpy: logits[{arange(n),
  /// classes}] has logits[i, classes[i]] at i. Negative ones count from the end. Throws ShapeError, ValueError for more
  /// than axes or one outside its axis.
  template <std::same_as<Index> I>
  Tensor operator[](std::initializer_list<I> indices) const {
    return at_indices(indices);
  }
  /// The parts of x where the mask, which has the shape of x's first axes, is true, as a list. Throws ShapeError.
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

  /// Gives a leaf a new value; graphs recorded before can no longer be differentiated. Throws ShapeError if the shape
  /// differs, GraphError for a result of an operation.
  void assign(Array value) const;
  /// The same with the value of a tensor, without its history: w.assign(w - rate * g).
  void assign(const Tensor& value) const { assign(value.value()); }
  /// The same with the value as changed by `change(Array&)`. Throws ShapeError if the shape changes; then, and when
  /// `change` throws, the value is what it was.
  template <class F>
  void update(F&& change) const;
  /// The value of a leaf for writing in place, without the copy that update() makes: for optimizers. Its elements may
  /// change, its shape must not. Throws GraphError for a result of an operation.
  Array& mutable_value() const;

  /// The same value without history.
  Tensor detach() const;

  /// Adds the gradients of this scalar to every leaf that it depends on. Throws GraphError if it is not a scalar and no
  /// seed is given, if it depends on no leaf that requires a gradient, if the graph was released by an earlier pass, or
  /// if a value it needs was assigned since. When it throws, no gradient has changed.
  void backward(const BackwardOptions& options) const;
  void backward() const;
  /// The gradient accumulated by backward(), as a constant. Throws GraphError if there is none yet.
  Tensor grad() const;
  bool has_grad() const;
  /// Clears the gradient.
  void zero_grad() const;
  /// Makes backward() keep the gradient of this result of an operation, too.
  const Tensor& retain_grad() const&;
  Tensor retain_grad() && { return retain_grad(); }

  /// Calls `hook` with this tensor's gradient in every backward pass, once it is complete; a defined result replaces
  /// the gradient. The returned id is for remove_hook. Throws GraphError if no gradient flows here.
  std::uint64_t on_grad(GradientHook hook) const;
  void remove_hook(std::uint64_t id) const;

  /// The name that errors and diagrams use; empty if none was given.
  std::string name() const;
  const Tensor& named(std::string_view name) const&;
  Tensor named(std::string_view name) && { return named(name); }

  /// Whether both handles mean the same tensor.
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
  /// Why it has no history: the mode in which it was computed.
  static GradMode computed_in(const Tensor& tensor) { return tensor.body().computed_in; }
  /// Whether this is the only handle to the tensor.
  static bool unique(const Tensor& tensor) { return tensor.body_ && tensor.body_->refs.load() == 1; }
  /// A tensor at `node`, with the value of the node's operation.
  static Tensor at_node(Array&& value, Ref<Node>&& node);
  /// A value that was computed from tensors with a history and has none itself.
  static Tensor unrecorded(Array&& value, GradMode why);
  /// A handle to a leaf without its numbers, to ask for its gradient alone.
  static Tensor without_value(const Ref<Node>& leaf) { return at_node(Array(), Ref<Node>(leaf)); }
  static bool lacks_value(const Tensor& tensor) {
    return tensor.defined() && node(tensor) && !node(tensor)->has_shape(tensor.shape());
  }
  /// The numbers, without the count of a reference, which shows in operations on a few numbers. The tensor must live
  /// on.
  static const Array& value(const Tensor& tensor) { return tensor.body().value; }
  /// The numbers of a tensor with only one handle, for writing.
  static Array& own_value(const Tensor& tensor) { return tensor.body().value; }
  /// The same value at the same vertex, but another tensor: assigning to one does not change the other.
  static Tensor shallow_copy(const Tensor& tensor);
  /// The shallow copy of a leaf. The result of an operation is returned itself, since it cannot be assigned.
  static Tensor copy_if_leaf(const Tensor& tensor) { return tensor.is_leaf() ? shallow_copy(tensor) : tensor; }
  /// Makes one handle mean the tensor of another.
  static void rebind(Tensor& handle, const Tensor& to) { handle.body_ = to.body_; }
  /// Swaps the value and the vertex of two tensors, for all their handles.
  static void swap(const Tensor& a, const Tensor& b) noexcept;
  /// The same pointer for all handles of one tensor.
  static const void* identity(const Tensor& tensor) { return tensor.body_.get(); }
  /// Why a tensor has no gradient, as far as it tells itself: the predicate of a sentence.
  static std::string why_no_grad(const Tensor& x);
  /// Moves the numbers out of a tensor with only one handle, else shares them.
  static Array take_value(Tensor&& tensor);
};
}  // namespace detail

/// A list of tensors: parameters, gradients.
using Tensors = std::vector<Tensor>;

/// A leaf that gradients flow to, with this value; of a tensor, its value without its history. Braces hold numbers:
/// variable({{1, 2}, {3, 4}}) is a matrix, variable(full({2, 2}, 7)) a filled one. Throws ShapeError for rows of
/// different lengths.
Tensor variable(Array value, std::string_view name = {});
Tensor variable(const Tensor& value, std::string_view name = {});
Tensor variable(std::initializer_list<Nested<Real>> values, std::string_view name = {});
Tensor variable(Real value, std::string_view name = {});

template <class F>
void Tensor::update(F&& change) const {
  check_leaf("update", "changed");
  const Tensor keep = *this;  // `change` may drop the caller's
  Array changed = value();
  change(changed);
  keep.assign(std::move(changed));
}

/// `tensor([[1, 2],
///          [3, 4]], shape=[2, 2])`, for people.
std::string to_string(const Tensor& tensor);
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace xgrad
