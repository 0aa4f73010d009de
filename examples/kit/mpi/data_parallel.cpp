// The gradients of a step, their sum over the ranks, and all else that ranks keep equal.
#include <xgrad/kit/mpi/data_parallel.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include <xgrad/core/graph/grad.h>
#include <xgrad/core/graph/model_parameters.h>
#include <xgrad/core/graph/observe.h>
#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/program/fingerprint.h>

namespace xgrad::mpi {
namespace {

constexpr const char* op = "data_parallel";

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::vector<Array> values_of(const Tensors& tensors) {
  std::vector<Array> values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.value());
  return values;
}

// Gives tensors the values that they have on rank `from`.
void broadcast(World& world, const Tensors& tensors, int from = 0) {
  for (const Tensor& tensor : tensors) {
    Array value = tensor.value();
    world.broadcast(std::span(value.mutable_data(), at(value.size())), from);
    if (world.rank() != from) tensor.assign(std::move(value));
  }
}

std::string fingerprint_of(const Tensors& parameters, const nn::Module& model) {
  std::string text;
  std::int64_t numbers = 0;
  for (const Tensor& parameter : parameters) {
    append(text, str(parameter.name(), parameter.shape(), parameter.requires_grad(), ";"));
    numbers += parameter.size();
  }
  for (const auto& [name, buffer] : model.named_buffers()) append(text, str(name, buffer.shape(), ";"));
  return str(parameters.size(), " parameters of ", numbers, " numbers, mark ", kit::fingerprint(text));
}

std::string fingerprint_of(const StateFile& state) {
  std::uint64_t mark = kit::detail::mark_of(state.metadata);
  for (const auto& [name, any] : state.arrays) {
    mark = kit::detail::mark_of(name, mark);
    std::visit([&](const auto& array) { mark = kit::detail::mark_of(array, mark); }, any);
  }
  return str(state.text("optimizer"), ", mark ", mark);
}

// The state of the generator, which is to be the same on all ranks, but behind another DataParallel, which has given
// each rank a seed of its own: then rank 0's.
RandomState common_random_state(World& world) {
  RandomState state = random_state();
  const bool own = world.seed_of_rank == state.seed;
  world.agree("the random numbers differ",
              own ? std::string("of its rank") : str("seed ", state.seed, ", ", state.draws, " draws"));
  if (own) world.broadcast(std::span(&state, 1));
  return state;
}

}  // namespace

// Sums one list after another over all ranks, in buckets that go out as soon as they are complete.
class DataParallel::Exchange {
 public:
  Exchange(World& world, std::int64_t count, const Options& options) : world_(world), count_(at(count)) {
    const auto numbers_in = [](double mb) {
      return std::max<std::int64_t>(1, static_cast<std::int64_t>(mb * (1 << 20)) / static_cast<int>(sizeof(Real)));
    };
    std::int64_t size = numbers_in(options.first_bucket_mb);
    for (std::int64_t begin = 0; begin < count; begin = buckets_.back().end) {
      buckets_.push_back({.begin = begin, .end = std::min(count, begin + size), .missing = 0});
      size = numbers_in(options.bucket_mb);
    }
  }

  // The numbers of this rank, and behind finish() the sums. There is no memory for them before they are asked for.
  std::span<Real> numbers() {
    numbers_.resize(count_);
    return numbers_;
  }

  // Another list is going to be summed.
  void begin() {
    for (Bucket& bucket : buckets_) {
      bucket = {.begin = bucket.begin, .end = bucket.end, .missing = bucket.end - bucket.begin};
    }
    next_ = first_ = 0;
    in_pass_ = true;
    busy_since_.reset();
    report_ = {.buckets = static_cast<int>(buckets_.size())};
  }

  // Numbers begin ... end - 1 are complete.
  void ready(std::int64_t begin, std::int64_t end) {
    const auto overlaps = std::ranges::upper_bound(buckets_, begin, {}, &Bucket::end);
    for (auto bucket = overlaps; bucket != buckets_.end() && bucket->begin < end; ++bucket) {
      bucket->missing -= std::min(end, bucket->end) - std::max(begin, bucket->begin);
    }
    // In the order of the buckets, which is the same on all ranks.
    while (next_ < buckets_.size() && buckets_[next_].missing == 0) start(buckets_[next_++]);
  }

  // Lets the exchange go on between the rules of a pass.
  struct Progress : Observer {
    explicit Progress(Exchange& exchange) : of(exchange) {}
    void begin_gradients(const Node&, Duration) override {
      of.report_.started_during_pass = static_cast<int>(of.next_);
    }
    void end_gradients(const Node&, Duration) noexcept override { of.advance(); }
    Exchange& of;
  };

