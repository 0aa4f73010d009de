// The parts of a step: gradients part by part, their sum over the ranks, and all else that ranks keep equal.
#include <xgrad/kit/mpi/data_parallel.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include <xgrad/core/graph/grad.h>
#include <xgrad/core/graph/model_parameters.h>
#include <xgrad/core/graph/observe.h>
#include <xgrad/kit/mpi/state.h>
#include <xgrad/kit/program/fingerprint.h>

namespace xgrad::mpi {
namespace {

constexpr const char* op = "data_parallel";

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

bool is_power_of_two(std::int64_t number) { return std::has_single_bit(static_cast<std::uint64_t>(number)); }

void add_to(Real* sum, const Array& terms) {
  for (const Real term : terms) *sum++ += term;
}

std::vector<Array> zeros_like(const Tensors& tensors) {
  std::vector<Array> zeros;
  for (const Tensor& tensor : tensors) zeros.emplace_back(tensor.shape(), Real(0));
  return zeros;
}

std::vector<Array> values_of(const Tensors& tensors) {
  std::vector<Array> values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.value());
  return values;
}

void broadcast(World& world, std::string& text, int from) {
  std::int64_t size = std::ssize(text);
  world.broadcast(std::span(&size, 1), from);
  text.resize(at(size));
  world.broadcast(std::span(text), from);
}

void wait_for(detail::Pending& pending) {
  while (!pending.done()) {
  }
}

void set_values(const Tensors& tensors, const std::vector<Array>& values) {
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].assign(values[i]);
}

// Whether nothing was written to tensors since these were their values.
bool same_values(const Tensors& tensors, const std::vector<Array>& values) {
  return std::ranges::equal(
      tensors, values, {}, [](const Tensor& x) { return x.value().data(); }, &Array::data);
}

// The state of the generator, which is to be the same on all ranks, but behind another DataParallel, which has given
// each rank a seed of its own: then rank 0's.
RandomState common_random_state(World& world) {
  RandomState state = random_state();
  const bool own = world.seed_of_rank == state.seed;
  world.agree("the random numbers differ",
              own ? std::string("of its rank") : cat("seed ", state.seed, ", ", state.draws, " draws"));
  if (own) world.broadcast(std::span(&state, 1));
  return state;
}

}  // namespace

// Lets the exchange go on between the rules of a pass.
class DataParallel::Progress : public Observer {
 public:
  explicit Progress(detail::Exchange& exchange) : exchange_(exchange) {}
  void begin_gradients(const Node&, Duration) override { exchange_.rule_begins(); }
  void end_gradients(const Node&, Duration) noexcept override { exchange_.advance(); }

 private:
  detail::Exchange& exchange_;
};

DataParallel::DataParallel(World& world, const nn::Module& model, optim::Optimizer& optimizer, const Options& options)
    : DataParallel(world, model, &optimizer, options) {}

DataParallel::DataParallel(World& world, const nn::Module& model, const Options& options)
    : DataParallel(world, model, nullptr, options) {}

