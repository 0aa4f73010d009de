// Which parameters of the library's models weight decay is for.
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
  for (const std::string& name : decaying(gpt)) {
    CAPTURE(name);
    CHECK(name.ends_with(".weight"));
    CHECK(name.find("norm") == name.npos);
    CHECK(name.find("ln") == name.npos);
    CHECK(name.find("embedding") == name.npos);
    CHECK(name.find("positions") == name.npos);
  }
  CHECK(decaying(gpt).size() == 4);  // attention in and out, two layers of the feed-forward part

  const auto groups = optim::parameter_groups<optim::AdamWOptions>(
      gpt.parameters(), {{nn::without_weight_decay(gpt), {.weight_decay = 0}}}, {.weight_decay = 0.1});
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].parameters.size() == 4);
  CHECK(groups[0].parameters.size() + groups[1].parameters.size() == gpt.parameters().size());
  CHECK(optim::AdamW(groups).groups() == 2);
}

TEST_CASE("weight decay is for kernels and recurrent weights, not for what stands at positions") {
  const nn::VisionTransformer vit{nn::root, {.image = 8, .patch = 4, .dim = 4, .heads = 2, .layers = 1, .classes = 3}};
  for (const std::string& name : decaying(vit)) {
    CAPTURE(name);
    CHECK(name.find("bias") == name.npos);
    CHECK(name.find("pos_embedding") == name.npos);
    CHECK(name.find("class_token") == name.npos);
  }
  struct Net : nn::Module {
    nn::Conv2d conv{at("conv"), 2, 3, 3};
    nn::BatchNorm2d batch{at("batch"), 3};
    nn::LSTM lstm{at("lstm"), 3, 4};
    nn::LayerNorm table{at("table"), Shape{3, 4}};  // of two axes, and a norm all the same
    nn::RMSNorm rms{at("rms"), 4};
    nn::GroupNorm group{at("group"), 1, 3};
  } net;
  CHECK(decaying(net) == std::set<std::string>{"conv.weight", "lstm.weight_ih_l0", "lstm.weight_hh_l0"});
}

TEST_CASE("weight decay is not for positions of any axes and tables of biases; a user's layer says so itself") {
  struct Net : nn::Module {
    nn::SwinTransformer swin{at("swin"),
                             {.patch = 2, .dim = 4, .depths = {1}, .heads = {2}, .window = 2, .classes = 3}};
    nn::pytorch::MultiheadAttention attention{at("attention"), 4, 2, {.add_bias_kv = true}};
    const Tensor unbiased = param("unbiased", {4, 4}, nn::init::ones());
    const Tensor cls_token = param("cls_token", {1, 1, 4}, nn::init::zeros(), nn::Decay::no);
  } net;
  const std::set<std::string> decay = decaying(net);
  CHECK(decay.contains("unbiased"));
  for (const std::string& name : decay) {
    CAPTURE(name);
    CHECK((name == "unbiased" || name.ends_with("weight")));
    CHECK(name.find("norm") == name.npos);
  }
  CHECK(decay.contains("attention.in_proj_weight"));
}

}  // namespace
}  // namespace xgrad::testing
