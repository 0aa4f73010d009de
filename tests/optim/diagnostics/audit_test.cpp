// The findings of audit(): the ways in which a parameter gets lost, and nothing where all is well.
#include "support/check.h"
#include "support/threads.h"

#include <algorithm>
#include <sstream>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

// y = x w, with a layer of its own.
struct Part : Module {
  Part() = default;
  explicit Part(At here) : Module(here) {}
  const Tensor w = param("w", {2}, init::ones());
  Tensor operator()(const Tensor& x) const { return x * w; }
};

const Array x({2}, {1, 2});

std::vector<std::string> names_of(const std::vector<optim::Audit::Line>& lines) {
  std::vector<std::string> names;
  for (const auto& line : lines) names.push_back(line.name);
  return names;
}
using Names = std::vector<std::string>;

TEST_CASE("a layer at root that is a member is not trained") {
  struct Net : Module {
    Linear first{at("first"), 2, 2};
    Linear second{root, 2, 1};
    Tensor operator()(const Tensor& x) const { return sum(second(first(x))); }
  } net;
  optim::SGD sgd{net.parameters(), {.lr = 1}};
  const optim::Audit audit = optim::audit(net(x), sgd);
  CHECK(names_of(audit.untrained) == Names{"weight", "bias"});
  CHECK(audit.untrained[1].why.starts_with("of another model"));
  CHECK(audit.unreached.empty());
  CHECK(names_of(audit.trained) == Names{"first.weight", "first.bias"});
  CHECK(!audit.clean());
  CHECK(audit.trained[0].shape == Shape{2, 2});
  CHECK(audit.trained[0].why.empty());
}

TEST_CASE("a variable that is a member of a module is not trained") {
  struct Net : Module {
    Part part{at("part")};
    const Tensor shift = xgrad::variable(Array({2}, {1, 1}), "shift");
    const Tensor scale = xgrad::variable(Real(2));
    Tensor operator()(const Tensor& x) const { return sum(part(x) * scale + shift); }
  } net;
  optim::SGD sgd{net.parameters(), {.lr = 1}};
  const optim::Audit audit = optim::audit(net(x), sgd);
  CHECK(names_of(audit.untrained) == Names{"shift", ""});
  CHECK(audit.untrained[0].why.starts_with("a variable that no module knows"));
  CHECK(
      to_string(audit) ==
      "audit: 1 trained, 2 not trained, 0 not reached\n"
      "  not trained: shift [2]: a variable that no module knows: declare it with param(...), and assign to parameters "
      "by assign()\n"
      "  not trained: (no name) []: a variable that no module knows: declare it with param(...), and assign to "
      "parameters by assign()\n");
}

TEST_CASE("a layer that is made within forward is not trained") {
  struct Net : Module {
    Part part{at("part")};
    Tensor operator()(const Tensor& x) const { return sum(Part(root)(part(x))); }
  } net;
  optim::SGD sgd{net.parameters(), {.lr = 1}};
  CHECK(to_string(optim::audit(net(x), sgd)) ==
        "audit: 1 trained, 1 not trained, 0 not reached\n"
        "  not trained: w [2]: of a layer that is gone: was it made within forward? Make it a member of the model\n");
}

TEST_CASE("a constant that a module multiplies by is shown, and the input of the module is not") {
  struct Net : Module {
    Linear in{at("in"), 2, 3};
    const Tensor fixed = buffer("fixed", Array({3, 3}, Real(1)));
    const Tensor w = randn({3, 1});
    Tensor operator()(const Tensor& x) const {
      const auto here = enter(x);
      const Tensor h = matmul(in(x), fixed);
      return sum(matmul(h, w) + matmul(h, w) * 2);
    }
  } net;
  optim::SGD sgd{net.parameters(), {.lr = 1}};
  const optim::Audit audit = optim::audit(net(Array({5, 2}, Real(1))), sgd);
  CHECK(audit.clean());
  CHECK(to_string(audit) ==
        "audit: the loss reaches every parameter (2) and no other leaf\n"
        "  a constant: (no name) [3, 1]: a factor in a module: if it is to be trained, declare it with param(...)\n");
  CHECK(optim::audit(sum(matmul(net.in(ones({5, 2})), ones({3, 2}))), sgd).constants.empty());  // in no module
}