DataParallel::DataParallel(World& world, const nn::Module& model, optim::Optimizer* optimizer, const Options& options)
    : world_(world),
      model_(model),
      optimizer_(optimizer),
      options_(options),
      parameters_(optimizer ? optimizer->parameters() : model.parameters()),
      seed_(common_random_state(world)) {
  if (options.parts != 0) {
    if (options.parts < 0 || !is_power_of_two(options.parts)) {
      fail<ValueError>(op, "parts ", options.parts, " is no power of two");
    }
    if (options.parts % world.ranks() != 0) {
      fail<ValueError>(op, world.ranks(), " ranks do not divide ", options.parts, " parts");
    }
  }
  if (options.bfloat16) {
    if (options.parts != 0) fail<ValueError>(op, "bfloat16 rounds at every exchange: bits cannot be those of one rank");
    if (!is_power_of_two(world.ranks())) {
      fail<ValueError>(op, "bfloat16 takes a power of two of ranks, not ", world.ranks());
    }
  }
  if (!(options.first_bucket_mb > 0) || !(options.bucket_mb > 0)) {
    fail<ValueError>(op, "buckets of ", options.first_bucket_mb, " and ", options.bucket_mb, " MiB");
  }
  if (options.shard_state && !optimizer) fail<ValueError>(op, "shard_state without an optimizer");
  const Tensors of_model = model.parameters();
  for (const Tensor& parameter : parameters_) {
    if (std::ranges::none_of(of_model, [&](const Tensor& one) { return one.node() == parameter.node(); })) {
      fail<ValueError>(op, "the optimizer's parameter '", parameter.name(), "' is none of the model's");
    }
  }
  for (const Tensor& buffer : model.buffers()) {
    (xgrad::detail::ModelParameters::is_whole(buffer.node().get()) ? copied_ : averaged_).push_back(buffer);
  }
  world_.agree("the models differ", fingerprint());
  world_.agree("the options of DataParallel differ",
               cat("parts ", options.parts, ", mean ", options.mean, ", bfloat16 ", options.bfloat16, ", shard_state ",
                   options.shard_state, ", overlap ", options.overlap, ", buckets ", options.first_bucket_mb, " and ",
                   options.bucket_mb, ", optimizer ", optimizer ? optimizer->state_dict().text("optimizer") : "none"));
  send_all_from_first();

  std::vector<std::size_t> by_size(parameters_.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::ranges::stable_sort(by_size, std::ranges::greater(), [&](std::size_t i) { return parameters_[i].size(); });
  owners_.resize(parameters_.size());
  std::vector<std::int64_t> load(at(world.ranks()));
  for (const std::size_t i : by_size) {
    const auto least = std::ranges::min_element(load);
    *least += parameters_[i].size();
    owners_[i] = static_cast<int>(least - load.begin());
  }

  std::vector<std::int64_t> last_first(parameters_.size());
  std::iota(last_first.rbegin(), last_first.rend(), std::int64_t{0});
  lay_out(last_first);
  go_to(0);
}

std::string DataParallel::fingerprint() const {
  std::string text;
  for (const Tensor& parameter : parameters_) {
    append(text, cat(parameter.name(), parameter.shape(), parameter.requires_grad(), ";"));
  }
  for (const auto& [name, buffer] : model_.named_buffers()) append(text, cat(name, buffer.shape(), ";"));
  std::int64_t numbers = 0;
  for (const Tensor& parameter : parameters_) numbers += parameter.size();
  return cat(parameters_.size(), " parameters of ", numbers, " numbers, mark ", kit::fingerprint(text));
}

void DataParallel::send_all_from_first() {
  if (world_.ranks() == 1) return;
  const auto send = [&](const Tensor& tensor) {
    Array value = tensor.value();
    world_.broadcast(std::span(value.mutable_data(), at(value.size())));
    if (!world_.first()) tensor.assign(std::move(value));
  };
  std::ranges::for_each(parameters_, send);
  std::ranges::for_each(averaged_, send);
  std::ranges::for_each(copied_, send);
  if (!optimizer_) return;
  std::string state = world_.first() ? detail::packed(optimizer_->state_dict()) : std::string();
  broadcast(world_, state, 0);
  if (!world_.first()) optimizer_->load_state_dict(detail::unpacked(state));
}

// Gradients lie in the exchange in the order in which they become complete.
void DataParallel::lay_out(const std::vector<std::int64_t>& order) {
  places_.assign(parameters_.size(), {0, 0});
  std::int64_t count = 0;
  for (const std::int64_t i : order) {
    const std::int64_t size = parameters_[at(i)].size();
    places_[at(i)] = {count, size};
    count += size;
  }
  exchange_.emplace(
      world_, count,
      detail::ExchangeOptions{.tree = options_.parts > 0,
                              .bfloat16 = options_.bfloat16,
                              .overlap = options_.overlap,
                              .first_bucket_bytes = static_cast<std::int64_t>(options_.first_bucket_mb * (1 << 20)),
                              .bucket_bytes = static_cast<std::int64_t>(options_.bucket_mb * (1 << 20))});
}

RandomState DataParallel::random_of(std::int64_t part) const {
  const auto draws = static_cast<std::int64_t>(std::uint64_t{seed_.draws} << 32);
  return {.seed = mixed_seed(seed_.seed, steps_, part | draws), .draws = 0};
}

void DataParallel::agree(std::string_view what, const std::string& text) { to_agree_.emplace_back(what, text); }

void DataParallel::check(const kit::WeightedLoss& loss) const {
  const double weight = loss.weight.value;
  if (!(weight >= 0) || std::isinf(weight)) fail<ValueError>(op, "a loss of weight ", weight);
  if (weight > 0 && loss.loss.size() != 1) {
    fail<ShapeError>(op, "the loss has shape ", loss.loss.shape(), ", not one element: take its sum() or mean()");
  }
}

// A world of one with one part is the library alone: nothing is weighted, sent or divided.
bool DataParallel::alone() const {
  return world_.ranks() == 1 && options_.parts == 0 && accumulated_.gradients.empty();
}

void DataParallel::begin() {
  for (const auto& [what, text] : std::exchange(to_agree_, {})) world_.agree(what, text);
  sums_.clear();
  handed_.assign(parameters_.size(), false);
  result_.assign(parameters_.size(), Tensor());
  exchange_->begin();
}

Tensors DataParallel::grad(const Tensor& loss, const Weight& weight) {
  if (parts_here() != 1) {
    fail<ValueError>(op, "a loss is one part, and .parts asks for ", parts_here(),
                     " a rank: give grad() the batch and a function");
  }
  check({loss, weight.weight});
  begin();
  part(0, {loss, weight.weight});
  return finish();
}

void DataParallel::accumulate(const Tensor& loss, const Weight& weight) {
  if (options_.parts > 0) fail<ValueError>(op, ".parts runs a batch piece by piece: ask for more parts instead");
  const kit::WeightedLoss given{loss, weight.weight};
  check(given);
  if (weight.weight.value == 0) return;
  std::vector<Array> gradients = zeros_like(parameters_);
  differentiate(given, true, [&](std::size_t i, const Array& gradient) { gradients[i] = gradient; });
  const double of_loss = (options_.mean ? weight.weight.value : 1) * static_cast<double>(loss.item());
  Sum sum{.gradients = std::move(gradients), .weight = weight.weight.value, .loss = of_loss};
  if (!accumulated_.gradients.empty()) sum += accumulated_;
  accumulated_ = std::move(sum);
}

double DataParallel::summed(const kit::WeightedLoss& loss) const {
  return (options_.mean && !alone() ? loss.weight.value : 1) * static_cast<double>(loss.loss.item());
}

// Calls ready(i, gradient) for each parameter that is not frozen when its gradient is complete.
void DataParallel::differentiate(const kit::WeightedLoss& loss, bool weighted, const Ready& ready) const {
  Tensors wanted;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].requires_grad()) continue;
    wanted.push_back(parameters_[i]);
    numbers.push_back(i);
  }
  GradOptions how{.unused = Unused::zeros};
  if (weighted && options_.mean) how.seed = Tensor(Array(loss.loss.shape(), static_cast<Real>(loss.weight.value)));
  how.ready = [&](const Tensor& x, const Tensor& gradient) {
    const auto found = std::ranges::find_if(wanted, [&](const Tensor& one) { return same(one, x); });
    ready(numbers[at(found - wanted.begin())], gradient.value());
  };
  xgrad::grad(loss.loss, wanted, how);
}

