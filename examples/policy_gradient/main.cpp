// REINFORCE: a program that learns to balance a pole on a cart by trial, with only the time that it stood as reward. It
// draws the returns of all episodes, and the way of cart and pole before and after.
//
//   examples/run policy_gradient [--updates N] [--episodes N] [--lr RATE] [--discount SHARE] [--seed N] [--out FOLDER]
#include <algorithm>
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/xgrad.h>

#include "agent.h"
#include "cart_pole.h"

namespace {

using namespace policy_gradient;

struct Config {
  std::int64_t updates = 100;
  std::int64_t episodes = 16;  // of each update
  double learning_rate = 0.01;
  double discount = 0.99;
};

double mean_return(const std::vector<Episode>& episodes) {
  double sum = 0;
  for (const Episode& episode : episodes) sum += episode.length();
  return sum / episodes.size();
}

/// A number of every state of an episode, against the time.
template <class F>
kit::Series trace(const std::string& name, const Episode& episode, kit::Series::Style style, const F& number) {
  kit::Series series{.name = name, .style = style};
  for (const CartPole& at : episode.states) {
    series.x.push_back(time_step * series.x.size());
    series.y.push_back(number(at));
  }
  return series;
}

void draw_traces(const std::filesystem::path& path, const Episode& before, const Episode& after) {
  const auto both = [&](const auto& number) {
    return std::vector{trace("before learning", before, kit::Series::Style::dashed, number),
                       trace("after", after, kit::Series::Style::line, number)};
  };
  kit::save(path, kit::panel_plot({{.series = both([](const CartPole& at) { return at.x; }),
                                    .title = "Cart",
                                    .x_label = "s",
                                    .y_label = "m from the middle"},
                                   {.series = both([](const CartPole& at) { return at.angle / steepest * 12; }),
                                    .title = "Pole",
                                    .x_label = "s",
                                    .y_label = "degrees from upright"}},
                                  {.title = "One episode"}));
}

void run(const Config& config, kit::Example& example) {
  const Agent agent{nn::root};
  optim::Adam adam{agent.parameters(), {.lr = config.learning_rate}};
  const Episode before = play(agent, 1, Acting::greedily).front();

  kit::Series every{.name = "an episode", .style = kit::Series::Style::points}, average{.name = "mean of an update"};
  kit::Trainer trainer{
      agent,
      adam,
      {.schedule = optim::schedule::linear({.start_factor = 1, .end_factor = 0, .total_iters = config.updates}),
       .validate = [&] { return kit::Scores{{"mean_return", average.y.back()}}; },
       .validate_every = 1,
       .goal = kit::Goal::greatest,
       .folder = example.out}};
  trainer.fit(config.updates, [&] {
    const std::vector<Episode> episodes = play(agent, config.episodes, Acting::by_chance);
    average.y.push_back(mean_return(episodes));
    for (const Episode& episode : episodes) {
      every.x.push_back(average.y.size());
      every.y.push_back(episode.length());
    }
    return reinforce_loss(agent, episodes, config.discount);
  });

  const std::vector<Episode> after = play(agent, 100, Acting::greedily);
  const auto shortest =
      std::ranges::min_element(after, {}, [](const Episode& episode) { return episode.length(); })->length();
  const std::size_t last = std::min<std::size_t>(10, average.y.size());
  double recent = 0;
  for (std::size_t i = average.y.size() - last; i < average.y.size(); ++i) recent += average.y[i] / double(last);
  kit::save(example.out / "returns.svg", kit::line_plot({every, average}, {.title = "Steps that the pole stood",
                                                                           .x_label = "update",
                                                                           .y_label = "steps, 500 at most"}));
  draw_traces(example.out / "trace.svg", before, after.front());

  std::cout << "by chance: " << kit::fixed(average.y.front(), 1) << " steps at first, " << kit::fixed(recent, 1)
            << " in the last " << last << " updates\n"
            << "greedily: " << before.length() << " steps before learning; after it, in 100 episodes, "
            << kit::fixed(mean_return(after), 1) << " of " << longest_episode << ", the shortest " << shortest << "\n";
  example.result.add("first", average.y.front())
      .add("last", recent)
      .add("greedy", mean_return(after))
      .add("shortest", shortest);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.integer("--updates", c.updates, "steps of learning", 1, 1'000'000);
    o.integer("--episodes", c.episodes, "episodes before each step of learning", 1, 10'000);
    o.real("--lr", c.learning_rate, "learning rate", 1e-9, 1000);
    o.real("--discount", c.discount, "how much the next step counts", 0, 0.999999);
  };
  return kit::main<Config>(argc, argv, "policy_gradient", "REINFORCE: balancing a pole, learnt by trying.", options,
                           run);
}