TEST_CASE("an audit says that no step changes anything at a learning rate of 0") {
  const Part part, other;
  optim::SGD sgd{{{.parameters = part.parameters(), .options = {.lr = 1 / 100}},
                  {.parameters = other.parameters(), .options = {.lr = 0}}}};
  const auto audit = [&] { return optim::audit(sum(part(x) + other(x)), sgd); };
  CHECK(audit().at_rest);
  CHECK(to_string(audit()) ==
        "audit: the loss reaches every parameter (2) and no other leaf\n"
        "  the learning rate is 0: no step changes anything\n");
  sgd.set_lr(1, 0.1);
  CHECK(!audit().at_rest);
  CHECK(to_string(audit()) == "audit: the loss reaches every parameter (2) and no other leaf\n");
}

TEST_CASE("a parameter whose member was given another tensor is not reached") {
  struct Net : Module {
    Tensor w = param("w", {2}, init::ones());
    Tensor operator()(const Tensor& x) const { return sum(x * w); }
  } net;
  optim::SGD sgd{net.parameters(), {.lr = 1}};
  CHECK(optim::audit(net(x), sgd).clean());
  net.w = variable(Array({2}, {3, 4}));
  const optim::Audit audit = optim::audit(net(x), sgd);
  CHECK(names_of(audit.untrained) == Names{""});
  CHECK(names_of(audit.unreached) == Names{"w"});
  CHECK(audit.unreached[0].why ==
        "the loss does not depend on it: does no forward call its layer, or was its member given another tensor?");
  CHECK(audit.trained.size() == 0);
}

TEST_CASE("what an optimizer was not given, and what is frozen, is named for what it is") {
  struct Net : Module {
    Part a{at("a")}, b{at("b")}, c{at("c")};
    Tensor operator()(const Tensor& x) const { return sum(c(b(a(x)))); }
  } net;
  optim::SGD sgd{{net.a.w, net.b.w}, {.lr = 1}};
  net.b.w.set_requires_grad(false);
  const optim::Audit audit = optim::audit(net(x), sgd);
  CHECK(names_of(audit.untrained) == Names{"c.w"});
  CHECK(audit.untrained[0].why.starts_with("left out, or declared after"));
  CHECK(names_of(audit.unreached) == Names{"b.w"});
  CHECK(audit.unreached[0].why == "no gradient is wanted: it is frozen");
  CHECK(audit.trained.size() == 1);
}

TEST_CASE("leaves that are not trained are named in the order in which they were made") {
  const Tensor w = variable(1, "w");
  const std::vector made{variable(2, "a"), variable(3, "b"), variable(4, "c")};
  optim::SGD sgd{{w}, {.lr = 1}};
  std::vector<std::size_t> used{0, 1, 2};
  do {
    const Tensor loss = w * made[used[0]] + made[used[1]] * (made[used[2]] + 1);
    CHECK(names_of(optim::audit(loss, sgd).untrained) == Names{"a", "b", "c"});
  } while (std::ranges::next_permutation(used).found);
}

TEST_CASE("a parameter that was frozen during the forward pass is not reached, and a leaf that came late is none") {
  struct Net : Module {
    Part a{at("a")}, b{at("b")};
    Tensor operator()(const Tensor& x) const { return sum(b(a(x))); }
  } net;
  optim::SGD sgd{net.parameters(), {.lr = 1}};
  net.b.w.set_requires_grad(false);
  const Tensor late(Array({2}, Real(1)));
  const Tensor loss = net(x) + sum(net.a.w * late);
  net.b.w.set_requires_grad();
  late.set_requires_grad();
  const optim::Audit audit = optim::audit(loss, sgd);
  CHECK(names_of(audit.trained) == Names{"a.w"});
  CHECK(audit.untrained.empty());
  CHECK(names_of(audit.unreached) == Names{"b.w"});
  CHECK(audit.unreached[0].why == "it was frozen when the loss was computed: run the forward pass again");
}

TEST_CASE("an audit is clean where all is well, before and after a backward pass, and when constants take part") {
  struct Net : Module {
    Part a{at("a")};
    const Tensor again = param("again", a.w);
    const Tensor mean = buffer("mean", Array({2}, Real(1)));
    Tensor operator()(const Tensor& x) const { return sum(a(x) * again - mean); }
  } net;
  optim::SGD sgd{net.parameters(), {.lr = 1}};
  const Tensor loss = net(x);
  CHECK(optim::audit(loss, sgd).clean());
  loss.backward();
  const optim::Audit after = optim::audit(loss, sgd);
  CHECK(after.clean());
  CHECK(after.trained.size() == 1);
  std::ostringstream out;
  out << after;
  CHECK(out.str() == "audit: the loss reaches every parameter (1) and no other leaf\n");
}

