// Counting module by module, and the table.
#include "summary.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <ostream>

#include "../../core/array/random.h"
#include "../../core/base/text.h"
#include "../../core/diagram/view/labels.h"
#include "../../core/diagram/view/view.h"
#include "../../core/graph/record.h"
#include "../../core/profile/profile.h"
#include "../../ops/derivatives/count_operations.h"
#include "hook_everywhere.h"

namespace xgrad::nn {
namespace {

constexpr std::string_view op = "summary";

}  // namespace

ModelSummary summary(const Module& model, const std::function<Tensor()>& run) {
  xgrad::detail::refuse_empty(op, run);
  // The run leaves no trace: it moves no statistics, and random numbers go on as before.
  const Eval eval(model);
  struct Restored {
    const RandomState before = random_state();
    ~Restored() { set_random_state(before); }
  } const restored;
  std::map<const Module*, Shape> outputs;
  Tensor y;
  Profile profile;
  {
    const EnableGrad on;
    const detail::HookEverywhere hook(
        &model, [&](const ForwardCall& call) { outputs.insert_or_assign(&call.module, call.output.shape()); });
    y = run();
  }
  if (!y.requires_grad()) fail<GraphError>(op, "the model's result depends on no parameter that requires a gradient");
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  const GraphView view = GraphView::of({y},
                                       {.depth = std::numeric_limits<int>::max(),
                                        .roll_up = false,
                                        .max_nodes = all,
                                        .overlay = multiply_adds_overlay()},
                                       op);
  ModelSummary result;
  for (const auto& [name, module] : model.named_modules()) {
    const std::string &path = module->path(), described = module->description();
    ModelSummary::Row row{
        .name = name.empty() ? described.substr(0, described.find(' ')) : name.substr(name.rfind('.') + 1),
        .what = name.empty() ? std::string() : described,
        .level = name.empty() ? 0 : 1 + static_cast<int>(std::ranges::count(name, '.')),
        .output = {},
        .parameters = module->num_parameters()};
    if (const auto output = outputs.find(module); output != outputs.end()) row.output = output->second;
    for (const GraphVertex& vertex : view.vertices) {
      if (vertex.order > 0 || !lies_within(vertex.path, path)) continue;
      row.saved_bytes += vertex.totals.saved_bytes;
      row.multiply_adds += static_cast<std::int64_t>(vertex.totals.overlay.value_or(0));
    }
    for (const Profile::Run& operation : profile.runs()) {
      if (lies_within(operation.path, path)) row.milliseconds += operation.milliseconds;
    }
    result.rows.push_back(std::move(row));
  }
  if (!result.rows.front().output) result.rows.front().output = y.shape();
  return result;
}

std::string to_string(const ModelSummary& summary) {
  using Cells = std::array<std::string, 6>;
  std::vector<Cells> lines{{"module", "output", "parameters", "multiply-adds", "keeps", "ms"}};
  for (const ModelSummary::Row& row : summary.rows) {
    const std::string what = row.what.empty() ? std::string() : str(": ", row.what);
    lines.push_back({str(std::string(2 * static_cast<std::size_t>(row.level), ' '), row.name, what),
                     row.output ? str(*row.output) : "",
                     xgrad::detail::amount_text(static_cast<double>(row.parameters), {}),
                     xgrad::detail::amount_text(static_cast<double>(row.multiply_adds), {}),
                     xgrad::detail::amount_text(static_cast<double>(row.saved_bytes), "B"),
                     xgrad::detail::rounded(row.milliseconds, 3)});
  }
  std::array<std::size_t, std::tuple_size_v<Cells>> widths{};
  for (const Cells& cells : lines) {
    for (std::size_t c = 0; c < cells.size(); ++c) widths[c] = std::max(widths[c], cells[c].size());
  }
  constexpr std::size_t left = 2;  // columns of words; the others hold numbers
  std::string text;
  for (const Cells& cells : lines) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string padding(widths[c] - cells[c].size(), ' ');
      append(line, str(c == 0 ? "" : "  ", c < left ? cells[c] : padding, c < left ? padding : cells[c]));
    }
    append(text, str(line, '\n'));
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const ModelSummary& summary) { return out << to_string(summary); }

}  // namespace xgrad::nn
