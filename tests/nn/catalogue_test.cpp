// What every layer and model of the library does: a test case for each row of the catalogue, and that every class has
// one.
#include "catalogue.h"
#include "support.h"
#include "support/extremes.h"
#include "support/files.h"
#include "support/orders.h"
#include "support/rows.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <regex>
#include <set>
#include <sstream>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using nn::Module;

// As many samples as a run has.
std::int64_t batch_of(const LayerRow& row) { return row.least == 0 ? 2 : row.least + 1; }

// Inputs for so many samples.
std::vector<Array> inputs_of(const LayerRow& row, std::int64_t batch) {
  std::vector<Array> inputs;
  for (Shape shape : row.inputs) {
    shape[0] = batch;
    inputs.push_back(normal(shape, 7 + inputs.size()));
  }
  return inputs;
}

// The same numbers for dropout each time.
Tensor run(const LayerRow& row, const Module& module, const Tensors& xs, std::int64_t batch) {
  manual_seed(3);
  return row.run(module, xs, batch);
}

Tensor run(const LayerRow& row, const Module& module) {
  const std::vector<Array> inputs = inputs_of(row, batch_of(row));
  return run(row, module, Tensors(inputs.begin(), inputs.end()), batch_of(row));
}

Tensors with_parameters(const Module& module, const std::vector<Array>& inputs) {
  Tensors all;
  for (const Array& input : inputs) all.push_back(variable(input));
  for (const Tensor& parameter : module.parameters()) all.push_back(parameter);
  return all;
}

void check_description(const LayerRow& row, const Module& module) {
  CHECK(module.description() == row.name);
  CHECK(to_string(module).starts_with(row.name));
  if (row.same_as) {
    int runs = 0;
    const auto hook = module.on_forward([&](const nn::ForwardCall& call) { runs += !call.inputs.empty(); });
    const Array y = run(row, module).value();
    CHECK(runs == 1);
    module.remove_hook(hook);
    const std::vector<Array> inputs = inputs_of(row, 2);
    CHECK(equal(y, row.same_as(module, Tensors(inputs.begin(), inputs.end()), 2).value()));
  }
}

// A forward hook is given the inputs in the order of the call.
void check_hook(const LayerRow& row, const Module& module) {
  const std::int64_t batch = batch_of(row);
  const std::vector<Array> inputs = inputs_of(row, batch);
  const auto hook = module.on_forward([&](const nn::ForwardCall& call) {
    std::vector<std::ptrdiff_t> places;
    for (const Tensor& seen : call.inputs) {
      const auto is_seen = [&](const Array& input) { return seen.defined() && equal(input, seen.value()); };
      const auto at = std::ranges::find_if(inputs, is_seen);
      if (at != inputs.end()) places.push_back(at - inputs.begin());
    }
    CHECK(std::ranges::is_sorted(places));
  });
  run(row, module, Tensors(inputs.begin(), inputs.end()), batch);
  module.remove_hook(hook);
}

// No samples and few of them: shapes, that every gradient and second gradient is finite, and that kernels and rules
// agree.
void check_small_batches(const LayerRow& row, const Module& module) {
  for (const std::int64_t batch : {0, 1, 2}) {
    CAPTURE(batch);
    const std::vector<Array> inputs = inputs_of(row, batch);
    const Tensors xs = with_parameters(module, inputs);
    Shape result = row.result;
    if (!result.empty()) result[0] = batch * result[0] / 2;
    const auto check = [&] { check_all_orders([&] { return run(row, module, xs, batch); }, xs, result); };
    if (batch >= row.least) {
      check();
    } else {
      CHECK_THROWS_AS(run(row, module, xs, batch), Error);
      const nn::Eval eval(module);  // by running statistics
      if (!module.buffers().empty()) check();
    }
  }
  for (const auto& shapes : row.others) {
    CAPTURE(str(shapes.first));
    const Tensors xs = with_parameters(module, {normal(shapes.first, 7)});
    check_all_orders([&] { return run(row, module, xs, 2); }, xs, shapes.second);
  }
}

