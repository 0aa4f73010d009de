// The pictures of docs/guide/diagrams.md, and the graphs of other pages, drawn into a folder:
//
//   docs/tools/run diagrams
#include <filesystem>

#include <xgrad/kit/program/cli.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

namespace {

// A formula, as in a first lesson on graphs.
void expression(const std::filesystem::path& folder) {
  const Tensor a = variable(2, "a");
  const Tensor b = variable(-3, "b");
  const Tensor c = variable(10, "c");
  const Tensor y = (tanh(a * b) + c / 2).named("y");
  save_graph(folder / "diagram_expression.svg", {y}, {.title = "y = tanh(a b) + c / 2"});
}

// A neuron with the numbers of a run: values and gradients.
void neuron(const std::filesystem::path& folder) {
  const Tensor x1 = variable(2, "x1"), x2 = variable(0, "x2");
  const Tensor w1 = variable(-3, "w1"), w2 = variable(1, "w2");
  const Tensor b = variable(6.9, "b");
  ValueRecorder values;
  const Tensor o = tanh(x1 * w1 + x2 * w2 + b).named("o");
  o.backward();
  save_graph(
      folder / "diagram_neuron.svg", {o},
      {.title = "A neuron, and what a backward pass found", .direction = Direction::left_to_right, .values = &values});
}

// The gradient of a gradient is a graph like any other.
void second_derivative(const std::filesystem::path& folder) {
  const Tensor x = variable(1, "x");
  const Tensor y = tanh(x);
  const Tensor first = grad(y, {x}, {.create_graph = true})[0];
  const Tensor second = grad(first, {x}, {.create_graph = true})[0];
  save_graph(folder / "diagram_tanh2.svg", {second.named("second")},
             {.title = "The second derivative of tanh", .expand_rules = true});
}

// And so on: of any order it is a loop.
void third_derivative(const std::filesystem::path& folder) {
  const Tensor x = variable(1, "x");
  Tensor y = tanh(x);
  for (int order = 1; order <= 3; ++order) y = grad(y, {x}, {.create_graph = true})[0];
  save_graph(folder / "diagram_tanh3.svg", {y.named("third")},
             {.title = "The third derivative of tanh", .expand_rules = true});
}

struct Net : nn::Module {
  nn::Linear in{at("in"), 2, 8};
  nn::Linear out{at("out"), 8, 1};
  Tensor operator()(const Tensor& x) const { return out(tanh(in(x))); }  // (B, 2) -> (B, 1)
};

// Forward and backward in one drawing.
void training_step(const std::filesystem::path& folder) {
  const Tensor x = zeros({4, 2}).named("x");
  const Tensor y = zeros({4, 1}).named("y");
  const Net net;
  const Tensor d = net(x) - y;
  const Tensor loss = mean(d * d).named("loss");
  Tensors step = grad(loss, net.parameters(), {.create_graph = true});
  step.insert(step.begin(), loss);
  save_graph(folder / "diagram_step.svg", step, {.title = "One training step", .saved_memory = true});
  save_graph(folder / "diagram_equations.svg", step, {.title = "The equation of each operation", .equations = true});
}

// The same with numbers, as a picture that plays its run once, for the first page.
void network(const std::filesystem::path& folder) {
  manual_seed(1);
  const Tensor x = tensor({{0, 0}, {0, 1}, {1, 0}, {1, 1}}).named("x");
  const Tensor y = tensor({{0}, {1}, {1}, {0}}).named("y");
  const Net net;
  const ValueRecorder values;
  const Tensor loss = mse_loss(net(x), y).named("loss");
  loss.backward();
  save_graph(folder / "diagram_network.svg", {loss},
             {.title = "A network on XOR: values forward, then gradients back",
              .direction = Direction::left_to_right,
              .values = &values,
              .animate = true});
}

// Transformers, where modules are folded and layers that are alike are drawn once.
void transformer(const std::filesystem::path& folder) {
  const nn::EncoderDecoder model{nn::root, 200, 220, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0}};
  const Index source(Shape{64, 10}, std::int64_t{1});
  const Index lengths(Shape{64}, std::int64_t{10});
  const Index target(Shape{64, 9}, std::int64_t{2});
  const Tensor logits = model(source, lengths, target);  // (B, T, V)
  const Tensor loss = cross_entropy(reshape(logits, {-1, 220}), target.reshaped({-1})).named("loss");
  save_graph(folder / "diagram_transformer.svg", {loss}, {.title = "A transformer"});
  // Numbers on single vertices: the parts of a block of the decoder, the rest folded.
  const auto block = [](const GraphFrame& module) {
    return module.path == "decoder" || module.path == "decoder.blocks.0" ? Fold::open : Fold::closed;
  };
  save_graph(folder / "diagram_work.svg", {loss},
             {.title = "The work of a transformer", .fold = block, .overlay = multiply_adds_overlay()});
}

