// REINFORCE with a baseline: actions are drawn, and those with a higher return than expected are made more likely
// (Williams: "Simple statistical gradient-following algorithms for connectionist reinforcement learning", 1992).
#pragma once

#include <vector>

#include <xgrad/xgrad.h>

#include "cart_pole.h"

namespace policy_gradient {

using namespace xgrad;

/// One episode: the states, and the action in each. Every step has reward 1.
struct Episode {
  std::vector<CartPole> states = {};
  std::vector<std::int64_t> actions = {};

  std::int64_t length() const { return std::ssize(actions); }
};

/// The observations of some states: (N, 4).
inline Tensor seen(const std::vector<CartPole>& states) {
  std::vector<Real> numbers;
  for (const CartPole& at : states) {
    for (const double number : {at.x, at.v, at.angle, at.spin}) numbers.push_back(number);
  }
  return tensor({std::ssize(states), 4}, numbers);
}

/// A policy and a value network.
struct Agent : nn::Module {
  nn::Sequential policy{at("policy"), nn::make<nn::Linear>(4, 64), nn::make<nn::Tanh>(), nn::make<nn::Linear>(64, 2)};
  nn::Sequential value{at("value"), nn::make<nn::Linear>(4, 64), nn::make<nn::Tanh>(), nn::make<nn::Linear>(64, 1)};

  explicit Agent(nn::At here) : Module(std::move(here)) {}

  /// How likely each action is: states (N, 4) -> N distributions over left and right.
  distributions::Categorical operator()(const Tensor& states) const {
    return distributions::Categorical({.logits = policy(states)});
  }
  /// The expected return: (N, 4) -> (N).
  Tensor baseline(const Tensor& states) const { return squeeze(value(states), {-1}); }
};

enum class Acting { by_chance, greedily };

/// Episodes that begin near the middle, upright and at rest, or nearly so, all side by side: a step asks the agent
/// about every cart that still stands.
inline std::vector<Episode> play(const Agent& agent, std::int64_t count, Acting acting) {
  const NoGrad no_graph;
  std::vector<Episode> episodes(count);
  const Array start = (rand({count, 4}) * 0.1 - 0.05).value();
  std::vector<CartPole> states;    // of the carts that still stand
  std::vector<Episode*> standing;  // their episodes
  for (std::int64_t i = 0; i < count; ++i) {
    states.push_back({start.at({i, 0}), start.at({i, 1}), start.at({i, 2}), start.at({i, 3})});
    standing.push_back(&episodes[i]);
  }
  for (std::int64_t step = 0; step < longest_episode && !standing.empty(); ++step) {
    const distributions::Categorical choice = agent(seen(states));
    const Index actions = acting == Acting::by_chance ? choice.sample() : argmax(choice.logits(), -1);
    for (std::size_t k = 0; k < standing.size(); ++k) {
      standing[k]->states.push_back(states[k]);
      standing[k]->actions.push_back(actions.data()[k]);
      states[k] = pushed(states[k], actions.data()[k]);
      if (failed(states[k])) standing[k] = nullptr;
    }
    std::erase_if(states, failed);
    std::erase(standing, nullptr);
  }
  return episodes;
}

/// The return from each step of an episode on, with later rewards discounted:
///   R_t = 1 + discount R_(t+1), R_T = 0
inline std::vector<Real> returns(std::int64_t length, double discount) {
  std::vector<Real> all(length);
  double sum = 0;
  for (std::int64_t t = length - 1; t >= 0; --t) {
    sum = 1 + discount * sum;
    all[t] = sum;
  }
  return all;
}

/// The loss of a learning step: -mean (R - b(s)) ln p(action | s), whose gradient is, up to its sign, an estimate of
/// that of the expected return, and the squared error of the baseline b.
inline Tensor reinforce_loss(const Agent& agent, const std::vector<Episode>& episodes, double discount) {
  std::vector<CartPole> states;
  std::vector<std::int64_t> actions;
  std::vector<Real> came;
  for (const Episode& episode : episodes) {
    states.insert(states.end(), episode.states.begin(), episode.states.end());
    actions.insert(actions.end(), episode.actions.begin(), episode.actions.end());
    const std::vector<Real> of_episode = returns(episode.length(), discount);
    came.insert(came.end(), of_episode.begin(), of_episode.end());
  }
  const Tensor s = seen(states), scale = Real(1 - discount);  // so that returns are about 1 at most
  const Tensor R = tensor(came) * scale, b = agent.baseline(s);
  const Tensor advantage = (R - b).detach();
  const Tensor better = advantage / (stddev(advantage) + 1e-6);
  return -mean(better * agent(s).log_prob(index(actions))) + mse_loss(b, R);
}

}  // namespace policy_gradient
