// Rules for arrows and boxes of diagrams, over the pictures of docs/guide/diagrams.md and over models: places are checked,
// not files. How many arrows cross: core/diagram/pictures_test.cpp, whose kept layouts are other ones then.
#include <xgrad/core/diagram/layout/layout.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <xgrad/xgrad.h>

#include "../../examples/two_heads/worked.h"
#include "core/diagram/diagrams.h"
#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

// Places on a page that is turned so that results stand below their inputs, whatever the direction.
class Page {
 public:
  Page(const GraphView& view, const GraphOptions& options)
      : view_(view), options_(options), layout_(GraphLayout::of(view, options)) {}

  // Everything that is wrong, in words.
  std::vector<std::string> faults() const {
    std::vector<std::string> found;
    const auto fault = [&](const auto&... parts) {
      std::string text;
      (append(text, parts), ...);
      found.push_back(text);
    };
    for (std::size_t e = 0; e < view_.edges.size(); ++e) {
      const GraphEdge& edge = view_.edges[e];
      const std::string name = str("n", edge.from, " -> n", edge.to);
      const std::vector<GraphPoint> way = way_of(e);
      if (is_forward(edge)) {
        if (vertex_box(edge.from).center().y >= vertex_box(edge.to).center().y) fault(name, " does not run down");
        double lowest = way.front().y;
        for (const GraphPoint& point : way) {
          if (lowest - point.y > 8) {
            fault(name, " runs back");
            break;
          }
          lowest = std::max(lowest, point.y);
        }
      }
      if (!touches(way.front(), vertex_box(edge.from))) fault(name, " does not begin at its box");
      if (!touches(way.back(), vertex_box(edge.to))) fault(name, " does not end at its box");
      for (int v = 0; std::cmp_less(v, view_.vertices.size()); ++v) {
        if (v != edge.from && v != edge.to && meets(way, vertex_box(v))) fault(name, " runs through n", v);
      }
      for (std::size_t c = 0; c < view_.frames.size(); ++c) {
        if (meets(way, title_box(static_cast<int>(c)))) fault(name, " runs under the title of ", view_.frames[c].path);
      }
      if (e > 0 && is_forward(edge) && is_forward(view_.edges[e - 1]) && view_.edges[e - 1].to == edge.to &&
          has_ordered_operands(vertex(edge.to)) && tip(e - 1).x >= tip(e).x) {
        fault(name, " enters before input ", view_.edges[e - 1].input);
      }
    }
    for (int v = 0; std::cmp_less(v, view_.vertices.size()); ++v) {
      for (int other = 0; other < v; ++other) {
        if (overlap(vertex_box(v), vertex_box(other))) fault('n', other, " and n", v, " overlap");
      }
      for (int c = 0; std::cmp_less(c, view_.frames.size()); ++c) {
        if (overlap(vertex_box(v), title_box(c))) fault('n', v, " lies on title ", c);
        if (overlap(vertex_box(v), frame_box(c)) != is_in(vertex(v).frame, c)) {
          fault('n', v, " and the border of frame ", c);
        }
      }
    }
    for (int c = 0; std::cmp_less(c, view_.frames.size()); ++c) {
      for (int other = 0; other < c; ++other) {
        if (overlap(frame_box(c), frame_box(other)) != is_in(c, other)) fault("frames ", other, " and ", c);
      }
    }
    encoder_and_decoder(fault);
    return found;
  }

  std::size_t arrows() const { return view_.edges.size(); }
  // From left to right: the titles of frames, and the names that begin so.
  std::vector<std::string> frames_across() const {
    std::map<double, std::string> titles;
    for (int c = 0; std::cmp_less(c, view_.frames.size()); ++c) {
      titles[frame_box(c).left] = view_.frames[static_cast<std::size_t>(c)].title;
    }
    return in_order(titles);
  }
  std::vector<std::string> names_across(std::string_view begin) const {
    std::map<double, std::string> names;
    for (int v = 0; std::cmp_less(v, view_.vertices.size()); ++v) {
      const std::string& name = vertex(v).name;
      if (name.starts_with(begin)) names[vertex_box(v).left] = name;
    }
    return in_order(names);
  }