// The same transformer, closer and closer: each depth opens one more level of modules.
void zoom(const std::filesystem::path& folder) {
  const nn::Gpt model{nn::root, {.vocabulary = 100, .context = 16, .dim = 32, .heads = 4, .layers = 2}};
  const Tensor logits = model(Index({1, 16}, std::int64_t{1})).named("logits");
  for (const int depth : {0, 1, 2, 3}) {
    save_graph(folder / str("diagram_zoom_", depth, ".svg"), {logits},
               {.title = str("depth ", depth), .depth = depth, .legend = false});
  }
}

// Equal blocks are drawn once, forward and backward.
void gpt(const std::filesystem::path& folder) {
  const nn::Gpt model{nn::root, {.vocabulary = 100, .context = 16, .dim = 32, .heads = 4, .layers = 12}};
  const Tensor logits = model(Index({1, 16}, std::int64_t{1})).named("logits");
  save_graph(folder / "diagram_gpt.svg", {logits}, {.title = "A GPT of 12 layers"});

  const Tensor loss = cross_entropy(logits, Index({1, 16}, std::int64_t{2})).named("loss");
  Tensors step = grad(loss, model.parameters(), {.create_graph = true});
  step.insert(step.begin(), loss);
  save_graph(folder / "diagram_transformer_step.svg", step, {.title = "One training step of a GPT", .depth = 0});
}

// The same cell twice: a recurrent network, unrolled. Input and state go through one matrix side by side, so that
// nothing of a step can be computed, and stand in the drawing, before the step before it.
void unrolled_rnn(const std::filesystem::path& folder) {
  const Tensor w = variable(zeros({8, 12}).value(), "W"), bias = variable(zeros({8}).value(), "b");
  Tensor h = variable(zeros({2, 8}).value(), "h0");
  for (int t = 1; t <= 2; ++t) {
    const Tensor x = zeros({2, 4}).named(str("x", t));
    const Scope frame(intern(str("step ", t)));
    h = tanh(linear(concat({x, h}, 1), w, bias)).named(str("h", t));
  }
  save_graph(folder / "recurrent_unrolled.svg", {h},
             {.title = "h = tanh(W (x, h) + b), two steps",
              .direction = Direction::left_to_right,
              .depth = 1,
              .roll_up = false});
}

// The cell of an LSTM, written out.
void lstm_cell(const std::filesystem::path& folder) {
  const Tensor xh = zeros({2, 12}).named("(x, h)"), c = zeros({2, 8}).named("c");
  const auto gate = [&](const char* name, Tensor (*squash)(const Tensor&)) {
    return squash(linear(xh, variable(zeros({8, 12}).value(), str("W_", name)))).named(name);
  };
  const Tensor i = gate("i", sigmoid), f = gate("f", sigmoid), g = gate("g", tanh), o = gate("o", sigmoid);
  const Tensor next_c = (f * c + i * g).named("c'");
  const Tensor next_h = (o * tanh(next_c)).named("h'");
  save_graph(folder / "recurrent_lstm.svg", {next_h, next_c}, {.title = "One step of an LSTM"});
}

