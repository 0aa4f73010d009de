// Twenty mistakes that everybody makes once: each is caught where it is made, and says what is wrong.
#include <doctest/doctest.h>

#include <xgrad/kit/data/data.h>
#include <xgrad/xgrad.h>

#include "support/check.h"

namespace xgrad::kit {
namespace {

struct Named : nn::Module {
  nn::Linear fc1{at("fc1"), 2, 8}, fc2{at("fc2"), 8, 3};
  Tensor operator()(const Tensor& x) const { return fc2(relu(fc1(x))); }
};
struct NamedOtherwise : nn::Module {
  nn::Linear fc1{at("fc1"), 2, 8}, last{at("last"), 8, 3};
};
struct SameName : nn::Module {
  nn::Linear fc{at("fc"), 2, 2}, same{at("fc"), 2, 2};
};

}  // namespace

TEST_CASE("shapes and numbers of which one is wrong") {
  CHECK_REFUSED(ShapeError, matmul(zeros({4, 3}), zeros({8, 3})), "matmul", "[4, 3] @ [8, 3]",
                "{.transpose_b = true}?");
  CHECK_REFUSED(ShapeError, zeros({4, 3}) + zeros({4}), "add", "[4, 3] with [4] at axis -1; [4] would fit as [4, 1]");
  CHECK_REFUSED(ValueError, sum(zeros({4, 3}), 2), "sum", "axis 2", "rank 2");
  CHECK_REFUSED(ValueError, (zeros({4, 3})[{4}]), "slice", "index 4", "axis 0 of size 4");
  CHECK_REFUSED(ShapeError, tensor({{1, 2}, {3}}), "tensor", "parts of shapes [2] and [1]");
  CHECK_REFUSED(ValueError, cross_entropy(zeros({2, 3}), index({1, 3})), "cross_entropy", "target 3 of sample 1",
                "[0, 3)");
  CHECK_REFUSED(ShapeError, cross_entropy(zeros({4, 3}), index({1, 2})), "cross_entropy", "logits [4, 3]",
                "[4], got [2]");
  const std::vector<Tensor> uneven{tensor({1, 2}), tensor({3})};
  CHECK_REFUSED(SampleError, (DataLoader{uneven, {.batch_size = 2}}.begin()), "data_loader", "samples [0, 1]: collate",
                "[1], sample 0 [2]", "a function that makes the batch can pad them");
}

TEST_CASE("layers that are given or made of the wrong sizes, names and weights") {
  const Named net;
  CHECK_REFUSED(ShapeError, net(zeros({4, 3})), "linear", "input [4, 3]", "weight [8, 2]", "\n  in fc1");
  CHECK_REFUSED(ValueError, nn::Embedding(nn::root, 10, 4)(index({3, 10})), "embedding", "index 10", "[0, 10)");
  CHECK_REFUSED(ValueError, nn::MultiHeadAttention(nn::root, 64, 5), "attention", "dim 64", "5 heads");
  CHECK_REFUSED(ValueError, SameName(), "module", "duplicate name 'fc'");
  CHECK_REFUSED(ValueError, optim::Adam({net.fc1.weight, net.fc1.weight}), "adam", "duplicate parameter 'fc1.weight'");
  CHECK_REFUSED(Error, net.load_state_dict(NamedOtherwise().state_dict()), "load_state_dict",
                "missing:\n    \"fc2.weight\"");
  CHECK_REFUSED(IoError, load_safetensors("weights.safetensors"), "load_safetensors",
                "weights.safetensors: cannot be opened: No such file or directory");
}

TEST_CASE("backward passes that cannot be made, or not again") {
  CHECK_REFUSED(GraphError, variable({1, 2}, "w").backward(), "backward", "shape [2], not one element",
                "sum() or mean()");
  CHECK_REFUSED(GraphError, sum(tensor({1, 2})).backward(), "backward", "nothing that requires a gradient");
  const Tensor w = variable({1, 2}, "w"), once = sum(w * w), stale = sum(w * w);
  once.backward();
  CHECK_REFUSED(Error, once.backward(), "backward", "already released", "(at mul)", "{.retain_graph = true}");
  const Tensors exploded = grad(sum(w * infinity), {w});
  CHECK_REFUSED(NumericError, optim::clip_grad_norm(exploded, {w}, 1), "clip_grad_norm", "non-finite gradient in 'w'");
  w.assign(Array({2}, {3, 4}));
  CHECK_REFUSED(Error, stale.backward(), "mul", "'w' was assigned after it was used", "run the forward pass again");
}

}  // namespace xgrad::kit
