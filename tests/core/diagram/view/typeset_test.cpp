// Tests of core/diagram/view/equations.h: names and equations as people set them.
#include <xgrad/core/diagram/view/equations.h>

#include <xgrad/core/diagram/view/labels.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::detail;

namespace {

// With indices in [], exponents in {}.
std::string written(const LabelLine& line) {
  std::string text;
  for (const LabelSpan& span : line) {
    append(text, span.script == Script::below   ? str('[', span.text, ']')
                 : span.script == Script::above ? str('{', span.text, '}')
                                               : span.text);
  }
  return text;
}
std::string name(std::string_view text) { return written(typeset_name(text, LetterStyle::name)); }
std::string equation(std::string_view text) { return written(typeset_equation(text, LetterStyle::detail)); }

}  // namespace

TEST_CASE("a name of one letter, also a Greek one, has its digits and what follows an underscore as indices") {
  CHECK(name("alpha_12") == "\u03B1[12]");
  CHECK(name("W_ih") == "W[ih]");
  CHECK(name("x1") == "x[1]");
  CHECK(name("h_1_t") == "h[1,t]");
  CHECK(name("theta") == "\u03B8");
  CHECK(name("Sigma_xy") == "\u03A3[xy]");
  CHECK(name("c'") == "c\u2032");
  CHECK(name("c''") == "c\u2032\u2032");
  CHECK(name("W_alpha") == "W[\u03B1]");
  CHECK(name("norm1.gamma") == "norm1.\u03B3");
  CHECK(name("\u00E9_2") == "\u00E9[2]");
}

TEST_CASE("the name of a symbol has exponents and indices as papers write them") {
  CHECK(name("a^{1}") == "a{1}");
  CHECK(name("alpha^{1,2}") == "\u03B1{1,2}");
  CHECK(name("W_q^2") == "W[q]{2}");
  CHECK(name("x_{ij}^2'") == "x[ij]{2}\u2032");
  for (const char* text : {"x^", "x^{", "x^{}", "x^{1", "x_{", "x^-1", "word^2", "^2"}) CHECK(name(text) == text);
}

TEST_CASE("a name of words, and what is no name, stays as it is") {
  for (const char* text : {"self_attn", "fc1", "conv2d", "weight", "W2b", "x_", "_x", "1", "blocks.0.fc1.weight", "",
                           " ", "'", "a b", "&amp;", "\u6f22", "pos_emb", "dropout", "-->"}) {
    CHECK(name(text) == text);
  }
}

TEST_CASE("the gradient of a name has the name's indices") {
  CHECK(name("dL/dW_ih") == "dL/dW[ih]");
  CHECK(name("dL/dalpha") == "dL/d\u03B1");
  CHECK(name("dL/dx1, dL/db") == "dL/dx[1], dL/db");
  CHECK(name("dloss/dblocks.2.fc1.weight") == "dloss/dblocks.2.fc1.weight");
}

TEST_CASE("an equation has exponents, indices, roots, Greek letters and signs") {
  CHECK(equation("y = x W_ih^T + b") == "y = x W[ih]{T} + b");
  CHECK(equation("dy/dx = 1 - y^2") == "dy/dx = 1 - y{2}");
  CHECK(equation("dL/dW = gy^T x") == "dL/dW = g[y]{T} x");
  CHECK(equation("y_i = e^x_i / sum_j e^x_j") == "y[i] = e{x\u1D62} / sum[j] e{x\u2C7C}");
  CHECK(equation("y = e^(x_i - y_j)") == "y = e{x\u1D62 - y\u2C7C}");
  CHECK(equation("y = e^x_ij + e^(x_max)") == "y = e{x_ij} + e{x_max}");
  CHECK(equation("y = e^(-x^2)") == "y = e{-x\u00B2}");
  CHECK(equation("a = a_(i - 1) + b") == "a = a[i - 1] + b");
  CHECK(equation("dL/dx_j = gy_i") == "dL/dx[j] = g[y,i]");
  CHECK(equation("y = 1/sqrt x") == "y = 1/\u221Ax");
  CHECK(equation("y = sqrt(sum of x)") == "y = \u221A(sum of x)");
  CHECK(equation("y = x if x <= alpha, else y != 0") == "y = x if x \u2264 \u03B1, else y \u2260 0");
  CHECK(equation("dL/da = gy y a^-T") == "dL/da = g[y] y a{-T}");
  CHECK(equation("s = label_smoothing, log2(2^a + 2^b)") == "s = label_smoothing, log2(2{a} + 2{b})");
  CHECK(equation("y = x/delta") == "y = x/\u03B4");
  CHECK(equation("dy/dc' = 1") == "dy/dc\u2032 = 1");
  CHECK(equation("x^") == "x");
  CHECK(equation("x^(1") == "x{1}");
  CHECK(equation("x_(1))") == "x[1])");
}
