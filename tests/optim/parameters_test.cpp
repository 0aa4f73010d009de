// Patterns, freezing, groups.
#include "support.h"

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

TEST_CASE("Names fit patterns as Python's fnmatchcase says") {
  // A name, a space, a pattern; as in Python 3.11.
  for (const std::string line :
       {"blocks.0.norm.weight blocks.*.norm.*", "blocks.0.norm.weight *.weight", "blocks.0.norm.weight *", " *", " ",
        "abc a?c", "abcbc a*bc", "abab *ab*ab*", "blocks.3.w blocks.[0-5].*", "blocks.x.w blocks.[!0-5].*", "a]b a[]]b",
        "a-b a[x-]b", "a-b a[-x]b", "a[b a[b", "a!b a[x!]b", "axb a[!]]b", "a[]b a[]b", "a.b a[.]b", "aaaa a**a"}) {
    CAPTURE(line);
    CHECK(optim::fits(line.substr(0, line.find(' ')), line.substr(line.find(' ') + 1)));
  }
  for (const std::string line :
       {"blocks.0.norm.weight norm.*", "a ", "ac a?c", "abcb a*bc", "aab *ab*ab*", "blocks.7.w blocks.[0-5].*",
        "blocks.3.w blocks.[!0-5].*", "a]b a[!]]b", "Weight weight", "a [z-a]"}) {
    CAPTURE(line);
    CHECK(!optim::fits(line.substr(0, line.find(' ')), line.substr(line.find(' ') + 1)));
  }
  const std::string many(20000, 'a');
  CHECK(!optim::fits(many, "*a*a*a*a*a*a*a*b"));  // in no time
}

struct Net : nn::Module {
  nn::Linear first{at("first"), 2, 3};
  nn::Linear last{at("last"), 3, 1};
  Tensor operator()(const Tensor& x) const { return last(tanh(first(x))); }
};

TEST_CASE("What is frozen by a pattern gets no gradient and does not move, until it is unfrozen") {
  const Net net;
  const Tensors all = net.parameters();
  CHECK(optim::freeze(all, "first.*") == 2);
  CHECK(optim::trainable(all).size() == 2);
  optim::SGD sgd{all, {.lr = 1, .weight_decay = 0.5}};
  const Array before = net.first.weight.value();
  sum(net(Tensor(normal({4, 2})))).backward();
  const optim::StepReport report = sgd.step();
  CHECK(report.updated == 2);
  CHECK(report.skipped == 2);
  CHECK(equal(net.first.weight.value(), before));
  CHECK(optim::unfreeze(all, "*.weight") == 2);
  CHECK(net.first.weight.requires_grad());
  CHECK(!net.first.bias.requires_grad());

  CHECK_REFUSED(ValueError, optim::freeze(all, "frist.*"), "matching", "\"frist.*\"", "4 parameters",
                "\"first.weight\"");
  CHECK_REFUSED(ValueError, optim::matching({}, "*"), "matching", "\"*\" fits none of 0 parameters");
  CHECK_REFUSED(GraphError, optim::freeze({net.last.bias, net.last.bias * 2}, "*"), "freeze",
                "only leaves can be parameters", "mul");
  CHECK(net.last.bias.requires_grad());
}

TEST_CASE("Parameters go to the group of the first rule that applies, the others come first") {
  const Net net;
  const auto groups = optim::parameter_groups<optim::SgdOptions>(
      net.parameters(), {{optim::named("*.bias"), {.lr = 1}}, {optim::named("last.*"), {.lr = 2}}}, {.lr = 3});
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].options.lr == 3);
  CHECK(same(groups[0].parameters.at(0), net.first.weight));
  CHECK(groups[1].options.lr == 1);
  CHECK(groups[1].parameters.size() == 2);
  CHECK(groups[2].options.lr == 2);
  CHECK(same(groups[2].parameters.at(0), net.last.weight));
  CHECK(optim::SGD(groups).lr(2) == 2);
  // None is left for the others: no group of them.
  CHECK(optim::parameter_groups<optim::SgdOptions>(net.parameters(), {{optim::named("*"), {}}}).size() == 1);

  const auto group = [&](const std::vector<optim::GroupRule<optim::SgdOptions>>& rules) {
    optim::parameter_groups<optim::SgdOptions>(net.parameters(), rules);
  };
  CHECK_REFUSED(ValueError, group({{optim::named("*"), {}}, {optim::named("last.*"), {}}}), "parameter_groups",
                "rule 1");
  CHECK_REFUSED(ValueError, group({{optim::named("first"), {}}}), "parameter_groups", "rule 0");
  CHECK_REFUSED(ValueError, group({{nullptr, {}}}), "parameter_groups", "the function is empty");
  CHECK_REFUSED(ValueError, optim::parameter_groups<optim::SgdOptions>({}, {}), "parameter_groups", "no parameters");
}

}  // namespace
}  // namespace xgrad::testing