// Gradients of the last part go straight into the exchange, on top of the parts before.
void DataParallel::part(std::int64_t p, const kit::WeightedLoss& loss) {
  check(loss);
  if (loss.weight.value == 0) return empty_part(p);
  Sum sum{.weight = loss.weight.value, .loss = summed(loss), .ran = 1};
  if (alone()) {
    differentiate(loss, false, [&](std::size_t i, const Array& gradient) { result_[i] = gradient; });
  } else if (p + 1 == parts_here()) {
    std::optional<Progress> progress;
    if (options_.overlap && world_.ranks() > 1) progress.emplace(*exchange_);
    differentiate(loss, true, [&](std::size_t i, const Array& gradient) { hand_over(i, gradient); });
  } else {
    sum.gradients = zeros_like(parameters_);
    differentiate(loss, true, [&](std::size_t i, const Array& gradient) { sum.gradients[i] = gradient; });
  }
  sum.buffers = values_of(averaged_);
  if (sums_.empty() || sums_.front().ran == 0) whole_ = values_of(copied_);
  keep(p, std::move(sum));
}

void DataParallel::empty_part(std::int64_t p) {
  Sum sum{.buffers = zeros_like(averaged_)};
  if (p + 1 < parts_here()) sum.gradients = zeros_like(parameters_);
  keep(p, std::move(sum));
}