 private:
  const GraphVertex& vertex(int v) const { return view_.vertices[static_cast<std::size_t>(v)]; }
  bool is_forward(const GraphEdge& edge) const { return vertex(edge.from).order == 0 && vertex(edge.to).order == 0; }
  static bool has_ordered_operands(const GraphVertex& vertex) {
    return vertex.role == GraphRole::operation && vertex.op != "add" && vertex.op != "mul";
  }
  bool is_in(int inner, int frame) const {
    while (inner > frame) inner = view_.frames[static_cast<std::size_t>(inner)].parent;
    return inner == frame;
  }

  GraphPoint turned(const GraphPoint& point) const {
    return options_.direction == Direction::left_to_right ? GraphPoint{point.y, point.x} : point;
  }
  GraphBox turned(const GraphBox& box) const {
    const GraphPoint a = turned(GraphPoint{box.left, box.top}), b = turned(GraphPoint{box.right(), box.bottom()});
    return {std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x), std::abs(a.y - b.y)};
  }
  GraphBox vertex_box(int v) const { return turned(layout_.vertices[static_cast<std::size_t>(v)]); }
  GraphBox frame_box(int c) const { return turned(layout_.frames[static_cast<std::size_t>(c)]); }
  GraphBox title_box(int c) const { return turned(layout_.titles[static_cast<std::size_t>(c)]); }
  GraphPoint tip(std::size_t e) const { return turned(layout_.edges[e].tip); }

  // Points along an arrow, few pixels from each other.
  std::vector<GraphPoint> way_of(std::size_t e) const {
    const std::vector<GraphPoint>& p = layout_.edges[e].points;
    std::vector<GraphPoint> way;
    for (std::size_t i = 0; i + 3 < p.size(); i += 3) {
      const double length = std::abs(p[i + 3].x - p[i].x) + std::abs(p[i + 3].y - p[i].y);
      const int steps = 4 + static_cast<int>(length / 3);
      for (int k = 0; k <= steps; ++k) {
        const double t = double(k) / steps, s = 1 - t;
        const double a = s * s * s, b = 3 * s * s * t, c = 3 * s * t * t, d = t * t * t;
        way.push_back(turned(GraphPoint{a * p[i].x + b * p[i + 1].x + c * p[i + 2].x + d * p[i + 3].x,
                                        a * p[i].y + b * p[i + 1].y + c * p[i + 2].y + d * p[i + 3].y}));
      }
    }
    way.push_back(tip(e));
    return way;
  }

  static bool meets(const std::vector<GraphPoint>& way, const GraphBox& box) {
    return std::ranges::any_of(way, [&](const GraphPoint& point) {
      return point.x > box.left + 1 && point.x < box.right() - 1 && point.y > box.top + 1 && point.y < box.bottom() - 1;
    });
  }
  static bool touches(const GraphPoint& point, const GraphBox& box) {
    constexpr double near = 8;  // an arrow's head
    return point.x > box.left - near && point.x < box.right() + near && point.y > box.top - near &&
           point.y < box.bottom() + near;
  }
  static std::vector<std::string> in_order(const std::map<double, std::string>& texts) {
    std::vector<std::string> all;
    for (const auto& [place, text] : texts) all.push_back(text);
    return all;
  }
  static bool overlap(const GraphBox& a, const GraphBox& b) {
    return a.left + 1 < b.right() && b.left + 1 < a.right() && a.top + 1 < b.bottom() && b.top + 1 < a.bottom();
  }

  // The encoder stands left of its decoder, and all of it above what takes its result.
  template <class Fault>
  void encoder_and_decoder(const Fault& fault) const {
    const auto frame = [&](std::string_view path) {
      const auto found =
          std::ranges::find_if(view_.frames, [&](const GraphFrame& one) { return one.path == path && one.order == 0; });
      return found == view_.frames.end() ? -1 : static_cast<int>(found - view_.frames.begin());
    };
    const int encoder = frame("encoder"), decoder = frame("decoder");
    if (encoder < 0 || decoder < 0) return;
    if (frame_box(encoder).right() > frame_box(decoder).left && frame_box(encoder).bottom() > frame_box(decoder).top) {
      fault("the encoder is not left of the decoder");
    }
    for (const GraphEdge& edge : view_.edges) {
      const GraphVertex &from = vertex(edge.from), &to = vertex(edge.to);
      if (!is_forward(edge) || from.role <= GraphRole::constant || !is_in(from.frame, encoder) ||
          !is_in(to.frame, decoder))
        continue;
      const bool is_last = std::ranges::none_of(view_.edges, [&](const GraphEdge& other) {
        return other.from == edge.from && is_in(vertex(other.to).frame, encoder);
      });
      if (is_last && frame_box(encoder).bottom() > vertex_box(edge.to).top) fault("the encoder ends below n", edge.to);
    }
  }

  const GraphView& view_;
  const GraphOptions& options_;
  const GraphLayout layout_;
};

