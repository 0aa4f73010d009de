// The training loop.
#include "training.h"

#include <vector>

namespace translate {

using namespace xgrad;

Tensor batch_loss(const Translator& model, const kit::CorpusBatch& batch, std::int64_t pad) {
  const Tensor logits = model(batch.source, batch.source_lengths, batch.target_in);  // (B, T, V)
  const Tensor total = cross_entropy(logits, batch.target_out, {.ignore_index = pad, .reduction = Reduction::sum});
  return total / static_cast<Real>(batch.target_out.dim(1));
}

namespace {

std::string vocabulary(const kit::Corpus& data) {
  return cat(data.source_vocab().size(), " and ", data.target_vocab().size());
}

}  // namespace

Trainer::Trainer(const Config& config, const kit::Corpus& data, const Translator& model, std::uint64_t seed)
    : config_(config),
      data_(data),
      model_(model),
      seed_(seed),
      parameters_(model.parameters()),
      adam_(parameters_, {.lr = config.learning_rate}) {}

Epoch Trainer::run_epoch() {
  // A stream of its own: the order does not depend on how many numbers dropout has drawn.
  const Index order =
      random_permutation(data_.size(), {.seed = seed_ ^ 0x6f72646572, .draw = static_cast<std::uint64_t>(epoch_)});
  Epoch result;
  for (std::int64_t begin = 0; begin < order.size(); begin += config_.batch) {
    const std::int64_t end = std::min(begin + config_.batch, order.size());
    const std::vector<std::size_t> rows(order.begin() + begin, order.begin() + end);
    const kit::CorpusBatch batch = data_.batch(rows);
    const Tensor loss = batch_loss(model_, batch, data_.pad());
    adam_.step(optim::clip_grad_norm(grad(loss, parameters_), parameters_, config_.clip).gradients);
    result.loss += loss.item();
    result.tokens += batch.tokens;
  }
  result.loss /= static_cast<double>(result.tokens);
  loss_ = result.loss;
  ++epoch_;
  return result;
}

void Trainer::save(const std::filesystem::path& path) const {
  StateFile file;
  file.add("model", {.arrays = model_.state_dict()});
  file.add("optimizer", adam_.state_dict());
  file.metadata["epoch"] = cat(epoch_);
  file.metadata["loss"] = cat(loss_);
  file.metadata["seed"] = cat(seed_);
  file.metadata["random.seed"] = cat(random_state().seed);
  file.metadata["random.draws"] = cat(random_state().draws);
  file.metadata["vocabulary"] = vocabulary(data_);
  save_safetensors(path.string(), file);
}

namespace {

template <class Number>
Number number(const StateFile& file, std::string_view key) {
  const std::string& text = file.text(key);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail<FormatError>("checkpoint", key, " is no number: ", text);
  }
  return value;
}

}  // namespace

void Trainer::load(const std::filesystem::path& path) {
  const StateFile file = load_safetensors(path.string());
  if (file.text("vocabulary") != vocabulary(data_)) {
    fail<FormatError>("checkpoint", "vocabularies of ", file.text("vocabulary"), " words, these data have ",
                      vocabulary(data_));
  }
  const auto epoch = number<std::int64_t>(file, "epoch");
  const auto loss = number<double>(file, "loss");
  const std::uint64_t seed = number<std::uint64_t>(file, "seed");
  const RandomState random{.seed = number<std::uint64_t>(file, "random.seed"),
                           .draws = number<std::uint64_t>(file, "random.draws")};
  model_.load_state_dict(file.part("model").arrays);
  adam_.load_state_dict(file.part("optimizer"));
  set_random_state(random);
  epoch_ = epoch;
  loss_ = loss;
  seed_ = seed;
}

}  // namespace translate