TEST_CASE("an audit finds a penalty on a gradient whose graph was not asked for") {
  const Tensor w = variable({1, 2}, "w"), x = variable({3, 4}, "x");
  optim::SGD sgd{{w}, {.lr = 1}};
  const auto loss_of = [&](const GradOptions& options, bool detached) {
    const Tensor y = sum(w * w * x);
    const Tensor g = grad(y, {w}, options)[0], penalty = sum(square(detached ? g.detach() : g));
    return sum(w) + penalty;
  };
  const optim::Audit audit = optim::audit(loss_of({.retain_graph = true}, false), sgd);
  REQUIRE(audit.untrained.size() == 1);
  CHECK(audit.untrained[0].shape == Shape{});
  CHECK(audit.untrained[0].why == "from a gradient without a graph: take it with {.create_graph = true}, or detach() it");
  CHECK(names_of(optim::audit(loss_of({.create_graph = true}, false), sgd).untrained) == Names{"x"});
  CHECK(optim::audit(loss_of({.retain_graph = true}, true), sgd).clean());
}

TEST_CASE("an audit says how many backward passes the gradients are of") {
  const Part part;
  optim::SGD sgd{part.parameters(), {.lr = 1}};
  const auto audit = [&] { return optim::audit(sum(part(x)), sgd); };
  CHECK(audit().passes == 0);
  for (int pass = 1; pass <= 3; ++pass) {
    sum(part(x)).backward();
    CHECK(audit().passes == pass);
    CHECK(to_string(audit()).ends_with("zero_grad() was forgotten\n") == (pass > 1));
  }
  CHECK(audit().clean());
  CHECK(to_string(audit()) ==
        "audit: the loss reaches every parameter (1) and no other leaf\n"
        "  gradients are sums over 3 backward passes: right if they are accumulated, else zero_grad() was forgotten\n");
  sgd.zero_grad();
  CHECK(audit().passes == 0);
  sum(part(x)).backward();
  CHECK(to_string(audit()) == "audit: the loss reaches every parameter (1) and no other leaf\n");
}

TEST_CASE("a loss without a graph cannot be audited") {
  const Part part;
  optim::SGD sgd{part.parameters(), {.lr = 1}};
  const NoGrad off;
  CHECK_REFUSED(GraphError, optim::audit(sum(part(x)), sgd), "audit",
                "the loss has no graph: it was computed under NoGrad, or from constants");
}

TEST_CASE("the first step refuses when the model has got parameters since the optimizer was made") {
  struct Net : Module {
    Part a{at("a")};
    optim::SGD early{parameters(), {.lr = 1}};
    Part b{at("b")};
  } net;
  CHECK_REFUSED(ValueError, net.early.step(), "sgd",
                "the model has got parameters since this optimizer was made: b.w; make the optimizer when all layers "
                "are declared");
  CHECK_REFUSED(ValueError, net.early.step({Array({2}, Real(1))}), "sgd", "the model has got");
  CHECK(equal(net.a.w.value(), Array({2}, {1, 1})));

  // Not those that are frozen, and not after the first step, which may be meant.
  net.b.w.set_requires_grad(false);
  CHECK(net.early.step({Array({2}, Real(1))}).updated == 1);
  net.b.w.set_requires_grad();
  CHECK(net.early.step({Array({2}, Real(1))}).updated == 1);
}

TEST_CASE("an optimizer of a part of a model, or of what was replaced and gone, steps as ever") {
  struct Net : Module {
    Part a{at("a")}, b{at("b")};
    void try_out() { Part c{at("c")}; }
  };
  Net net;
  optim::SGD sgd{net.a.parameters(), {.lr = 1}};
  net.try_out();
  CHECK(sgd.step({Array({2}, Real(1))}).updated == 1);
  optim::SGD other{[] { return Part().parameters(); }(), {.lr = 1}};  // the module is gone
  CHECK(other.step({Array({2}, Real(1))}).updated == 1);
}

TEST_CASE("a long chain is audited without recursion") {
  const Part part;
  optim::SGD sgd{part.parameters(), {.lr = 1}};
  Tensor y = part(x);
  for (int i = 0; i < 100'000; ++i) y = y + 1;
  on_small_stack([&] { CHECK(optim::audit(sum(y), sgd).clean()); });
}

}  // namespace
}  // namespace xgrad::testing