void check(const GraphView& view, const GraphOptions& options = {}) {
  const Page page(view, options);
  CHECK(page.arrows() > 0);
  for (const std::string& fault : page.faults()) FAIL_CHECK(fault);
}
void check(const Tensors& results, const GraphOptions& options = {}) {
  check(GraphView::of(results, options), options);
}

// A model's graph and that of a training step, with all modules open and as it is drawn by default.
void check_model(const char* name, const Tensor& y, const Tensors& parameters) {
  CAPTURE(name);
  const Tensor loss = mean(square(y)).named("loss");
  check({loss});
  check({loss}, {.depth = 9});
  const Tensors step = training_step(loss, parameters);
  check(step);
  check(step, {.depth = 1});
}

Tensor zeros_named(const Shape& shape, const std::string& name) { return variable(zeros(shape).value(), name); }

struct Sketch : nn::Module {
  nn::Linear in{at("in"), 2, 8};
  nn::Linear out{at("out"), 8, 1};
  Tensor operator()(const Tensor& x) const { return out(tanh(in(x))); }
};

Tensor transformer(nn::CrossAttention to) {
  const nn::EncoderDecoder model{
      nn::root, 20, 22, {.dim = 8, .ffn = 16, .heads = 4, .layers = 2, .dropout = 0, .cross_attention = to}};
  const Index source(Shape{2, 10}, std::int64_t{1}), lengths(Shape{2}, std::int64_t{10}),
      target(Shape{2, 9}, std::int64_t{2});
  return cross_entropy(model(source, lengths, target), target).named("loss");
}

struct Channels {
  std::int64_t in = 1, out = 1;
};
struct DoubleConv : nn::Layer<DoubleConv, Channels> {
  using Layer::Layer;
  nn::Sequential net{
      at("net"),
      {nn::make<nn::Conv2d>(options.in, options.out, 3, nn::Conv2dOptions{.padding = 1}),
       nn::make<nn::BatchNorm2d>(options.out), relu}};
  Tensor forward(const Tensor& x) const { return net(x); }
};
struct UNet : nn::Layer<UNet> {
  using Layer::Layer;
  DoubleConv down1{at("down1"), {1, 2}}, down2{at("down2"), {2, 4}}, bottom{at("bottom"), {4, 8}};
  nn::ConvTranspose2d up2{at("up2"), 8, 4, 2, {.stride = 2}};
  DoubleConv conv2{at("conv2"), {8, 4}};
  nn::ConvTranspose2d up1{at("up1"), 4, 2, 2, {.stride = 2}};
  DoubleConv conv1{at("conv1"), {4, 2}};
  Tensor forward(const Tensor& picture) const {
    const Tensor skip1 = down1(picture);
    const Tensor skip2 = down2(max_pool2d(skip1, 2));
    Tensor x = bottom(max_pool2d(skip2, 2));
    x = conv2(concat({skip2, up2(x)}, 1));
    return conv1(concat({skip1, up1(x)}, 1));
  }
};

template <class Model, class... Inputs>
void check_model_of(const char* name, const Model& model, const Inputs&... inputs) {
  check_model(name, model(inputs...), model.parameters());
}

constexpr std::array directions{Direction::top_to_bottom, Direction::left_to_right};

}  // namespace

TEST_CASE("arrows of the pictures of formulas run down, in order, and through nothing") {
  const Tensor a = variable(2, "a"), b = variable(-3, "b"), c = variable(10, "c");
  const Tensor y = tanh(a * b) + c / 2;
  const Tensor x = variable(1, "x");
  Tensors derivatives{tanh(x)};
  for (int order = 1; order <= 3; ++order) {
    derivatives.push_back(grad(derivatives.back(), {x}, {.create_graph = true})[0]);
  }
  for (const Direction direction : directions) {
    CAPTURE(static_cast<int>(direction));
    check({y}, {.direction = direction});
    check({derivatives[2]}, {.direction = direction, .expand_rules = true});
    check({derivatives[3]}, {.direction = direction, .expand_rules = true});
    const Sketch net;
    const Tensor loss = mean(square(net(zeros({4, 2})))).named("loss");
    const Tensors step = training_step(loss, net.parameters());
    check(step, {.direction = direction, .saved_memory = true});
    check(step, {.direction = direction});
  }
}

