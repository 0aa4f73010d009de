// Shapes that have to agree.
#include <xgrad/kit/data/collate.h>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

void detail::check_rows(const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) {
    if (shape.rank() == 0 || shapes.front().rank() == 0 || shape[0] != shapes.front()[0]) {
      fail<ShapeError>("tensor_dataset", "needs arrays with equally many rows, got ", shapes);
    }
  }
}

void detail::check_same_shape(const std::vector<Shape>& shapes) {
  for (std::size_t i = 1; i < shapes.size(); ++i) {
    if (shapes[i] != shapes[0]) {
      fail<ShapeError>("collate", "sample ", i, " of the batch is ", shapes[i], ", sample 0 ", shapes[0],
                       "; a function that makes the batch can pad them");
    }
  }
}

}  // namespace xgrad::kit
