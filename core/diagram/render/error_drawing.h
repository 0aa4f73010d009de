// A picture of the graph at the moment an error is thrown.
#pragma once

#include <string>
#include <string_view>

#include "../../graph/observe.h"

namespace xgrad {

/// While it lives, an error that the library throws on its thread is drawn into a file: results not used yet, with
/// everything they depend on, and the operation that failed in red, with the message and the operands of the shapes
/// named in it. The file's extension decides as for save_graph; a later error replaces an earlier one, even one that
/// the program caught.
///
///     const ErrorDrawing drawing("error.svg");
///     model(x);                                   // ShapeError
///
/// With XGRAD_VIZ=error.svg in the environment every thread has one from its first node on, without a change to the program.
/// Failures to draw are reported on the standard error stream. It keeps the last unused results alive: for debugging.
class ErrorDrawing : public Observer, private detail::ErrorListener {
 public:
  /// Throws ValueError for a path without an extension that save_graph knows.
  [[nodiscard]] explicit ErrorDrawing(std::string path);

  void operation(const OperationRun& run) override;

 private:
  void error(std::string_view op, const std::string& message) noexcept override;
  void draw(std::string_view op, const std::string& message) const;

  std::string path_;
  Tensors unused_;  // results that no operation has used yet, the newest last
  const detail::With<detail::ErrorListener*> listening_{&detail::Context::on_error, this};
};

namespace detail {
/// Makes errors of this thread leave a drawing, if XGRAD_VIZ is in the environment.
void draw_errors_if_asked();
}  // namespace detail

}  // namespace xgrad
