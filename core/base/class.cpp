// The names of classes.
#include "class.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "assert.h"

namespace xgrad {

std::string detail::Class::name() const {
  XGRAD_ASSERT(type_);
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(type_->name(), nullptr, nullptr, nullptr),
                                                         &std::free);
  const std::string full = text ? text.get() : type_->name();
  std::size_t begin = 0, end = full.size();
  int depth = 0;
  for (std::size_t i = 0; i < full.size(); ++i) {
    if (full[i] == '<' || full[i] == '(') {
      if (depth++ == 0) end = i;
    } else if (full[i] == '>' || full[i] == ')') {
      --depth;
    } else if (depth == 0 && full[i] == ':') {
      begin = i + 1;
      end = full.size();
    }
  }
  return full.substr(begin, end - begin);
}

}  // namespace xgrad
