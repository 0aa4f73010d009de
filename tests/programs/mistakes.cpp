// Twenty mistakes that everybody makes once. Each is caught where it is made, and says what is wrong.
#include <functional>
#include <iostream>
#include <limits>

#include <xgrad/kit/data/data.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

struct Mistake {
  std::string what;
  std::function<void()> make;
  std::string message;
};

struct Net : nn::Module {
  nn::Linear fc1{at("fc1"), 2, 8}, fc2{at("fc2"), 8, 3};
  Tensor operator()(const Tensor& x) const { return fc2(relu(fc1(x))); }
};
struct Other : nn::Module {
  nn::Linear fc1{at("fc1"), 2, 8}, last{at("last"), 8, 3};
};
struct Twice : nn::Module {
  nn::Linear fc{at("fc"), 2, 2}, same{at("fc"), 2, 2};
};

const std::vector<Mistake> mistakes{
    {"a weight that is the wrong way round",
     [] {
       matmul(zeros({4, 3}), zeros({8, 3}));
     },
     "matmul: inner sizes differ: [4, 3] @ [8, 3]; did you mean {.transpose_b = true}?"},
    {"shapes that do not broadcast",
     [] {
       zeros({4, 3}) + zeros({4});
     },
     "add: cannot broadcast [4, 3] with [4] at axis -1; [4] would fit as [4, 1]"},
    {"an axis that is not there",
     [] {
       sum(zeros({4, 3}), 2);
     },
     "sum: axis 2 is out of range for rank 2"},
    {"a row behind the last",
     [] {
       zeros({4, 3})[{4}];
     },
     "slice: index 4 out of range for axis 0 of size 4"},
    {"rows of different lengths",
     [] {
       tensor({{1, 2}, {3}});
     },
     "tensor: parts of shapes [2] and [1] in one list"},
    {"a layer for other inputs",
     [] {
       Net()(zeros({4, 3}));
     },
     "linear: input [4, 3] does not fit weight [8, 2]\n  in fc1"},
    {"a class that the model does not have",
     [] {
       cross_entropy(zeros({2, 3}), index({1, 3}));
     },
     "cross_entropy: target 3 of sample 1 is not in [0, 3)"},
    {"as many labels as there are not samples",
     [] {
       cross_entropy(zeros({4, 3}), index({1, 2}));
     },
     "cross_entropy: logits [4, 3] need targets of shape [4], got [2]"},
    {"a word that is not in the vocabulary",
     [] {
       nn::Embedding(nn::root, 10, 4)(index({3, 10}));
     },
     "embedding: index 10 is not in [0, 10)"},
    {"heads that do not divide the width", [] { nn::MultiHeadAttention(nn::root, 64, 5); },
     "attention: dim 64 does not divide by 5 heads"},
    {"two layers of one name", [] { Twice(); }, "module: duplicate name 'fc'"},
    {"a gradient of many numbers",
     [] {
       variable({1, 2}, "w").backward();
     },
     "backward: the result has shape [2], not one element: take its sum() or mean() first"},
    {"nothing to differentiate",
     [] {
       sum(tensor({1, 2})).backward();
     },
     "backward: the result depends on nothing that requires a gradient"},
    {"a second backward pass",
     [] {
       const Tensor w = variable({1, 2}, "w"), loss = sum(w * w);
       loss.backward();
       loss.backward();
     },
     "backward: the graph was already released by an earlier backward pass (at mul); pass {.retain_graph = true}"},
    {"a weight that was changed between forward and backward",
     [] {
       const Tensor w = variable({1, 2}, "w"), loss = sum(w * w);
       w.assign(Array({2}, {3, 4}));
       loss.backward();
     },
     "mul: 'w' was assigned after it was used here; run the forward pass again"},
    {"a parameter that is trained twice",
     [] {
       const Net net;
       optim::Adam({net.fc1.weight, net.fc1.weight});
     },
     "adam: duplicate parameter 'fc1.weight'"},
    {"gradients that have exploded",
     [] {
       const Tensor w = variable({1, 2}, "w");
       optim::clip_grad_norm(grad(sum(w * std::numeric_limits<Real>::infinity()), {w}), {w}, 1);
     },
     "clip_grad_norm: non-finite gradient in 'w'"},
    {"weights of another model", [] { Net().load_state_dict(Other().state_dict()); },
     "load_state_dict: the state does not fit\n  missing:\n    \"fc2.weight\""},
    {"a file that is not there", [] { load_safetensors("weights.safetensors"); },
     "load_safetensors: weights.safetensors: cannot be opened: No such file or directory"},
    {"samples that are not equally long",
     [] {
       const std::vector<Tensor> samples{tensor({1, 2}), tensor({3})};
       for (const Tensor& batch : kit::DataLoader{samples, {.batch_size = 2}}) std::cout << batch;
     },
     "data_loader: samples [0, 1]: collate: sample 1 of the batch is [1], sample 0 [2]; a function that makes the "
     "batch can pad them"},
};

bool caught(const Mistake& mistake) {
  try {
    mistake.make();
  } catch (const Error& error) {
    std::cout << "- " << mistake.what << "\n    " << error.what() << "\n";
    return std::string_view(error.what()).starts_with(mistake.message);
  }
  std::cout << "- " << mistake.what << "\n    is not found\n";
  return false;
}

int main() {
  std::size_t right = 0;
  for (const Mistake& mistake : mistakes) right += caught(mistake);
  std::cout << right << " of " << mistakes.size() << "\n";
  return right == mistakes.size() ? 0 : 1;
}