void DataParallel::hand_over(std::size_t i, const Array& gradient) {
  const auto [begin, size] = places_[i];
  Real* to = exchange_->numbers().data() + begin;
  std::copy_n(gradient.data(), size, to);
  for (auto sum = sums_.rbegin(); sum != sums_.rend(); ++sum) add_to(to, sum->gradients[i]);
  if (!accumulated_.gradients.empty()) add_to(to, accumulated_.gradients[i]);
  handed_[i] = true;
  if (!laid_out_) order_.push_back(static_cast<std::int64_t>(i));
  exchange_->ready(begin, begin + size);
}

// A binary counter: sums of as many parts are added, the earlier ones first.
void DataParallel::keep(std::int64_t p, Sum sum) {
  if (p + 1 == parts_here()) {
    for (std::size_t i = 0; i < parameters_.size() && !alone(); ++i) {
      if (!handed_[i]) hand_over(i, Array(parameters_[i].shape(), Real(0)));
    }
    for (Sum& earlier : sums_) earlier.gradients.clear();
  } else {
    set_values(averaged_, common_averaged_);
    set_values(copied_, common_copied_);
  }
  for (std::int64_t count = p + 1; count % 2 == 0; count /= 2) {
    sum += sums_.back();
    sums_.pop_back();
  }
  sums_.push_back(std::move(sum));
}

DataParallel::Sum& DataParallel::Sum::operator+=(const Sum& other) {
  for (std::size_t i = 0; i < gradients.size(); ++i) add_to(gradients[i].mutable_data(), other.gradients[i]);
  for (std::size_t i = 0; i < buffers.size(); ++i) add_to(buffers[i].mutable_data(), other.buffers[i]);
  weight += other.weight;
  loss += other.loss;
  ran += other.ran;
  return *this;
}

Tensors DataParallel::finish() {
  const bool by_itself = alone();
  if (!by_itself) {
    exchange_->finish();
    if (Observer::watching()) xgrad::detail::Shown::work("exchange");
  }
  report_ = exchange_->report();
  Sum mine = std::move(sums_.front());
  mine.weight += accumulated_.weight;
  mine.loss += accumulated_.loss;
  const bool changed = !same_values(averaged_, common_averaged_) || !same_values(copied_, common_copied_);
  const std::vector<double> all = world_.sum(std::array{mine.weight, mine.loss, mine.ran, changed ? 1.0 : 0.0});
  if (!(all[0] > 0)) {
    set_values(averaged_, common_averaged_);
    set_values(copied_, common_copied_);
    fail<ValueError>(op, "no rank has a loss of a weight above 0");
  }
  weight_ = all[0];
  loss_ = options_.mean && !by_itself ? all[1] / all[0] : all[1];
  if (all[3] > 0) {
    if (!by_itself) merge_buffers(mine, all[2]);
    common_averaged_ = values_of(averaged_);
    common_copied_ = values_of(copied_);
  }
  for (std::size_t i = 0; i < parameters_.size() && !by_itself; ++i) {
    if (!parameters_[i].requires_grad()) continue;
    Array gradient(parameters_[i].shape());
    const Real* sum = exchange_->numbers().data() + places_[i].begin;
    const Real divisor = options_.mean ? static_cast<Real>(all[0]) : Real(1);
    std::transform(sum, sum + gradient.size(), gradient.mutable_data(), [=](Real x) { return x / divisor; });
    result_[i] = std::move(gradient);
  }
  if (!laid_out_ && world_.ranks() > 1) {
    world_.broadcast(std::span(order_));
    lay_out(order_);
  }
  laid_out_ = true;
  go_to(steps_ + 1);
  return std::exchange(result_, {});
}

void DataParallel::merge_buffers(const Sum& mine, double ran) {
  std::vector<Real> flat;
  for (const Array& values : mine.buffers) flat.insert(flat.end(), values.begin(), values.end());
  if (options_.parts > 0) {
    detail::TreeSum sum(world_, flat, 0, false);
    wait_for(sum);
  } else {
    wait_for(*world_.start_sum(flat));
  }
  const Real* sum = flat.data();
  for (const Tensor& buffer : averaged_) {
    Array mean(buffer.shape());
    std::transform(sum, sum + mean.size(), mean.mutable_data(), [=](Real x) { return x / static_cast<Real>(ran); });
    sum += mean.size();
    buffer.assign(std::move(mean));
  }
  if (copied_.empty()) return;
  const std::vector<std::string> who_ran = world_.gather(mine.ran > 0 ? "ran" : "");
  const auto from = static_cast<int>(std::ranges::find(who_ran, "ran") - who_ran.begin());
  for (std::size_t i = 0; i < copied_.size(); ++i) {
    Array value = world_.rank() == from ? whole_[i] : Array(copied_[i].shape());
    world_.broadcast(std::span(value.mutable_data(), at(value.size())), from);
    copied_[i].assign(std::move(value));
  }
}

