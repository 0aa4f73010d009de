// The cart, the pole and the agent of the example: mechanics, returns, steps of learning. Whether it balances the pole is on
// docs/topics/distributions.md, which `tests/long figures` compares.
#include <doctest/doctest.h>

#include <cmath>

#include <policy_gradient/agent.h>
#include <policy_gradient/cart_pole.h>

namespace policy_gradient {
namespace {

TEST_CASE("A pushed cart and its pole fulfil the equations of motion") {
  // Lagrange's equations of cart and uniform pole (Florian, "Correct equations for the dynamics of the cart-pole
  // system", 2007): the whole is moved by the force, the pole turns about its end by gravity and the cart's motion.
  for (const CartPole& at :
       {CartPole{}, CartPole{.angle = 0.2, .spin = -1.5}, CartPole{.v = 2, .angle = -1, .spin = 3}}) {
    for (const double force : {-10.0, 0.0, 10.0}) {
      const Accelerations a = accelerations(at, force);
      const double cosine = std::cos(at.angle), sine = std::sin(at.angle), arm = pole_mass * half_length;
      CHECK((cart_mass + pole_mass) * a.v + arm * (a.spin * cosine - at.spin * at.spin * sine) ==
            doctest::Approx(force));
      CHECK(half_length * 4 / 3 * a.spin + a.v * cosine == doctest::Approx(gravity * sine));
    }
  }
}

TEST_CASE("A step is Gym's: from rest, upright, a push to the right") {
  const CartPole after = pushed({}, 1);
  CHECK(after.x == 0);
  CHECK(after.v == doctest::Approx(0.195121951));
  CHECK(after.angle == 0);
  CHECK(after.spin == doctest::Approx(-0.292682927));
  const CartPole at{.x = 0.1, .v = -0.2, .angle = 0.05, .spin = 0.3}, mirrored{-0.1, 0.2, -0.05, -0.3};
  CHECK(pushed(at, 0).v == -pushed(mirrored, 1).v);
  CHECK(pushed(at, 0).spin == -pushed(mirrored, 1).spin);
  CHECK(pushed(at, 0).x == doctest::Approx(0.1 - 0.02 * 0.2));
  CHECK(!failed({.x = 2.4, .angle = -0.209}));
  CHECK(failed({.x = -2.41}));
  CHECK(failed({.angle = 0.21}));
}

TEST_CASE("Returns add up what is to come, discounted") {
  CHECK(returns(3, 1) == std::vector<Real>{3, 2, 1});
  CHECK(returns(3, 0.5) == std::vector<Real>{1.75, 1.5, 1});
  CHECK(returns(2, 0) == std::vector<Real>{1, 1});
  CHECK(returns(1000, 0.99).front() == doctest::Approx(100).epsilon(1e-3));
}

TEST_CASE("An episode is what pushes make of its first state, and ends where the pole falls") {
  manual_seed(4);
  const Agent agent{nn::root};
  const std::vector<Episode> episodes = play(agent, 5, Acting::by_chance);
  CHECK(episodes.size() == 5);
  for (const Episode& episode : episodes) {
    CHECK(episode.states.size() == episode.actions.size());
    CHECK(std::abs(episode.states.front().x) <= 0.05);
    for (std::size_t t = 0; t + 1 < episode.states.size(); ++t) {
      const CartPole next = pushed(episode.states[t], episode.actions[t]);
      CHECK(next.x == episode.states[t + 1].x);
      CHECK(next.spin == episode.states[t + 1].spin);
      CHECK(!failed(next));
    }
    CHECK((episode.length() == longest_episode || failed(pushed(episode.states.back(), episode.actions.back()))));
  }
}

TEST_CASE("What turned out better than the rest becomes more probable") {
  manual_seed(5);
  const Agent agent{nn::root};
  // The same state each time; the baseline expects the mean of what came, (1.99 + 1 + 1) / 3, in units of 1 / (1 -
  // discount).
  const CartPole start{.x = 0.01, .angle = 0.02};
  const Episode longer{.states = {start, start}, .actions = {1, 1}}, shorter{.states = {start}, .actions = {0}};
  const Tensors baseline = agent.value.parameters();
  for (const Tensor& parameter : baseline) parameter.assign(Array(parameter.shape(), Real(0)));
  baseline.back().assign(Array(Shape{1}, Real(0.0133)));
  const auto right = [&] { return agent(seen({start})).probs().value().at({0, 1}); };
  const Real before = right();
  optim::SGD sgd{agent.parameters(), {.lr = 0.1}};
  sgd.step(grad(reinforce_loss(agent, {longer, shorter}, 0.99), agent.parameters()));
  CHECK(right() > before);
  sgd.step(grad(reinforce_loss(agent, {{{start, start}, {0, 0}}, {{start}, {1}}}, 0.99), agent.parameters()));
  sgd.step(grad(reinforce_loss(agent, {{{start, start}, {0, 0}}, {{start}, {1}}}, 0.99), agent.parameters()));
  CHECK(right() < before);
}

}  // namespace
}  // namespace policy_gradient
