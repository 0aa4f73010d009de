// Groups of parameters for weight decay, and what a user's layer says. Which parameters of the library's layers it is for:
// catalogue_test.cpp.
#include "support/check.h"

#include <algorithm>
#include <set>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

// The last parts of the names of what decays.
std::set<std::string> decaying(const nn::Module& model) {
  const auto without = nn::without_weight_decay(model);
  std::set<std::string> names;
  for (const auto& [name, parameter] : model.named_parameters()) {
    if (!without(parameter)) names.insert(name);
  }
  return names;
}

TEST_CASE("weight decay is for the matrices of a GPT, not for biases, norms, embeddings and positions") {
  const nn::Gpt gpt{nn::root, {.vocabulary = 11, .context = 8, .dim = 4, .heads = 2, .layers = 1}};
  CHECK(decaying(gpt).size() == 4);  // attention in and out, two layers of the feed-forward part

  const auto groups = optim::parameter_groups<optim::AdamWOptions>(
      gpt.parameters(), {{nn::without_weight_decay(gpt), {.weight_decay = 0}}}, {.weight_decay = 0.1});
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].parameters.size() == 4);
  CHECK(groups[0].parameters.size() + groups[1].parameters.size() == gpt.parameters().size());
  CHECK(optim::AdamW(groups).groups() == 2);
}

TEST_CASE("a user's layer says itself what weight decay is for") {
  struct Net : nn::Module {
    nn::pytorch::MultiheadAttention attention{at("attention"), 4, 2, {.add_bias_kv = true}};
    const Tensor unbiased = param("unbiased", {4, 4}, nn::init::ones());
    const Tensor cls_token = param("cls_token", {1, 1, 4}, nn::init::zeros(), nn::Decay::no);
  } net;
  CHECK(decaying(net) == std::set<std::string>{"attention.in_proj_weight", "attention.out_proj.weight", "unbiased"});
}

}  // namespace
}  // namespace xgrad::testing
