// Expressions, typed by a reader: read by recursive descent, and computed while they are read.
#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <utility>

#include <xgrad/core/base/from_text.h>
#include <xgrad/core/diagram/render/export.h>
#include <xgrad/core/diagram/render/html.h>

#include "live.h"

namespace live {
namespace {

using namespace xgrad;

using Function = std::function<Tensor(const Tensors&)>;

Function of_one(Tensor (*f)(const Tensor&)) {
  return [f](const Tensors& x) { return f(x[0]); };
}
Function of_two(Tensor (*f)(const Tensor&, const Tensor&)) {
  return [f](const Tensors& x) { return f(x[0], x[1]); };
}

struct Named {
  std::size_t inputs;
  Function function;
};
const std::map<std::string, Named, std::less<>>& functions() {
  static const std::map<std::string, Named, std::less<>> all{
      {"abs", {1, of_one(abs)}},
      {"cos", {1, of_one(cos)}},
      {"erf", {1, of_one(erf)}},
      {"exp", {1, of_one(exp)}},
      {"gelu", {1, [](const Tensors& x) { return gelu(x[0]); }}},
      {"log", {1, of_one(log)}},
      {"log_softmax", {1, [](const Tensors& x) { return log_softmax(x[0]); }}},
      {"maximum", {2, of_two(maximum)}},
      {"mean", {1, [](const Tensors& x) { return mean(x[0]); }}},
      {"minimum", {2, of_two(minimum)}},
      {"relu", {1, of_one(relu)}},
      {"sigmoid", {1, of_one(sigmoid)}},
      {"silu", {1, of_one(silu)}},
      {"sin", {1, of_one(sin)}},
      {"softmax", {1, [](const Tensors& x) { return softmax(x[0]); }}},
      {"softplus", {1, of_one(softplus)}},
      {"sqrt", {1, of_one(sqrt)}},
      {"square", {1, of_one(square)}},
      {"sum", {1, [](const Tensors& x) { return sum(x[0]); }}},
      {"tanh", {1, of_one(tanh)}},
  };
  return all;
}

/// The number of a letter, or its list of numbers.
Tensor leaf(const Json& number, const std::string& name) {
  if (!number.is_array()) return variable(number.get<Real>(), name);
  const auto list = number.get<std::vector<Real>>();
  return variable(Array({static_cast<std::int64_t>(list.size())}, list), name);
}

class Reader {
 public:
  Reader(std::string text, const Json& given) : text_(std::move(text)), given_(given) {}

