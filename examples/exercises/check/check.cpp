#include "check.h"

#include <exception>
#include <iostream>

#include "mistake.h"

namespace xgrad::exercises {

void written(bool defined, std::string_view hint) {
  if (!defined) not_yet("nothing written yet. A hint: ", hint);
}

void has_shape(std::string_view what, const Shape& shape, const Shape& expected, std::string_view meaning) {
  if (shape != expected) not_yet(what, " has the shape ", shape, " instead of ", expected, ", ", meaning);
}

void has_no_nan(std::string_view what, const Tensor& x, std::string_view why) {
  const Index at = flatnonzero(isnan(x));
  if (at.size() > 0) not_yet(what, " at ", position_of(*at.begin(), x.shape()), " is NaN: ", why);
}

void same(std::string_view what, const Tensor& x, const Tensor& expected, std::string_view why, double tolerance) {
  has_shape(what, x.shape(), expected.shape(), "that of the right result");
  const std::string place = place_of_error(x, expected, tolerance);
  if (place.empty()) return;
  const std::string form = form_of(x, expected);
  not_yet(what, place, form, why.empty() || !form.empty() ? "" : str(": ", why));
}

Tensor numbers(const Shape& shape, std::int64_t seed) { return random_normal(shape, {.seed = seed}); }
Tensor leaf(const Shape& shape, std::string_view name, std::int64_t seed) {
  return variable(numbers(shape, seed), name);
}

void Operations::refuse(const std::vector<std::string_view>& refused) const {
  for (const std::string_view name : refused) {
    if (names.contains(name))
      not_yet("your lines use ", name, ", which the exercise is to write: take smaller operations");
  }
}

std::filesystem::path& drawing_folder() {
  static std::filesystem::path folder;
  return folder;
}

std::string& right_because() {
  static std::string text;
  return text;
}

std::string why_not(const std::function<void()>& check) {
  try {
    check();
    return {};
  } catch (const NotYet& reason) {
    return reason.what();
  } catch (const Error& error) {
    return str("an error of the library: ", error.what());
  } catch (const std::bad_alloc&) {
    return "the memory is full: does a loop append for ever?";
  } catch (const std::exception& error) {
    return str("an exception: ", error.what());
  }
}

int reply(const std::function<void()>& check, const char* folder) {
  drawing_folder() = folder;
  const std::string reason = why_not(check);
  std::cout << (reason.empty() ? "right: " + right_because() : "not yet: " + reason) << std::endl;
  return reason.empty() ? 0 : 1;
}

}  // namespace xgrad::exercises
