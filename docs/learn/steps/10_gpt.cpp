// Step 10: a GPT.
//
// A GPT combines the parts of the earlier steps. Tokens and positions become vectors. Each block applies attention,
// then a feed-forward network, each after a layer norm and inside a residual connection. The last vector predicts the
// next character. The model memorises a nursery rhyme and writes it.
#include "attention.h"

const std::string text =
    "mary had a little lamb, its fleece was white as snow, and everywhere that mary went, the lamb was sure to go. ";

// Each row with mean 0 and variance 1, then scaled and shifted by parameters.
struct LayerNorm : Module {
  const Tensor weight, bias;
  LayerNorm(const At& here, int dim)
      : Module(here),
        weight(param("weight", map(zeros(1, dim), [](double) { return 1; }))),
        bias(param("bias", zeros(1, dim))) {}
  Tensor operator()(const Tensor& x) const {
    const double dim = x.value().cols;
    const Tensor centred = x - sum_rows(x) / dim;
    return centred / sqrt(sum_rows(centred * centred) / dim + 1e-5) * weight + bias;
  }
};

struct Block : Module {
  LayerNorm norm1, norm2;
  Attention attn;
  Linear fc1, fc2;
  Block(const At& here, int dim, int heads)
      : Module(here),
        norm1(at("norm1"), dim),
        norm2(at("norm2"), dim),
        attn(at("attn"), dim, heads),
        fc1(at("fc1"), dim, 4 * dim),
        fc2(at("fc2"), 4 * dim, dim) {}
  Tensor operator()(const Tensor& x) const {
    const Tensor h = x + attn(norm1(x));
    return h + fc2(tanh(fc1(norm2(h))));
  }
};

struct Gpt : Module {
  const int context;
  Embedding token, position;
  std::list<Block> blocks;
  LayerNorm norm;
  Linear out;
  Gpt(int vocabulary, int context, int dim, int heads, int layers)
      : context(context),
        token(at("token"), vocabulary, dim),
        position(at("position"), context, dim),
        norm(at("norm"), dim),
        out(at("out"), dim, vocabulary) {
    for (int i = 0; i < layers; ++i) blocks.emplace_back(at("blocks." + std::to_string(i)), dim, heads);
  }
  Tensor operator()(const Ids& ids) const {  // (T) -> logits (T, V)
    Tensor x = token(ids) + position(first(static_cast<int>(ids.size())));
    for (const Block& block : blocks) x = block(x);
    return out(norm(x));
  }
};

int main() {
  std::string characters = text;
  std::sort(characters.begin(), characters.end());
  characters.erase(std::unique(characters.begin(), characters.end()), characters.end());
  const int vocabulary = static_cast<int>(characters.size());
  Ids ids;
  for (const char c : text) ids.push_back(static_cast<int>(characters.find(c)));

  const int context = 12, batch = 4;
  const Gpt model(vocabulary, context, 32, 4, 1);
  std::size_t count = 0;
  for (const Tensor& parameter : model.parameters()) count += parameter.value().v.size();
  std::printf("%zu characters, %d different ones, %zu parameters\n", ids.size(), vocabulary, count);
  std::printf("guessing has the loss ln %d = %.2f\n", vocabulary, std::log(vocabulary));

  Adam adam{model.parameters(), 0.01};
  std::mt19937 generator(1);
  double average = 0;
  for (int step = 0; step <= 300; ++step) {
    adam.lr = 0.01 * (1 - step / 301.0);
    Tensor loss = 0;
    for (int i = 0; i < batch; ++i) {
      const auto begin = ids.begin() + static_cast<long>(generator() % (ids.size() - context));
      loss = loss + cross_entropy(model(Ids(begin, begin + context)), Ids(begin + 1, begin + context + 1)) / batch;
    }
    average = step == 0 ? loss.item() : 0.95 * average + 0.05 * loss.item();
    if (step % 50 == 0) std::printf("step %3d  loss %.2f\n", step, average);
    adam.step(grad(loss, adam.parameters));
  }

  std::string written = text.substr(0, context);
  while (written.size() < 110) {
    Ids last;
    for (const char c : written.substr(written.size() - std::min<std::size_t>(written.size(), context))) {
      last.push_back(static_cast<int>(characters.find(c)));
    }
    const Matrix logits = model(last).value();
    const auto row = logits.v.end() - vocabulary;  // of the last position
    written += characters[static_cast<std::size_t>(std::max_element(row, logits.v.end()) - row)];
  }
  std::printf("%s\n", written.c_str());
  return average < std::log(vocabulary) / 4 && text.find(written.substr(60, 40)) != std::string::npos ? 0 : 1;
}
