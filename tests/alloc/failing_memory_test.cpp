// Every request for memory fails once, in everything that a program does with a model: all is as it was before, nothing
// is lost, and the next attempt does what the first should have done.
#include "failing.h"
#include "nn/catalogue.h"
#include "support/catalogue.h"
#include "support/check.h"
#include "support/files.h"
#include "support/thorough.h"
#include "support/threads.h"

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include <xgrad/core/diagram/render/drawing.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/core/profile/profile.h>
#include <xgrad/core/runtime/parallel.h>
#include <xgrad/kit/data/prefetcher.h>
#include <xgrad/nn/nn.h>
#include <xgrad/ops/derivatives/checkpoint.h>
#include <xgrad/ops/ops.h>
#include <xgrad/optim/optim.h>

namespace xgrad::testing {
namespace {

// The visible state of a subject, number by number.
using Picture = std::vector<double>;

void add(Picture& picture, const AnyArray& array) {
  std::visit(
      [&](const auto& values) {
        for (const std::int64_t size : values.shape()) picture.push_back(static_cast<double>(size));
        for (const auto value : values) picture.push_back(static_cast<double>(value));
      },
      array);
}

void add(Picture& picture, const NamedArrays& arrays) {
  for (const auto& [name, array] : arrays) add(picture, array);
}

template <class Values>
Picture picture_of(const Values& values) {
  Picture picture;
  add(picture, values);
  return picture;
}

// Something that is done to a subject. make() gives a new one, always the same; act(subject) does it; look(subject) is
// what must be as before when act fails. Of its requests for memory every `step`th fails, from number `first` on.
template <class Make, class Act, class Look>
void check_each_failure(const Make& make, const Act& act, const Look& look, std::int64_t first = 1, std::int64_t step = 1) {
  Picture after;
  for (int warm_up = 0; warm_up < 2; ++warm_up) {
    const auto subject = make();
    act(*subject);
    after = look(*subject);
  }
  for (const auto refuse : {FailingMemory::Refuse::one, FailingMemory::Refuse::rest}) {
    bool all = false;
    int failures = 0, repeats = 0;
    for (std::int64_t number = first; !all; number += step) {
      CAPTURE(number);
      const std::int64_t blocks = blocks_in_use(), nodes = live_node_count();
      {
        const auto subject = make();
        const Picture before = look(*subject);
        bool failed = false;
        {
          const FailingMemory memory(number, refuse);
          try {
            act(*subject);
          } catch (const std::exception&) {
            failed = true;
          }
          all = !memory.reached();
        }
        if (failed) {
          ++failures;
          REQUIRE(look(*subject) == before);
          act(*subject);
        }
        REQUIRE(look(*subject) == after);
      }
      REQUIRE(live_node_count() == nodes);
      // What is made for the first time stays, once: scratch memory of a thread that takes part in shared work, and what
      // the first failure needs. What leaks leaks again.
      if (blocks_in_use() != blocks && ++repeats < 20) {
        number -= step;
        continue;
      }
      repeats = 0;
      REQUIRE(blocks_in_use() == blocks);
    }
    // A block that the system refuses once is asked for again, when everything that waits has gone back to it.
    if (refuse == FailingMemory::Refuse::rest) CHECK(failures > 0);
  }
}

// The same for a subject that has a picture.
template <class Make, class Act>
void check_each_failure(const Make& make, const Act& act) {
  check_each_failure(make, act, [](const auto& subject) { return subject.picture(); });
}

// The step where there are many requests: a fifth of them fails, or all do.
const std::int64_t coarse = thorough() ? 1 : 5;

// Always of the same draws.
template <class Subject>
std::unique_ptr<Subject> seeded() {
  manual_seed(1);
  return std::make_unique<Subject>();
}

// ---- Operations ----

// A call of every operation, of several with shared inputs, and of a checkpoint whose function has captured a leaf.
std::vector<Call> calls() {
  std::vector<Call> all = all_calls(3, 4);
  const std::vector<Input> inputs{{{3, 4}, 0.2, 2}, {{3, 4}}};
  all.push_back({"arithmetic", inputs, {3, 4}, [](const Tensors& x) {
                   return maximum(x[0] * x[1] + x[1] / x[0], pow(x[0], 3) - x[1][0]);
                 }});
  all.push_back({"checkpoint, captures", inputs, {3, 4}, [](const Tensors& x) {
                   return checkpoint([w = x[1]](const Tensor& a) { return tanh(a * w); }, x[0]);
                 }});
  return all;
}

Picture gradients_of(const Tensors& leaves) {
  Picture picture;
  for (const Tensor& one : leaves) {
    picture.push_back(one.has_grad());
    if (one.has_grad()) add(picture, one.grad().value());
  }
  return picture;
}

TEST_CASE("memory that runs out in an operation or its backward pass changes no gradient") {
  for (const Call& call : calls()) {
    CAPTURE(call.name);
    check_each_failure(
        [&] {
          auto x = std::make_unique<Tensors>(call.leaves());
          x->back().backward({.seed = normal(x->back().shape(), 6)});  // one gradient is there already
          return x;
        },
        [&](const Tensors& x) { sum(call.run(x)).backward(); }, gradients_of);
  }
}

Tensors some_leaves() { return {variable(normal({3, 4})), variable(normal({4, 2}, 2)), variable(normal({4}, 3))}; }

TEST_CASE("memory that runs out in a backward pass of a graph that is kept does not spoil the graph") {
  struct Graph {
    Tensors x = some_leaves();
    Tensor y = sum(tanh(matmul(x[0], x[1]))) + sum(layer_norm(x[0], x[2], x[2]) * x[0]);
  };
  check_each_failure([] { return std::make_unique<Graph>(); },
                     [](const Graph& graph) { graph.y.backward({.retain_graph = true}); },
                     [](const Graph& graph) { return gradients_of(graph.x); });
}

TEST_CASE("memory that runs out in a recorded backward pass, or in that of it, changes no gradient") {
  for (std::int64_t first = 1; const Call& call : calls()) {
    CAPTURE(call.name);
    check_each_failure([&] { return std::make_unique<Tensors>(call.leaves()); },
                       [&](const Tensors& x) {
                         const Tensor y = call.run(x);
                         Tensor sum_of_squares(0);
                         for (const Tensor& g : grad(sum(y * y), x, {.create_graph = true, .unused = Unused::zeros})) {
                           sum_of_squares = sum_of_squares + sum(g * g);
                         }
                         if (sum_of_squares.requires_grad()) sum_of_squares.backward();
                       },
                       gradients_of, first, coarse);
    first = first % coarse + 1;
  }
}

TEST_CASE("memory that runs out in timing, printing or drawing spoils nothing") {
  check_each_failure([] { return std::make_unique<Tensors>(some_leaves()); },
                     [](const Tensors& x) {
                       Profile profile;
                       const Tensor y = sum(tanh(x[0] * x[2]));
                       grad(y, {x[0], x[2]});
                       profile.lines();
                       to_string(y);
                       to_string(x[0].value());
                     },
                     gradients_of);
}

TEST_CASE("memory that runs out in work that threads share changes no gradient") {
  struct Large {
    Tensor a = variable(normal({160, 200}, 1), "a"), b = variable(normal({200, 160}, 2), "b"),
           q = variable(normal({4, 70, 16}, 3), "q");
  };
  const ThreadCount three(3);
  const Index targets = randint(0, 160, {160}, {1, 2});
  const std::vector<std::function<Tensor(const Large&)>> shared{
      [&](const Large& x) { return cross_entropy(matmul(x.a, x.b), targets); },
      [](const Large& x) { return layer_norm(x.a) * tanh(x.a) + softmax(x.a, 0); },
      [](const Large& x) { return cumsum(x.a, 1) + sum(x.b) + max(x.a, Axes{0}) + var(x.a, 0); },
      [](const Large& x) { return multi_head_attention(x.q, x.q, x.q, 2, {.mask = nn::causal}); },
      [](const Large& x) {
        return index_select(x.a, 1, argsort(x.b[{_, 0}])) + transpose(x.b, 0, 1);
      },
  };
  for (const auto& run : shared) {
    check_each_failure([] { return std::make_unique<Large>(); }, [&](const Large& x) { sum(run(x)).backward(); },
                       [](const Large& x) {
                         Picture picture;
                         for (const Tensor& one : {x.a, x.b, x.q}) picture.push_back(one.has_grad());
                         return picture;
                       },
                       1, coarse);
  }
}

TEST_CASE("memory that runs out while threads are started leaves fewer of them, which do all the work") {
  struct Work {
    std::int64_t done = 0;
    Picture picture() const { return {static_cast<double>(done)}; }
  };
  const auto make = [] { return std::make_unique<Work>(); };
  check_each_failure(make, [](Work& work) {
    std::atomic<std::int64_t> sum = 0;
    kit::Prefetcher jobs({.count = 6, .workers = 3, .ahead = 2},
                         [&](std::int64_t k, const kit::Prefetcher&) { sum += k; });
    for (int k = 0; k < 6; ++k) {
      jobs.wait();
      jobs.release();
    }
    work.done = sum;
  });
  const ThreadCount four(4);
  check_each_failure(make, [](Work& work) {
    set_threads(3);
    set_threads(4);  // started anew
    std::atomic<std::int64_t> sum = 0;
    parallel_for(8, 1, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    work.done = sum;
  });
}

// ---- Training ----

TEST_CASE("memory that runs out in a layer or its backward pass changes no gradient and no statistics") {
  for (const LayerRow& row : layer_rows()) {
    CAPTURE(row.name);
    const auto make = [&] {
      manual_seed(1);
      return row.make();
    };
    const auto made = make();
    const std::size_t parameters = made->parameters().size();
    if (parameters == 0 || (parameters > 8 && !thorough())) continue;  // models take their time
    const bool statistics = !made->buffers().empty();
    const std::int64_t batch = row.least + 2;
    std::vector<Array> inputs;
    for (Shape shape : row.inputs) {
      shape[0] = batch;
      inputs.push_back(normal(shape, 7));
    }
    const auto act = [&](const nn::Module& module) {
      manual_seed(3);
      Tensors xs;
      for (const Array& input : inputs) xs.push_back(variable(input));
      const Tensor y = row.run(module, xs, batch);
      if (!statistics) sum(y).backward();  // statistics have moved when this fails
    };
    // Those of a layer inside have moved when what comes after it fails.
    const auto look = [](const nn::Module& module) {
      Picture picture = gradients_of(module.parameters());
      for (const auto& [name, buffer] : module.named_buffers()) {
        if (name.find('.') == std::string::npos) add(picture, buffer.value());
      }
      return picture;
    };
    check_each_failure(make, act, look, 1, coarse);
  }
}

// Two parameters after some steps; others hold their numbers, gradients and moments, too. Muon takes matrices alone.
template <class Optimizer>
struct Training {
  static constexpr bool matrices = std::is_same_v<Optimizer, optim::Muon>;
  const Shape shape = matrices ? Shape{1, 4} : Shape{4};
  Tensor a = variable(normal({3, 2}), "a"), b = variable(normal(shape, 2), "b"),
         idle = variable(Array(matrices ? Shape{1, 1} : Shape{}, Real(1)), "idle");
  Tensors parameters{a, b, idle};
  Array gradient = normal({3, 2}, 3);
  Optimizer optimizer;
  optim::Scheduler scheduler{optimizer, optim::schedule::warmup(3, optim::schedule::cosine({.steps = 6}))};
  StateFile moments;
  std::vector<Array> held;

  Training(const typename Optimizer::Options& options, int steps) : optimizer(parameters, options) {
    a.backward({.seed = gradient});
    b.backward({.seed = normal(shape, 4)});
    for (int i = 0; i < steps; ++i) optimizer.step();
    moments = optimizer.state_dict();
    held = {a.value(), b.value(), a.grad().value(), b.grad().value()};
  }
  Picture picture() const {
    Picture picture = gradients_of(parameters);
    for (const Tensor& parameter : parameters) add(picture, parameter.value());
    add(picture, optimizer.state_dict().arrays);
    add(picture, scheduler.state_dict().arrays);
    picture.push_back(optimizer.lr());
    return picture;
  }
};

template <class Optimizer, class Act>
void check_training(const typename Optimizer::Options& options, int steps, const Act& act) {
  using Subject = Training<Optimizer>;
  check_each_failure([&] { return std::make_unique<Subject>(options, steps); }, act);
}

TEST_CASE("memory that runs out in a step changes no parameter, no moment and no count") {
  for (const int steps : {0, 2}) {
    const auto step = [](auto& subject) { subject.optimizer.step(); };
    check_training<optim::Adam>({}, steps, step);
    check_training<optim::AdamW>({}, steps, step);
    check_training<optim::SGD>({}, steps, step);
    check_training<optim::SGD>({.momentum = 0.9, .nesterov = true}, steps, step);
    check_training<optim::Adam>({.amsgrad = true}, steps, step);
    check_training<optim::RMSprop>({.momentum = 0.9, .centered = true}, steps, step);
    check_training<optim::Muon>({}, steps, step);
  }
}

TEST_CASE("memory that runs out in an update of a moving average, or while weights are swapped, changes nothing") {
  struct Averaged {
    Tensor a = variable(normal({3, 2}), "a"), b = variable(normal({4}, 2), "b");
    optim::ExponentialMovingAverage average{{a, b}, {.decay = 0.5}};
    std::vector<Array> held;

    explicit Averaged(int updates) {
      for (int i = 0; i < updates; ++i) {
        average.update();
        a.update([](Array& x) { x.mutable_data()[0] += 1; });
      }
      held = average.averages();
      held.push_back(a.value());
    }
    Picture picture() const {
      Picture picture;
      add(picture, a.value());
      add(picture, b.value());
      add(picture, average.state_dict().arrays);
      return picture;
    }
  };
  const auto after_two = [] { return std::make_unique<Averaged>(2); };
  check_each_failure(after_two, [](Averaged& x) { x.average.update(); });
  check_each_failure(after_two, [](Averaged& x) { const optim::AveragedWeights averaged(x.average); });
}

TEST_CASE("memory that runs out while gradients are clipped changes none of them") {
  check_training<optim::SGD>({}, 0, [](auto& subject) { optim::clip_grad_norm(subject.parameters, 0.1); });
  check_training<optim::SGD>({}, 0, [](auto& subject) {
    const Tensors gradients{subject.a.grad(), subject.b.grad(), Tensor()};
    optim::clip_grad_norm(gradients, subject.parameters, 0.1);
  });
}

TEST_CASE("memory that runs out in a schedule's step changes neither its count nor a rate") {
  check_training<optim::SGD>({}, 0, [](auto& subject) { subject.scheduler.step(); });
}

TEST_CASE("memory that runs out while states are put together changes none of them") {
  check_each_failure(
      [] {
        return std::make_unique<StateFile>(
            StateFile{.arrays = {{"w", Array({2}, {1, 2})}}, .metadata = {{"epoch", "3"}}});
      },
      [](StateFile& state) { state.add("again", StateFile(state)); },
      [](const StateFile& state) {
        Picture picture{static_cast<double>(state.metadata.size())};
        add(picture, state.arrays);
        return picture;
      });
}

TEST_CASE("memory that runs out while a state is taken or loaded changes nothing") {
  check_training<optim::Adam>({}, 2, [](auto& subject) {
    StateFile state = subject.optimizer.state_dict();
    state.arrays["a.step"] = Index({}, 7);
    state.metadata["lr.0"] = "0.25";
    state.add("scheduler", {.arrays = {{"steps", Index({}, 4)}}, .metadata = {}});
    const StateFile scheduler = state.part("scheduler");
    state.arrays.erase("scheduler.steps");
    subject.optimizer.load_state_dict(state);
  });
  check_training<optim::Adam>({}, 2, [](auto& subject) {
    subject.scheduler.load_state_dict({.arrays = {{"steps", Index({}, 4)}}, .metadata = {}});
  });
}

// ---- Files ----

// A layer in a file, and another layer.
struct Saved {
  TemporaryFolder folder;
  std::string path = folder / "layer";
  nn::BatchNorm1d layer{nn::root, 2};

  explicit Saved(const std::string& bytes) {
    layer.weight.assign(normal({2}));
    write_text(path, bytes);
  }
  Picture picture() const {
    Picture picture;
    for (const char byte : read_text(path)) picture.push_back(byte);
    const std::filesystem::directory_iterator files(folder.path()), descriptors("/proc/self/fd");
    picture.push_back(static_cast<double>(std::distance(begin(files), end(files))));
    picture.push_back(static_cast<double>(std::distance(begin(descriptors), end(descriptors))));
    add(picture, layer.state_dict());
    return picture;
  }
};

TEST_CASE("memory that runs out while a model is saved, loaded or drawn leaves the file and the model as they were") {
  const TemporaryFolder folder;
  save(nn::BatchNorm1d(nn::root, 2), folder / "layer");
  const std::string bytes = read_text(folder / "layer");
  const auto make = [&] { return std::make_unique<Saved>(bytes); };
  check_each_failure(make, [](const Saved& saved) { save(saved.layer, saved.path); });
  check_each_failure(make, [](const Saved& saved) { load(saved.layer, saved.path); });
  check_each_failure(
      make, [](const Saved& saved) { save_graph(saved.path + ".txt", {tanh(saved.layer.weight)}); },
      [](const Saved& saved) {
        const std::filesystem::directory_iterator files(saved.folder.path());
        return Picture{static_cast<double>(std::distance(begin(files), end(files)))};
      });
}

// ---- Decoding ----

const Index lengths({2}, {3, 1});
const Index source({2, 3}, {1, 2, 3, 4, 2, 0});

struct Transformer {
  nn::EncoderDecoder model{nn::root, 5, 5, {.dim = 4, .ffn = 4, .heads = 2, .layers = 2, .dropout = 0}};
  nn::Eval eval{model};
  nn::DecoderState state = [&] {
    const NoGrad off;
    return model.decoder.start(model.encoder(source), nn::padding(lengths));
  }();

  Picture picture() const {
    Picture picture{static_cast<double>(state.position)};
    for (const nn::DecoderBlockState& block : state.blocks) {
      add(picture, block.memory.k.value());
      add(picture, block.memory.v.value());
      if (block.past.length() == 0) continue;
      add(picture, block.past.keys().value());
      add(picture, block.past.values().value());
    }
    add(picture, state.origin);
    add(picture, *state.memory_mask.lengths);
    return picture;
  }
};

TEST_CASE("memory that runs out in a step of a transformer's decoder leaves its keys and values as they were") {
  const auto make = [](int steps) {
    auto subject = seeded<Transformer>();
    const NoGrad off;
    for (int i = 0; i < steps; ++i) subject->model.decoder(Index({2, 1}, {1, 2}), subject->state);
    return subject;
  };
  for (const int steps : {0, 2}) {
    check_each_failure([&] { return make(steps); },
                       [](Transformer& subject) {
                         const NoGrad off;
                         subject.model.decoder(Index({2, 1}, {3, 4}), subject.state);
                       });
  }
  check_each_failure([&] { return make(1); },
                     [](Transformer& subject) {
                       const NoGrad off;
                       subject.state.select(Index({3}, {1, 1, 0}));
                     });
}

struct Recurrent {
  nn::Seq2Seq model{nn::root, 5, 5, {.embed = 3, .hidden = 4}};
  nn::Eval eval{model};
  nn::Seq2SeqState state = [&] {
    const NoGrad off;
    const Recurrence read = model.encoder(source, lengths);
    return nn::Seq2SeqState{
        .h = read.h, .context = read.h[-1], .memory = read.output, .memory_mask = nn::padding(lengths)};
  }();

  Picture picture() const {
    Picture picture;
    for (const Tensor& each : {state.h, state.context, state.memory}) add(picture, each.value());
    add(picture, *state.memory_mask.lengths);
    return picture;
  }
};

TEST_CASE("memory that runs out in a step of a recurrent decoder leaves its state as it was") {
  check_each_failure(seeded<Recurrent>, [](Recurrent& subject) {
    const NoGrad off;
    subject.model.decoder(Index({2, 1}, {3, 4}), subject.state);
  });
  check_each_failure(seeded<Recurrent>, [](Recurrent& subject) {
    const NoGrad off;
    subject.state.select(Index({3}, {1, 1, 0}));
  });
}

TEST_CASE(
    "memory that runs out in a step of a stepper leaves it where it was, so that the next attempt gives the same") {
  struct Subject {
    Transformer transformer;
    nn::DecoderStepper stepper{transformer.model.decoder, transformer.state};
    Array logits;

    Picture picture() const { return picture_of(logits); }
  };
  check_each_failure(seeded<Subject>, [](Subject& subject) {
    const NoGrad off;
    subject.logits = subject.stepper.step(Index({2}, {3, 4})).value();
  });
}

TEST_CASE("memory that runs out in a search loses nothing") {
  check_each_failure(seeded<Transformer>, [](const Transformer& subject) {
    nn::DecoderStepper stepper{subject.model.decoder, subject.state};
    nn::beam_search(stepper, {.bos = 0, .eos = 4, .max_length = 2, .num_beams = 2});
  });
}

// ---- Layers and models ----

// A place for a model that is built while memory runs out.
struct Workshop {
  std::unique_ptr<nn::Module> model;

  Picture picture() const { return model ? picture_of(model->state_dict()) : Picture(); }
};

TEST_CASE("memory that runs out while a layer is built or loaded leaves nothing behind, and the next attempt does it") {
  std::set<std::string> seen;
  for (const LayerRow& row : layer_rows()) {
    if (!seen.insert(row.layer()).second) continue;
    CAPTURE(row.name);
    const auto build = [&](Workshop& shop) {
      manual_seed(1);
      shop.model = row.make();
    };
    check_each_failure(seeded<Workshop>, build, [](const Workshop& shop) { return shop.picture(); }, 1, coarse);
    if (row.make()->state_dict().empty()) continue;  // nothing to load
    const TemporaryFolder folder;
    manual_seed(2);
    save(*row.make(), folder / "model");
    check_each_failure(
        row.make, [&](const nn::Module& model) { load(model, folder / "model"); },
        [](const nn::Module& model) { return picture_of(model.state_dict()); }, 1, coarse);
  }
}

}  // namespace
}  // namespace xgrad::testing