  // The pass has ended: sends what was not sent and waits for all.
  void finish() {
    const Clock::time_point end_of_pass = Clock::now();
    in_pass_ = false;
    while (next_ < buckets_.size()) start(buckets_[next_++]);
    while (first_ < buckets_.size()) advance();
    report_.waited = milliseconds_since(end_of_pass);
  }
  const ExchangeReport& report() const { return report_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Bucket {
    std::int64_t begin, end, missing;
    std::unique_ptr<detail::Pending> pending = {};
  };

  static double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  }
  void start(Bucket& bucket) {
    if (!busy_since_) busy_since_ = Clock::now();
    bucket.pending = world_.start_sum(std::span(numbers_).subspan(at(bucket.begin), at(bucket.end - bucket.begin)));
  }
  void advance() {
    for (std::size_t i = first_; i < next_; ++i) {
      Bucket& bucket = buckets_[i];
      if (!bucket.pending || !bucket.pending->done()) continue;
      bucket.pending.reset();
      if (in_pass_) ++report_.completed_during_pass;
    }
    while (first_ < next_ && !buckets_[first_].pending) ++first_;
    if (first_ == next_ && busy_since_) {
      report_.milliseconds += milliseconds_since(*busy_since_);
      busy_since_.reset();
    }
  }

  World& world_;
  const std::size_t count_;
  std::vector<Real> numbers_;
  std::vector<Bucket> buckets_;
  std::size_t next_ = 0;   // to be started
  std::size_t first_ = 0;  // that is not done
  bool in_pass_ = false;
  std::optional<Clock::time_point> busy_since_;
  ExchangeReport report_;
};

DataParallel::~DataParallel() = default;

DataParallel::DataParallel(World& world, const nn::Module& model, optim::Optimizer& optimizer, const Options& options)
    : DataParallel(world, model, &optimizer, options) {}

DataParallel::DataParallel(World& world, const nn::Module& model, const Options& options)
    : DataParallel(world, model, nullptr, options) {}

DataParallel::DataParallel(World& world, const nn::Module& model, optim::Optimizer* optimizer, const Options& options)
    : world_(world),
      options_(options),
      parameters_(optimizer ? optimizer->parameters() : model.parameters()),
      buffers_(model.buffers()),
      seed_(common_random_state(world)) {
  if (!(options.first_bucket_mb > 0) || !(options.bucket_mb > 0)) {
    fail<ValueError>(op, "buckets of ", options.first_bucket_mb, " and ", options.bucket_mb, " MiB");
  }
  const Tensors of_model = model.parameters();
  for (const Tensor& parameter : parameters_) {
    if (std::ranges::none_of(of_model, [&](const Tensor& one) {
          return xgrad::detail::Engine::node(one) == xgrad::detail::Engine::node(parameter);
        })) {
      fail<ValueError>(op, "the optimizer's parameter '", parameter.name(), "' is none of the model's");
    }
  }
  world_.agree("the models differ", fingerprint_of(parameters_, model));
  world_.agree("the options of DataParallel differ",
               str("buckets ", options.first_bucket_mb, " and ", options.bucket_mb));
  world_.agree("the optimizers differ", optimizer ? fingerprint_of(optimizer->state_dict()) : "none");
  if (!alone()) {
    broadcast(world_, parameters_);
    broadcast(world_, buffers_);
  }

  std::vector<std::int64_t> last_first(parameters_.size());
  std::iota(last_first.rbegin(), last_first.rend(), std::int64_t{0});
  lay_out(last_first);
  go_to(0);
}

// Gradients lie in the exchange in the order in which they become complete.
void DataParallel::lay_out(const std::vector<std::int64_t>& order) {
  begins_.resize(parameters_.size());
  std::int64_t count = 0;
  for (const std::int64_t i : order) {
    begins_[at(i)] = count;
    count += parameters_[at(i)].size();
  }
  exchange_ = std::make_unique<Exchange>(world_, count, options_);
}

RandomState DataParallel::random_of_step() const {
  const auto draws = static_cast<std::int64_t>(std::uint64_t{seed_.draws} << 32);
  return {.seed = mixed_seed(seed_.seed, steps_, world_.rank() | draws), .draws = 0};
}

void DataParallel::agree(std::string_view what, const std::string& text) { to_agree_.emplace_back(what, text); }

Tensors DataParallel::grad(const Tensor& loss, const Weight& weight) {
  Tensors gradients = weighted_mean(loss, weight);
  if (weight_ == 0) fail<ValueError>(op, "no rank has a loss of a weight above 0");
  return gradients;
}