  Tensor all() {
    const Tensor result = sum_of_terms();
    if (next() != '\0') refuse("what comes after the end of the expression?");
    return result;
  }
  const std::vector<std::pair<std::string, Tensor>>& letters() const { return letters_; }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    fail<ValueError>("expression", "at ",
                     at_ < text_.size() ? str('"', text_.substr(at_), '"') : std::string("the end"), ": ", why);
  }
  char next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(std::string_view sign) {
    next();
    if (!std::string_view(text_).substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }

  Tensor sum_of_terms() {
    Tensor left = product();
    for (;;) {
      if (take("+")) {
        left = left + product();
      } else if (take("-")) {
        left = left - product();
      } else {
        return left;
      }
    }
  }
  Tensor product() {
    Tensor left = signed_power();
    while (next() == '*' || next() == '/') {
      if (text_.substr(at_, 2) == "**") refuse("a power of a power? put one in brackets");
      const bool times = take("*");
      if (!times) ++at_;
      const Tensor right = signed_power();
      left = times ? left * right : left / right;
    }
    return left;
  }
  // -x ** 2 is -(x ** 2), as in mathematics.
  Tensor signed_power() {
    if (take("-")) {
      const Tensor x = signed_power();
      return is_number_ ? Tensor(-x.item()) : -x;
    }
    const Tensor base = atom();
    if (!take("**") && !take("^")) return base;
    const Tensor exponent = signed_power();
    const bool constant = std::exchange(is_number_, false);
    return constant ? pow(base, static_cast<double>(exponent.item())) : pow(base, exponent);
  }
  Tensor atom() {
    is_number_ = false;
    const char first = next();
    if (take("(")) {
      const Tensor inner = sum_of_terms();
      if (!take(")")) refuse("a bracket is not closed");
      return inner;
    }
    if (std::isdigit(static_cast<unsigned char>(first)) || first == '.') return number();
    if (std::isalpha(static_cast<unsigned char>(first))) return name();
    refuse(first == '\0' ? "something is missing" : "a number, a letter or a bracket is expected");
  }
  Tensor number() {
    double value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = detail::from_text(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) refuse("this is no number");
    at_ += static_cast<std::size_t>(end - begin);
    is_number_ = true;
    return Tensor(static_cast<Real>(value));
  }
  Tensor name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    const std::string word = text_.substr(begin, at_ - begin);
    const auto function = functions().find(word);
    if (next() != '(') {
      if (function != functions().end()) refuse(str(word, " is a function: ", word, "(x)"));
      return letter(word);
    }
    if (function == functions().end()) {
      std::string known;
      for (const auto& [each, of_it] : functions()) append(known, str(known.empty() ? "" : ", ", each));
      at_ = begin;
      refuse(str("there is no function ", word, "; there are ", known));
    }
    take("(");
    Tensors inputs{sum_of_terms()};
    while (take(",")) inputs.push_back(sum_of_terms());
    if (!take(")")) refuse("a bracket is not closed");
    if (inputs.size() != function->second.inputs)
      refuse(str(word, " takes ", function->second.inputs, ", not ", inputs.size()));
    is_number_ = false;
    return function->second.function(inputs);
  }
  Tensor letter(const std::string& word) {
    for (const auto& [name, tensor] : letters_) {
      if (name == word) return tensor;
    }
    return letters_.emplace_back(word, leaf(given_.value(word, Json(1)), word)).second;
  }

  std::string text_;
  const Json& given_;
  std::size_t at_ = 0;
  bool is_number_ = false;  // the last part is a number and nothing else
  std::vector<std::pair<std::string, Tensor>> letters_;
};

}  // namespace

Json expression(const Json& request) {
  const std::string text = request.at("text");
  ValueRecorder values;
  const Json given = request.value("numbers", Json::object());
  Reader reader(text, given);
  Tensor y = reader.all();
  std::string name = "y", letters_so_far;
  int order = 0;
  for (const std::string by : request.value("by", Json::array())) {
    const auto& letters = reader.letters();
    const auto found = std::ranges::find_if(letters, [&](const auto& letter) { return letter.first == by; });
    if (found == letters.end()) fail<ValueError>("derivative", "there is no letter ", by);
    y = grad(y, {found->second}, {.create_graph = true, .unused = Unused::zeros})[0];
    append(letters_so_far, str('d', by));
    name = ++order == 1 ? str("dy/", letters_so_far) : str('d', order, "y/", letters_so_far);
    if (!y.requires_grad()) break;
  }
  if (y.name().empty()) y = y.named(name);

  Json answer{{"name", name}, {"value", numbers(y.value())}, {"constant", !y.requires_grad()}};
  const std::string only = request.value("only", "");
  if (only == "value") return answer;
  if (y.requires_grad()) y.backward({.retain_graph = true});
  answer["letters"] = Json::array();
  for (const auto& [letter, tensor] : reader.letters()) {
    Json entry{{"name", letter}, {"value", numbers(tensor.value())}};
    if (tensor.has_grad()) entry["gradient"] = numbers(tensor.grad().value());
    answer["letters"].push_back(entry);
  }
  if (only == "gradients") return answer;
  const GraphOptions options{.title = text, .depth = 100, .equations = true, .values = &values};
  const GraphView view = GraphView::of({y}, options);
  answer["graph"] = Json::parse(to_json(view));
  answer["page"] = to_html(view, options);
  return answer;
}

}  // namespace live
