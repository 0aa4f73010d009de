// Patterns, and lists of parameters.
#include "parameters.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "../core/base/error.h"
#include "../core/base/text.h"

namespace xgrad::optim {
namespace {

// One place of a pattern: any character, or one of a set.
struct Place {
  bool any = false, star = false, opposite = false;
  std::string set = {};  // pairs: from, to

  bool takes(char c) const {
    if (any) return true;
    bool inside = false;
    for (std::size_t i = 0; i < set.size(); i += 2) inside |= set[i] <= c && c <= set[i + 1];
    return inside != opposite;
  }
};

// The set that begins behind the bracket at `i`, which moves to its end; none if nothing closes it.
bool read_set(std::string_view pattern, std::size_t& i, Place& place) {
  std::size_t at = i + 1;
  const bool opposite = at < pattern.size() && pattern[at] == '!';
  if (opposite) ++at;
  const std::size_t end = pattern.find(']', std::min(at + 1, pattern.size()));  // one that comes first is a member
  if (end == pattern.npos) return false;
  place.opposite = opposite;
  while (at < end) {
    const bool range = at + 2 < end && pattern[at + 1] == '-';
    place.set += {pattern[at], range ? pattern[at + 2] : pattern[at]};
    at += range ? 3 : 1;
  }
  i = end;
  return true;
}

std::vector<Place> places_of(std::string_view pattern) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    Place place;
    if (pattern[i] == '*') {
      place.star = true;
    } else if (pattern[i] == '?') {
      place.any = true;
    } else if (pattern[i] != '[' || !read_set(pattern, i, place)) {
      place.set = {pattern[i], pattern[i]};
    }
    places.push_back(std::move(place));
  }
  return places;
}

void check_leaves(const char* op, const Tensors& parameters) {
  for (const Tensor& parameter : parameters) {
    if (!parameter.is_leaf()) {
      fail<GraphError>(op, "only leaves can be parameters, not the result of ", parameter.node()->op);
    }
  }
}

std::int64_t set_gradients(const char* op, const Tensors& parameters, std::string_view pattern, bool wanted) {
  const Tensors found = matching(parameters, pattern);
  check_leaves(op, found);
  for (const Tensor& parameter : found) parameter.set_requires_grad(wanted);
  return static_cast<std::int64_t>(found.size());
}

}  // namespace

bool fits(std::string_view name, std::string_view pattern) {
  const std::vector<Place> places = places_of(pattern);
  // Backtracking: a star may take more later on; only the last one needs to be tried again.
  std::size_t n = 0, p = 0, star = places.size(), after_star = 0;
  while (n < name.size()) {
    if (p < places.size() && places[p].star) {
      star = p++;
      after_star = n;
    } else if (p < places.size() && places[p].takes(name[n])) {
      ++p;
      ++n;
    } else if (star < places.size()) {
      p = star + 1;
      n = ++after_star;
    } else {
      return false;
    }
  }
  while (p < places.size() && places[p].star) ++p;
  return p == places.size();
}

Tensors matching(const Tensors& parameters, std::string_view pattern) {
  Tensors found;
  for (const Tensor& parameter : parameters) {
    if (fits(parameter.name(), pattern)) found.push_back(parameter);
  }
  if (found.empty()) {
    fail<ValueError>("matching", escaped(pattern), " fits none of ", parameters.size(), " parameters",
                     parameters.empty() ? "" : cat("; the first is ", escaped(parameters[0].name())));
  }
  return found;
}

Tensors trainable(const Tensors& parameters) {
  Tensors found;
  std::ranges::copy_if(parameters, std::back_inserter(found), &Tensor::requires_grad);
  return found;
}

std::int64_t freeze(const Tensors& parameters, std::string_view pattern) {
  return set_gradients("freeze", parameters, pattern, false);
}

std::int64_t unfreeze(const Tensors& parameters, std::string_view pattern) {
  return set_gradients("unfreeze", parameters, pattern, true);
}

ParameterRule named(std::string_view pattern) {
  return [pattern = std::string(pattern)](const Tensor& parameter) { return fits(parameter.name(), pattern); };
}

std::vector<Tensors> detail::split(const Tensors& parameters, const std::vector<const ParameterRule*>& rules) {
  constexpr const char* op = "parameter_groups";
  if (parameters.empty()) fail<ValueError>(op, "there are no parameters");
  for (const ParameterRule* rule : rules) xgrad::detail::refuse_empty(op, *rule);
  std::vector<Tensors> parts(rules.size() + 1);
  for (const Tensor& parameter : parameters) {
    const auto rule = std::ranges::find_if(rules, [&](const ParameterRule* each) { return (*each)(parameter); });
    parts[static_cast<std::size_t>(rule - rules.begin())].push_back(parameter);
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (parts[i].empty()) fail<ValueError>(op, "rule ", i, " has no parameter");
  }
  return parts;
}

Array parameters_to_vector(const Tensors& parameters) {
  if (parameters.empty()) fail<ValueError>("parameters_to_vector", "there are no parameters");
  std::int64_t size = 0;
  for (const Tensor& parameter : parameters) size += parameter.size();
  Array vector(Shape{size});
  Real* out = vector.mutable_data();
  for (const Tensor& parameter : parameters) out = std::ranges::copy(parameter.value(), out).out;
  return vector;
}

void vector_to_parameters(const Array& vector, const Tensors& parameters) {
  constexpr const char* op = "vector_to_parameters";
  check_leaves(op, parameters);
  std::int64_t size = 0;
  for (const Tensor& parameter : parameters) size += parameter.size();
  if (vector.shape() != Shape{size}) {
    fail<ShapeError>(op, "a vector of shape ", vector.shape(), " for parameters of ", size, " numbers");
  }
  std::vector<Array> values;
  const Real* from = vector.data();
  for (const Tensor& parameter : parameters) {
    values.emplace_back(parameter.shape(), std::span(from, static_cast<std::size_t>(parameter.size())));
    from += parameter.size();
  }
  for (std::size_t i = 0; i < values.size(); ++i) parameters[i].assign(std::move(values[i]));
}

}  // namespace xgrad::optim