// The memory of the decoder's attention, for docs/topics/transformer.md.
void cross_attention(const std::filesystem::path& folder) {
  const auto draw = [&](const char* file, const char* title, nn::CrossAttention to) {
    const nn::EncoderDecoder model{
        nn::root, 200, 220, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0, .cross_attention = to}};
    const Index source({64, 10}, std::int64_t{1}), lengths(Shape{64}, std::int64_t{10}),
        target({64, 9}, std::int64_t{2});
    save_graph(folder / file, {model(source, lengths, target).named("logits")},
               {.title = title, .depth = 1, .roll_up = false, .legend = false});
  };
  draw("diagram_same_depth.svg", "Cross-attention to the same depth", nn::CrossAttention::same_depth);
  draw("diagram_all_layers.svg", "Cross-attention to all encoder layers", nn::CrossAttention::all);
}

// Attention as one operation and, under Plain, as those that it is composed of, for docs/inside/adding_an_operation.md.
void attention(const std::filesystem::path& folder) {
  const auto operand = [](const char* name) { return variable(zeros({2, 4, 10, 8}).value(), name); };
  const Tensor q = operand("q"), k = operand("k"), v = operand("v");
  const auto draw = [&](const char* file, const char* title) {
    const Tensor y = scaled_dot_product_attention(q, k, v, {.mask = {.causal = true}});
    save_graph(folder / file, {y.named("y")}, {.title = title});
  };
  draw("diagram_attention.svg", "Attention");
  const Plain plain;
  draw("diagram_attention_plain.svg", "The same under Plain");
}

// What steps 1 and 2, 5, 6 and 7 of docs/learn/steps compute, with the numbers of a run.
struct Mlp : nn::Layer<Mlp> {
  using Layer::Layer;
  nn::Linear in{at("in"), 2, 3};
  nn::Linear out{at("out"), 3, 1};
  Tensor forward(const Tensor& x) const { return out(tanh(in(x))); }
};
struct Pair : nn::Module {
  Mlp left{at("left")}, right{at("right")};
  Tensor operator()(const Tensor& x) const { return left(x) * right(x); }
};
void steps(const std::filesystem::path& folder) {
  const ValueRecorder values;
  const auto draw = [&](const char* file, const char* title, const Tensor& y, bool rules = false) {
    y.backward({.retain_graph = rules});
    save_graph(folder / file, {y}, {.title = title, .expand_rules = rules, .values = &values});
  };
  const Tensor x = variable(2, "x"), square = x * x;
  draw("steps_graph.svg", "y = x^4 + 3 x", (square * square + 3 * x).named("y"));

  const Tensor at = variable(0.7, "x"), bell = exp(-0.5 * at * at).named("bell");
  draw("steps_bell.svg", "The slope of the bell curve", grad(bell, {at}, {.create_graph = true})[0].named("slope"), true);

  const Tensor rows = tensor({{1, 2, 3}, {4, 5, 6}}).named("x");
  const Tensor w = variable(tensor({{1, 0}, {0, 1}, {-1, 1}}), "w"), b = variable(tensor({{0.5, -0.5}}), "b");
  const Tensor y = (matmul(rows, w) + b).named("y");
  draw("steps_matrix.svg", "L = sum((x w + b)^2) / 2", (sum(y * y) / 2).named("L"));

  manual_seed(1);
  const Pair pair;
  draw("steps_module.svg", "Two modules of one kind", pair(tensor({{0, 1}}).named("x")).named("y"));
}

}  // namespace

int main(int argc, char** argv) {
  const auto run = [](kit::Example& example) {
    const std::filesystem::path& folder = example.out;
    expression(folder);
    neuron(folder);
    second_derivative(folder);
    third_derivative(folder);
    training_step(folder);
    network(folder);
    transformer(folder);
    zoom(folder);
    gpt(folder);
    unrolled_rnn(folder);
    lstm_cell(folder);
    cross_attention(folder);
    steps(folder);
    attention(folder);
  };
  return kit::main(argc, argv, "diagrams", "The pictures of docs/guide/diagrams.md, and the graphs of other pages.", run);
}