// Of two orders where there are few parameters; of large models the first order alone, along some directions. The
// parameters are so large that each matters.
void check_differences(const LayerRow& row) {
  if (row.kinks) return;
  const auto made = row.make();
  const Module& module = *made;
  for (std::uint64_t seed = 1; const Tensor& parameter : module.parameters()) {
    parameter.assign((Tensor(normal(parameter.shape(), seed++)) * 0.5).value());
  }
  const std::int64_t batch = batch_of(row);
  std::vector<Array> all = inputs_of(row, batch);
  const auto inputs = static_cast<std::ptrdiff_t>(all.size());
  const auto f = [&](const Tensors& xs) { return run(row, module, xs, batch); };
  if (module.parameters().size() > 6) return check_module_gradients(module, f, all);
  for (const Tensor& parameter : module.parameters()) all.push_back(parameter.value());
  check_gradients(
      [&](const Tensors& xs) {
        const nn::FunctionalCall scope(module, Tensors(xs.begin() + inputs, xs.end()));
        return f(Tensors(xs.begin(), xs.begin() + inputs));
      },
      all);
}

void check_plain(const LayerRow& row, const Module& module) {
  const std::int64_t batch = batch_of(row);
  const Tensors xs = with_parameters(module, inputs_of(row, batch));
  const auto result = [&](bool plain) {
    const Plain scope(plain);
    const Tensor y = run(row, module, xs, batch);
    Tensors all = grad(y, xs, {.seed = normal(y.shape(), 7), .unused = Unused::zeros});
    all.push_back(y);
    return all;
  };
  const Tensors fused = result(false), plain = result(true);
  double size = 0;  // of gradients: some are sums of what cancels
  for (const Tensor& g : fused) size = std::max(size, largest(g.value()));
  for (std::size_t i = 0; i < xs.size(); ++i) check_close(plain[i].value(), fused[i].value(), 1e-12, 1e-3 * size);
  check_close(plain.back().value(), fused.back().value());
}

// Of a layer with other numbers, in its place: by a file, by a functional call, and as a clone.
void check_copies(const LayerRow& row, const Module& module) {
  const TemporaryFolder folder;
  manual_seed(11);
  const auto other = row.make();
  for (const Tensor& parameter : other->parameters())
    parameter.update([](Array& value) {
      for (Real& number : std::span(value.mutable_data(), static_cast<std::size_t>(value.size())))
        number += Real(0.125);
    });
  const Array expected = run(row, *other).value();
  const Array before = run(row, module).value();
  {
    const nn::FunctionalCall scope(module, other->parameters());
    CHECK(equal(run(row, module).value(), expected));
  }
  CHECK(equal(run(row, module).value(), before));
  if (row.clone) {
    const auto twin = row.clone(*other);
    CHECK(twin->description() == other->description());
    CHECK(equal(run(row, *twin).value(), expected));
  }
  const std::string path = folder / "layer";
  save(*other, path);
  load(module, path);
  CHECK(equal(run(row, module).value(), expected));
  const nn::Eval one(module), two(*other);
  load(module, path);  // with running statistics
  CHECK(equal(run(row, module).value(), run(row, *other).value()));
}

void check_decay(const LayerRow& row, const Module& module) {
  const auto without = nn::without_weight_decay(module);
  for (const auto& named : module.named_parameters()) {
    CAPTURE(named.first);
    const bool spared =
        std::ranges::any_of(row.undecayed, [&](const std::string& end) { return named.first.ends_with(end); });
    CHECK(without(named.second) == (named.second.rank() < 2 || spared));
  }
}

struct Owner : Module {
  At place() { return at("layer"); }
};