TEST_CASE("heads, positions and inputs that are numbered stand in their order") {
  const GraphOptions options{.depth = 1, .roll_up = false};
  const GraphView view = GraphView::of(two_heads::by_vectors({}, zeros({2, 4}).value()).b, options);
  const Page page(view, options);
  CHECK(page.faults().empty());
  CHECK(str(page.frames_across()) == "[head 1, head 2]");
  CHECK(str(page.names_across("a^")) == "[a^{1}, a^{2}]");
  // The backward pass stands right of the forward pass.
  const Sketch net;
  const Tensor loss = mean(square(net(zeros({4, 2})))).named("loss");
  const GraphView of_step = GraphView::of(training_step(loss, net.parameters()));
  const GraphLayout layout = GraphLayout::of(of_step);
  for (std::size_t v = 0; v < of_step.vertices.size(); ++v) {
    const int operation = of_step.vertices[v].rule_of;
    if (operation < 0) continue;
    CHECK(layout.vertices[v].center().x > layout.vertices[static_cast<std::size_t>(operation)].center().x);
  }
  // The last of three inputs is used twice.
  Tensors x;
  for (int i = 1; i <= 3; ++i) x.push_back(zeros_named({1, 4}, str('x', i)));
  const Tensor all = concat(x);
  const GraphView attention = GraphView::of({matmul(softmax(matmul(x[2], all, {.transpose_b = true}) * 0.5), all)});
  CHECK(str(Page(attention, {}).names_across("x")) == "[x1, x2, x3]");
}

TEST_CASE("arrows of the pictures of transformers run down, in order, and through nothing") {
  for (const nn::CrossAttention to :
       {nn::CrossAttention::last, nn::CrossAttention::same_depth, nn::CrossAttention::all}) {
    const Tensor loss = transformer(to);
    check({loss});
    check({loss}, {.depth = 2, .roll_up = false});
    check({loss}, {.depth = 9});
  }
  for (const Direction direction : directions) {
    CAPTURE(static_cast<int>(direction));
    check({transformer(nn::CrossAttention::last)}, {.direction = direction, .depth = 2});
  }
  for (const nn::NormOrder order : {nn::NormOrder::post, nn::NormOrder::pre}) {
    const nn::EncoderBlock block{nn::At(), {.dim = 8, .ffn = 16, .heads = 4, .dropout = 0, .norm = order}};
    check({block(zeros({2, 10, 8}).named("x")).named("y")}, {.depth = 1});
  }
}

// Operations of which no two that follow each other are equal; `own` gives each what else it uses.
Tensor chain(int length, const std::function<Tensor(const Tensor&, int)>& own, Tensor x = variable({1, 2}, "x")) {
  for (int i = 0; i < length; ++i) x = own(i % 3 == 0 ? tanh(x) : i % 3 == 1 ? sigmoid(x) : exp(x), i);
  return x;
}

TEST_CASE("arrows of chains that are longer than a page run down, in order, and through nothing") {
  const auto alone = [](const Tensor& x, int) { return x; };
  const auto with_number = [](const Tensor& x, int i) { return x * (i + 2); };
  const auto with_weight = [](const Tensor& x, int i) { return x - variable({1, 2}, str("w", i)); };
  for (const Direction direction : directions) {
    CAPTURE(static_cast<int>(direction));
    const GraphOptions options{.direction = direction};
    check({chain(60, alone)}, options);
    check({chain(40, with_number)}, options);
    check({chain(40, with_weight)}, options);
    check({chain(12, alone)}, options);
    for (const auto& own :
         {std::function<Tensor(const Tensor&, int)>(alone), std::function<Tensor(const Tensor&, int)>(with_number)}) {
      const Tensor x = variable({1, 2}, "x"), loss = sum(chain(40, own, x)).named("loss");
      check({loss, grad(loss, {x}, {.create_graph = true})[0]}, options);
    }
  }
  const Tensor all_along = variable({1, 2}, "all");
  check({chain(60, [&](const Tensor& x, int) { return x + all_along; })});
}