// As grad(), but nothing where all weights are 0.
Tensors DataParallel::weighted_mean(const Tensor& loss, const Weight& weight) {
  const double here = weight.weight.value;
  if (!(here >= 0) || std::isinf(here)) fail<ValueError>(op, "a loss of weight ", here);
  if (here > 0 && loss.size() != 1) {
    fail<ShapeError>(op, "the loss has shape ", loss.shape(), ", not one element: take its sum() or mean()");
  }
  for (const auto& [what, text] : std::exchange(to_agree_, {})) world_.agree(what, text);
  handed_.assign(parameters_.size(), false);
  result_.assign(parameters_.size(), Tensor());
  exchange_->begin();
  const bool ran = here > 0;
  if (ran) differentiate(loss, static_cast<Real>(here));
  if (!alone()) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (!handed_[i]) hand_over(i, Array(parameters_[i].shape(), Real(0)), 0);
    }
    exchange_->finish();
    if (Observer::watching()) xgrad::detail::Notify::event("exchange");
  }
  report_ = exchange_->report();

  const double of_loss = ran ? (alone() ? 1 : here) * static_cast<double>(loss.item()) : 0;
  // Whether something was written to buffers since all ranks had the same.
  const bool changed = !std::ranges::equal(
      buffers_, common_buffers_, {}, [](const Tensor& x) { return x.value().data(); }, &Array::data);
  const std::vector<double> all = world_.sum(std::array{here, of_loss, ran ? 1.0 : 0.0, changed ? 1.0 : 0.0});
  weight_ = all[0];
  if (weight_ == 0) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i].assign(common_buffers_[i]);
    return {};
  }
  loss_ = alone() ? all[1] : all[1] / all[0];
  if (all[3] > 0) {
    if (!alone()) merge_buffers(ran, all[2]);
    common_buffers_ = values_of(buffers_);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (alone() || !parameters_[i].requires_grad()) continue;
    Array gradient(parameters_[i].shape());
    const Real* sum = exchange_->numbers().data() + begins_[i];
    const Real divisor = static_cast<Real>(all[0]);
    std::transform(sum, sum + gradient.size(), gradient.mutable_data(), [=](Real x) { return x / divisor; });
    result_[i] = std::move(gradient);
  }
  if (!laid_out_ && !alone()) {
    world_.broadcast(std::span(order_));
    lay_out(order_);
  }
  laid_out_ = true;
  go_to(steps_ + 1);
  return std::exchange(result_, {});
}

// Hooks hand gradients over as soon as they are complete, and behind the hooks of the program, which see the mean of
// this rank. A world of one needs no weight and no exchange.
void DataParallel::differentiate(const Tensor& loss, Real weight) {
  Tensors wanted;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].requires_grad()) continue;
    wanted.push_back(parameters_[i]);
    numbers.push_back(i);
  }
  if (alone()) {
    const Tensors found = xgrad::grad(loss, wanted, {.unused = Unused::zeros});
    for (std::size_t i = 0; i < found.size(); ++i) result_[numbers[i]] = found[i].value();
    return;
  }
  struct Hooks : std::vector<std::pair<Tensor, std::uint64_t>> {
    ~Hooks() {
      for (const auto& [parameter, id] : *this) parameter.remove_hook(id);
    }
  } hooks;
  for (const std::size_t i : numbers) {
    hooks.emplace_back(parameters_[i], parameters_[i].on_grad([=, this](const Tensor& gradient) {
      hand_over(i, gradient.value(), weight);
      return Tensor();
    }));
  }
  const Exchange::Progress progress(*exchange_);
  (void)xgrad::grad(loss, wanted, {.unused = Unused::zeros});
}

void DataParallel::hand_over(std::size_t i, const Array& gradient, Real weight) {
  const std::int64_t begin = begins_[i], end = begin + gradient.size();
  std::ranges::transform(gradient, exchange_->numbers().data() + begin, [=](Real g) { return g * weight; });
  handed_[i] = true;
  if (!laid_out_) order_.push_back(static_cast<std::int64_t>(i));
  exchange_->ready(begin, end);
}

// The mean of real buffers over the ranks that ran; buffers of integers are those of the first of these ranks.
void DataParallel::merge_buffers(bool ran, double ranks_that_ran) {
  Tensors averaged, copied;
  for (const Tensor& buffer : buffers_) {
    (xgrad::detail::ModelParameters::has_integers(buffer) ? copied : averaged).push_back(buffer);
  }
  std::vector<Real> flat;
  for (const Tensor& buffer : averaged) {
    const Array values = ran ? buffer.value() : Array(buffer.shape(), Real(0));
    flat.insert(flat.end(), values.begin(), values.end());
  }
  const auto pending = world_.start_sum(flat);
  while (!pending->done()) {
  }
  const Real* sum = flat.data();
  for (const Tensor& buffer : averaged) {
    Array mean(buffer.shape());
    std::transform(sum, sum + mean.size(), mean.mutable_data(),
                   [=](Real x) { return x / static_cast<Real>(ranks_that_ran); });
    sum += mean.size();
    buffer.assign(std::move(mean));
  }
  if (copied.empty()) return;
  const std::vector<std::string> who_ran = world_.gather(ran ? "ran" : "");
  broadcast(world_, copied, static_cast<int>(std::ranges::find(who_ran, "ran") - who_ran.begin()));
}

void DataParallel::go_to(std::int64_t step) {
  steps_ = step;
  common_buffers_ = values_of(buffers_);
  if (alone()) return;
  const RandomState own = random_of_step();
  world_.seed_of_rank = own.seed;
  set_random_state(own);
}

kit::GradientFunction DataParallel::for_trainer() {
  return [this](std::int64_t number, const std::function<kit::WeightedLoss()>& loss_of) {
    go_to(number);
    const kit::WeightedLoss here = loss_of();
    Tensors gradients = weighted_mean(here.loss, {.weight = here.weight});
    return kit::LossGradients{.loss = loss_, .weight = weight_, .gradients = std::move(gradients)};
  };
}

}  // namespace xgrad::mpi