// Sizes that make no sense, as those of members that have no value yet, are refused with a guess at why.
void check_sizes(const LayerRow& row) {
  Owner owner;
  for (const LayerRow::Size& size : row.sizes) {
    const std::string later = "declared after this layer?\n  in layer";
    for (const std::int64_t n : {std::int64_t(140'729'203'840'632), std::numeric_limits<std::int64_t>::max()}) {
      CAPTURE(n);
      const std::string message = error_of<LimitError>([&] { size.make(owner.place(), n); });
      CHECK_MESSAGE((message.find(str(n)) != message.npos && message.find(later) != message.npos), message);
    }
    for (const std::int64_t n : {std::int64_t(0), std::int64_t(-140'729'203'840'632)}) {
      CAPTURE(n);
      const std::string message = error_of<ValueError>([&] { size.make(owner.place(), n); });
      CHECK_MESSAGE((message.find(str(n)) != message.npos && message.find(later) != message.npos), message);
    }
  }
  CHECK(owner.children().empty());
  CHECK(owner.parameters().empty());
}

void check_layer(const LayerRow& row) {
  manual_seed(5);
  const auto module = row.make();
  check_description(row, *module);
  check_hook(row, *module);
  check_small_batches(row, *module);
  check_differences(row);
  check_plain(row, *module);
  check_copies(row, *module);
  check_decay(row, *module);
  check_sizes(row);
}

const RowCases<LayerRow, layer_rows, check_layer> layer_cases("layer", __FILE__, __LINE__);

TEST_CASE("extreme numbers: sizes of all layers") {
  const MemoryLimit limit;
  for (const LayerRow& row : layer_rows()) {
    CAPTURE(row.name);
    for (const LayerRow::Size& size : row.sizes) {
      for (const std::int64_t n : sizes()) {
        CAPTURE(n);
        const auto make = [&] { size.make(nn::root, n); };
        const bool huge = n > std::int64_t{1} << 28;
        if (huge && n < std::int64_t{1} << 55) {  // too large for a shape, or for memory
          survives(make);
        } else {
          accepts(size.legal(n) && !huge, make);
        }
      }
    }
  }
}

TEST_CASE("every layer has a row in the catalogue, or is a part of one that has") {
  // The bases, which are no layers.
  std::set<std::string> found{"Module",    "Layer",     "LayerCall",     "AttentionPooling",
                              "BatchNorm", "Recurrent", "RecurrentCell", "LanguageModel"};
  for (const LayerRow& row : layer_rows()) {
    const auto whole = row.make();
    for (const auto& [path, module] : whole->named_modules()) {
      const std::string text = module->description();
      found.insert(text.substr(0, text.find_first_of(" ,")));
    }
  }
  // A class with a base, and a name for a layer of a function; not what is in a namespace `detail`.
  const std::regex derived(R"((?:struct|class) (\w+)(?: final)?\s*: (?:public )?([\w:]+).*)"),
      named(R"(using (\w+) =\s*detail::(FunctionLayer|DropoutLayer)<.*)");
  const std::set<std::string> others{"Observer", "Stepper", "xgrad::detail::CopyListener"};
  int count = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(XGRAD_TESTS_DIR "/../nn")) {
    if (file.path().extension() != ".h") continue;
    std::istringstream text(read_text(file.path()));
    bool outside = true;
    for (std::string line, next; std::getline(text, line);) {
      if (line.ends_with(" =") && std::getline(text, next)) line += next;
      if (line.starts_with("namespace ") && line.ends_with("detail {")) outside = false;
      if (line.starts_with("}  // namespace ") && line.ends_with("detail")) outside = true;
      std::smatch match;
      if (!outside || !(std::regex_match(line, match, derived) || std::regex_match(line, match, named))) continue;
      if (others.contains(match[2])) continue;
      ++count;
      CHECK_MESSAGE(found.contains(match[1]), "no row of tests/nn/catalogue.cpp has a ", match[1].str());
    }
  }
  CHECK(count > 0);
}

}  // namespace
}  // namespace xgrad::testing
