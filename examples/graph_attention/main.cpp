// Graph attention finds the communities of a network of people, a few of whom are labelled and half of whom are jokers
// with nonsense in their profiles; it learns which neighbours to listen to (Velickovic et al.: Graph Attention
// Networks, 2018). Links depend on the communities alone: a stochastic block model.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>

#include <xgrad/kit/draw/svg.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

constexpr std::int64_t communities = 4, members = 40, people = communities * members, features = 8;

struct Network {
  Index community = arange(people) / members;
  Mask joker = arange(people) % 2 == 1;
  Mask labelled = arange(people) % members < 10;
  Tensor links = triu(bernoulli(where(unsqueeze(community, 1) == community, 0.15, 0.015)), 1);  // each pair once
  Mask linked = links + transpose(links) + eye(people) > 0;  // (people, people), with self-loops
  Tensor interests = randn({communities, features})[community] + randn({people, features});
  Tensor said = where(unsqueeze(joker, 1), 2 * randn({people, features}), interests);
  Tensor jokes = unsqueeze(5 * to_real(joker), 1) + 0.5 * randn({people, 1});  // how funny a profile is
  Tensor profiles = concat({said, jokes}, 1);                                  // (people, features + 1)
};

struct GatOptions {
  std::int64_t in = features + 1, out = 32;
  bool attends = true;  // otherwise all neighbours count the same: a graph convolution
};

// One head of the paper's: h'_i = sum_j alpha_ij W h_j over the neighbours j of i, and i itself.
struct GraphAttention : nn::Layer<GraphAttention, GatOptions> {
  using Layer::Layer;
  nn::Linear map{at("map"), options.in, options.out, {.bias = false}};   // W
  const Tensor own = param("own", {options.out, 1}, nn::init::zeros());  // begins as an average
  const Tensor other = param("other", {options.out, 1}, nn::init::zeros());
  nn::Dropout drop{at("drop"), 0.2};

  // alpha_ij = softmax_j LeakyReLU(own . W h_i + other . W h_j), (people, people)
  Tensor weights(const Tensor& mapped, const Mask& linked) const {
    const Tensor scores = matmul(mapped, own) + transpose(matmul(mapped, other));
    return masked_softmax(leaky_relu(scores, {.negative_slope = 0.2}) * (options.attends ? 1 : 0), !linked);
  }

  Tensor forward(const Tensor& h, const Mask& linked) const {
    const Tensor mapped = map(h);
    return matmul(drop(weights(mapped, linked)), mapped);
  }
};

struct Net : nn::Layer<Net, GatOptions> {
  using Layer::Layer;
  GraphAttention first{at("first"), {.attends = options.attends}};
  GraphAttention second{at("second"), {.in = 32, .out = communities, .attends = options.attends}};
  nn::Dropout drop{at("drop"), 0.2};
  Tensor forward(const Tensor& profiles, const Mask& linked) const {
    return second(drop(elu(first(drop(profiles), linked))), linked);
  }
};

struct Result {
  Index guesses;        // (people)
  double accuracy = 0;  // of the people without a label
  Tensor weights;       // (people, people), of the first layer
};

Result learn(const char* what, const Network& network, const Mask& linked, const GatOptions& options) {
  const Net net{nn::root, options};
  const Index told = flatnonzero(network.labelled), asked = flatnonzero(!network.labelled);
  optim::Adam adam{net.parameters(), {.lr = 0.01, .weight_decay = 5e-4}};
  Tensor loss;
  for (int step = 0; step < 200; ++step) {
    loss = cross_entropy(net(network.profiles, linked)[told], network.community[told]);
    adam.step(grad(loss, net.parameters()));
  }
  const nn::Eval eval(net);
  const NoGrad off;
  const Index guesses = argmax(net(network.profiles, linked), -1);
  const double accuracy = mean(guesses[asked] == network.community[asked]).item();
  std::cout << what << ": loss " << loss.item() << ", accuracy " << accuracy << std::endl;
  return {guesses, accuracy, net.first.weights(net.first.map(network.profiles), linked)};
}

// Places in [0, 1]^2 for a drawing: links pull, and all push each other away.
Tensor laid_out(const Tensor& links) {
  const Tensor places = variable(rand({people, 2}).value(), "places");
  optim::Adam adam{{places}, {.lr = 0.02}};
  for (int step = 0; step < 400; ++step) {
    const Tensor apart = unsqueeze(places, 1) - places, squares = sum(apart * apart, -1) + 1e-3;
    adam.step(grad(sum((links + 0.02) * squares) - 0.1 * sum(log(squares)), {places}));
  }
  const Tensor low = min(places, Axes{0}), high = max(places, Axes{0});
  return (places - low) / (high - low);
}

// Links as strong as their attention weights, and people as large as the attention that they get.
void save_picture(const Network& network, const Result& result) {
  constexpr double side = 680, margin = 40, top = 80;
  const Tensor links = to_real(network.linked), place = side * laid_out(links);
  const Tensor weights = result.weights * sum(links, 1, {.keepdim = true});  // 1: as in an average
  const Tensor heard = sum(weights, 0) / sum(links, 0);
  const auto x = [&](std::int64_t i) { return margin + place.value().at({i, 0}); };
  const auto y = [&](std::int64_t i) { return top + place.value().at({i, 1}); };
  const char* title = "Weights of graph attention";
  const char* key = "colour: found · size: how much neighbours listen · square: joker · ring: told · cross: wrong";
  kit::Svg svg(side + 2 * margin, side + top + margin, title);
  svg.heading(margin, 34, title, 17, side);
  svg.text(margin, 56, key, {{"font-size", 13.0}, {"fill", kit::quiet_ink}});
  for (std::int64_t i = 0; i < people; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      if (!network.linked.at({i, j})) continue;
      const double weight = (weights.value().at({i, j}) + weights.value().at({j, i})) / 2;
      svg.line(x(i), y(i), x(j), y(j), {{"stroke", kit::quiet_ink}, {"stroke-opacity", std::min(0.3 * weight, 1.0)}});
    }
  }
  for (std::int64_t i = 0; i < people; ++i) {
    const double r = 8 * std::sqrt(heard.value().at({i}));
    svg.rect(x(i) - r, y(i) - r, 2 * r, 2 * r,
             {{"rx", network.joker.at({i}) ? 0 : r},
              {"fill", kit::series_inks[result.guesses.at({i})]},
              {"stroke", network.labelled.at({i}) ? kit::text_ink : kit::ground_ink}});
    if (result.guesses.at({i}) != network.community.at({i}))
      svg.text(x(i), y(i) + 5, "×", {{"font-size", 16.0}, {"text-anchor", "middle"}, {"fill", kit::text_ink}});
  }
  kit::save("graph_attention.svg", svg.str());
}

int main() {
  manual_seed(3);
  const Network network;
  const Result attention = learn("attention", network, network.linked, {});
  const Result average = learn("average of all neighbours", network, network.linked, {.attends = false});
  const Result alone = learn("without the network", network, eye(people) > 0, {});
  save_picture(network, attention);

  // The mean share of jokers among the neighbours of a person, and of the attention that they get.
  const Tensor joker = to_real(network.joker), links = to_real(network.linked);
  const double linked = mean(matmul(links, joker) / sum(links, 1)).item();
  const double heard = mean(matmul(attention.weights, joker)).item();
  std::cout << "result accuracy=" << attention.accuracy << " average=" << average.accuracy
            << " alone=" << alone.accuracy << " linked=" << linked << " heard=" << heard << "\n";
  return attention.accuracy > average.accuracy && heard < linked ? 0 : 1;
}