TEST_CASE("arrows of models and of their training steps run down, in order, and through nothing") {
  const Index ids(Shape{2, 6}, std::int64_t{1});
  const Tensor x = randn({2, 6, 4}).named("x"), picture = randn({2, 3, 32, 32}).named("picture");
  check_model_of("Mlp", nn::Mlp(nn::root, {.in = 4, .hidden = 8, .out = 3}), x);
  check_model_of("CNN", nn::Sequential(nn::root, {nn::make<nn::Conv2d>(3, 4, 3), relu, nn::make<nn::Conv2d>(4, 4, 3)}),
                 picture);
  check_model_of("ResNet", nn::ResNet(nn::root, {.width = 4, .classes = 3}), picture);
  check_model_of("UNet", UNet(nn::root), randn({2, 1, 16, 16}).named("picture"));
  const nn::LSTM lstm(nn::root, 4, 5, {.layers = 2});
  check_model("LSTM", lstm(x).output, lstm.parameters());
  const nn::GRU gru(nn::root, 4, 5, {.bidirectional = true});
  check_model("GRU", gru(x).output, gru.parameters());
  check_model_of("Gpt", nn::Gpt(nn::root, {.vocabulary = 11, .context = 8, .dim = 8, .heads = 2, .layers = 3}), ids);
  check_model_of(
      "Bert", nn::Bert(nn::root, {.vocabulary = 11, .context = 8, .dim = 8, .heads = 2, .layers = 2, .ffn = 16}), ids);
  check_model_of("Llama",
                 nn::Llama(nn::root, {.vocabulary = 11, .context = 8, .dim = 8, .heads = 2, .layers = 2, .ffn = 16}),
                 ids);
  check_model_of(
      "ViT",
      nn::VisionTransformer(nn::root, {.image = 32, .patch = 8, .dim = 8, .heads = 2, .layers = 2, .classes = 3}),
      picture);
  check_model_of("Swin",
                 nn::SwinTransformer(
                     nn::root, {.patch = 2, .dim = 4, .depths = {2, 2}, .heads = {1, 2}, .window = 4, .classes = 3}),
                 picture);
  const nn::EncoderDecoder translator{nn::root, 20, 22, {.dim = 8, .ffn = 16, .heads = 2, .layers = 2, .dropout = 0}};
  const Index lengths(Shape{2}, std::int64_t{6});
  check_model("EncoderDecoder", translator(ids, lengths, ids), translator.parameters());
}

TEST_CASE("arrows between modules in modules run down, in order, and through nothing") {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const GraphView view = random_view(seed);
    if (view.edges.empty()) continue;
    check(view, {.direction = directions[seed % 2]});
  }
}

TEST_CASE(
    "a training step of a GPT is as large with 12 layers as with 2, and its rules stand beside their operations") {
  std::map<int, std::size_t> sizes;  // by depth
  for (const std::int64_t layers : {2, 3, 6, 12}) {
    const nn::Gpt gpt{nn::root, {.vocabulary = 50, .context = 16, .dim = 16, .heads = 4, .layers = layers}};
    const Index ids(Shape{2, 8}, std::int64_t{1});
    const Tensor loss = cross_entropy(gpt(ids), ids).named("loss");
    const Tensors step = training_step(loss, gpt.parameters());
    for (const int depth : {0, 1, 2}) {
      CAPTURE(layers);
      CAPTURE(depth);
      const GraphOptions options{.depth = depth};
      const GraphView view = GraphView::of(step, options);
      CHECK(view.vertices.size() == sizes.try_emplace(depth, view.vertices.size()).first->second);
      if (layers != 12) continue;
      const GraphLayout layout = GraphLayout::of(view, options);
      std::size_t pairs = 0;
      for (std::size_t v = 0; v < view.vertices.size(); ++v) {
        if (view.vertices[v].rule_of < 0) continue;
        const GraphBox &rule = layout.vertices[v],
                       &operation = layout.vertices[static_cast<std::size_t>(view.vertices[v].rule_of)];
        CHECK(std::abs(rule.center().y - operation.center().y) < rule.height + operation.height);  // less than a row
        ++pairs;
      }
      CHECK(pairs >= 5);
    }
  }
}
