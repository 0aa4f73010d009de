// Listing runs, and tables of them.
#include "profile.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "../base/text.h"
#include "../files/file.h"

namespace xgrad {
namespace {

double milliseconds(Observer::Duration time) { return 1e-6 * static_cast<double>(time); }

std::string label(const Profile::Run& run) { return str(run.op, run.gradient ? "'" : ""); }

using Lines = std::map<std::string, Profile::Line>;

void count(Lines& lines, std::string what, const Profile::Run& run) {
  Profile::Line& line = lines[what];
  line.what = std::move(what);
  ++line.calls;
  line.milliseconds += run.milliseconds;
  line.bytes += run.bytes;
}

std::vector<Profile::Line> longest_first(const Lines& lines) {
  std::vector<Profile::Line> sorted;
  for (const auto& [what, line] : lines) sorted.push_back(line);
  std::ranges::stable_sort(sorted, std::ranges::greater(), &Profile::Line::milliseconds);
  return sorted;
}

// The lines as columns: what, calls, ms, % of all, MB.
std::string table(std::string_view what, const std::vector<Profile::Line>& rows, double total) {
  std::size_t width = what.size();
  for (const Profile::Line& row : rows) width = std::max(width, row.what.size());
  std::string text;
  const auto line = [&](std::string_view name, const std::array<std::string, 4>& cells) {
    append(text, name);
    text.append(width - name.size(), ' ');
    for (const std::string& cell : cells) {
      text.append(std::max<std::size_t>(12, cell.size() + 1) - cell.size(), ' ');
      append(text, cell);
    }
    text += '\n';
  };
  line(what, {"calls", "ms", "% of all", "MB"});
  for (const Profile::Line& row : rows) {
    line(row.what, {str(row.calls), detail::rounded(row.milliseconds, 4),
                    detail::rounded(total > 0 ? 100 * row.milliseconds / total : 0, 3),
                    detail::rounded(static_cast<double>(row.bytes) / 1e6, 4)});
  }
  return text;
}

}  // namespace

void Profile::add(Run run, Duration spent) {
  run.begin = now_;
  run.milliseconds = milliseconds(spent);
  now_ += run.milliseconds;
  if (depth_ == 0) runs_.push_back(std::move(run));
}

void Profile::operation(const OperationRun& run) {
  const Array& value = run.output.value();
  add({.op = run.op,
       .path = run.place ? std::string_view(run.place->path) : std::string_view(),
       .shape = value.shape(),
       .bytes = value.size() * static_cast<std::int64_t>(sizeof(Real)),
       .node = detail::Engine::node(run.output) ? detail::Engine::node(run.output)->id : 0},
      run.spent);
}

void Profile::event(const char* name, Duration spent) { add({.op = name}, spent); }

void Profile::begin_gradients(const Node&, Duration spent) {
  add({.op = "graph"}, spent);
  if (depth_++ == 0) rule_began_ = now_;
}

void Profile::end_gradients(const Node& node, Duration spent) noexcept {
  now_ += milliseconds(spent);
  if (depth_ == 0 || --depth_ > 0) return;
  try {
    const Shape shape = node.shape();
    runs_.push_back({.op = node.op,
                     .path = node.place ? std::string_view(node.place->path) : std::string_view(),
                     .gradient = true,
                     .shape = shape,
                     .begin = rule_began_,
                     .milliseconds = now_ - rule_began_,
                     .node = node.id});
  } catch (const std::bad_alloc&) {
  }
}

std::vector<Profile::Line> Profile::lines() const {
  Lines lines;
  for (const Run& run : runs_) count(lines, label(run), run);
  return longest_first(lines);
}

std::string to_string(const Profile& profile) {
  Lines by_module;
  double total = 0;
  for (const Profile::Run& run : profile.runs()) {
    total += run.milliseconds;
    if (run.path.empty()) continue;
    for (std::size_t end = run.path.find('.');; end = run.path.find('.', end + 1)) {
      count(by_module, std::string(run.path.substr(0, end)), run);
      if (end == run.path.npos) break;
    }
  }
  std::string text = table("operation", profile.lines(), total);
  if (!by_module.empty()) append(text, str('\n', table("module", longest_first(by_module), total)));
  return text;
}

void save_chrome_trace(const std::string& path, const Profile& profile) {
  using Json = nlohmann::ordered_json;
  Json events = Json::array();
  for (const Profile::Run& run : profile.runs()) {
    events.push_back({{"name", label(run)},
                      {"cat", run.gradient ? "backward" : "forward"},
                      {"ph", "X"},  // a complete event: begin and duration, in microseconds
                      {"ts", run.begin * 1000},
                      {"dur", run.milliseconds * 1000},
                      {"pid", 1},
                      {"tid", 1},
                      {"args", {{"module", run.path}, {"shape", str(run.shape)}, {"bytes", run.bytes}}}});
  }
  const Json trace{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
  write_file_atomically(path, trace.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace xgrad