void DataParallel::go_to(std::int64_t step) {
  accumulated_ = {};
  steps_ = step;
  common_averaged_ = values_of(averaged_);
  common_copied_ = values_of(copied_);
  if (alone()) return;
  const RandomState own = random_of(first_part());
  world_.seed_of_rank = own.seed;
  set_random_state(own);
}

kit::GradientFunction DataParallel::for_trainer() {
  if (sharded()) fail<ValueError>(op, "a trainer keeps the whole optimizer's state: no shard_state");
  return [this](std::int64_t number, const std::function<kit::WeightedLoss()>& loss_of) {
    go_to(number);
    const kit::WeightedLoss here = loss_of();
    Tensors gradients = grad(here.loss, {.weight = here.weight});
    return kit::LossGradients{.loss = loss_, .weight = weight_, .gradients = std::move(gradients)};
  };
}

optim::StepReport DataParallel::step(const Tensors& gradients) {
  if (!optimizer_) fail<ValueError>(op, "no optimizer was given");
  if (!sharded()) return optimizer_->step(gradients);
  Tensors own = gradients;
  for (std::size_t i = 0; i < std::min(own.size(), owners_.size()); ++i) {
    if (owners_[i] != world_.rank()) own[i] = Tensor();
  }
  const optim::StepReport report = optimizer_->step(own);
  for (int rank = 0; rank < world_.ranks(); ++rank) {
    std::vector<Real> flat;
    const auto each = [&](const auto& f) {
      for (std::size_t i = 0; i < parameters_.size(); ++i) {
        if (owners_[i] == rank && gradients[i].defined()) f(parameters_[i]);
      }
    };
    if (rank == world_.rank()) {
      each([&](const Tensor& x) { flat.insert(flat.end(), x.value().begin(), x.value().end()); });
    } else {
      std::int64_t count = 0;
      each([&](const Tensor& x) { count += x.size(); });
      flat.resize(at(count));
    }
    world_.broadcast(std::span(flat), rank);
    if (rank == world_.rank()) continue;
    const Real* from = flat.data();
    each([&](const Tensor& x) {
      std::copy_n(from, x.size(), x.mutable_value().mutable_data());
      from += x.size();
    });
  }
  return report;
}

// The entries of a parameter in an optimizer's state: its name, a dot, and a word.
std::vector<std::string> DataParallel::entries_of(const StateFile& state, std::size_t i) const {
  const std::string prefix = parameters_[i].name() + ".";
  std::vector<std::string> found;
  for (auto at = state.arrays.lower_bound(prefix); at != state.arrays.end() && at->first.starts_with(prefix); ++at) {
    if (at->first.find('.', prefix.size()) == std::string::npos) found.push_back(at->first);
  }
  return found;
}

StateFile DataParallel::state_dict() {
  if (!optimizer_) fail<ValueError>(op, "no optimizer was given");
  StateFile state = optimizer_->state_dict();
  if (!sharded()) return state;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (owners_[i] == world_.rank()) continue;
    for (const std::string& name : entries_of(state, i)) state.arrays.erase(name);
  }
  for (int rank = 1; rank < world_.ranks(); ++rank) {
    std::string bytes = rank == world_.rank() ? detail::packed({.arrays = state.arrays}) : std::string();
    broadcast(world_, bytes, rank);
    if (world_.first()) state.arrays.merge(detail::unpacked(bytes).arrays);
  }
  return state;
}

void DataParallel::load_state_dict(const StateFile& state) {
  if (!optimizer_) fail<ValueError>(op, "no optimizer was given");
  if (!sharded()) return optimizer_->load_state_dict(state);
  StateFile own = state;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (owners_[i] == world_.rank()) continue;
    for (const std::string& name : entries_of(own, i)) own.arrays.erase(name);
    own.arrays[parameters_[i].name() + ".step"] = Index({}, std::int64_t{0});
  }
  optimizer_->load_state_dict(own);
}

}  // namespace xgrad::mpi
