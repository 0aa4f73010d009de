// A mixture of experts: a router sends each input to one of eight small networks, which share the work among them.
// It learns a function that is another wave in each part of the plane, beside one network that does as many
// multiplications for an input.
//
// Shazeer et al.: Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer, 2017; Fedus, Zoph,
// Shazeer: Switch Transformers, 2022.
#include <iostream>

#include <xgrad/kit/draw/pictures.h>
#include <xgrad/kit/draw/png.h>
#include <xgrad/kit/draw/svg.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

constexpr std::int64_t side = 96;  // of the maps that are drawn

// y = sin(a . x + b), with other a and b in the cell of each of eight centres: of all points that are nearest to it.
struct Waves {
  Tensor grid = stack({0.5 * to_real(arange(8) % 4) - 0.75, to_real(arange(8) / 4) - 0.5}, 1);  // in [-1, 1]^2
  Tensor centres = grid + 0.1 * randn({8, 2}), a = 8 * randn({8, 2}), b = 6 * rand({8});

  // (B, 2) -> (B)
  Index cell(const Tensor& x) const {
    const Tensor apart = unsqueeze(x, 1) - centres;
    return argmin(sum(apart * apart, -1), -1);
  }
  // (B, 2) -> (B, 1)
  Tensor operator()(const Tensor& x) const {
    const Index at = cell(x);
    return unsqueeze(sin(sum(a[at] * x, -1) + b[at]), 1);
  }
};

struct ExpertOptions {
  std::int64_t hidden = 24;
};
struct Expert : nn::Layer<Expert, ExpertOptions> {
  using Layer::Layer;
  const std::int64_t hidden = options.hidden;
  nn::Linear in{at("in"), 2, hidden}, middle{at("middle"), hidden, hidden}, out{at("out"), hidden, 1};
  Tensor forward(const Tensor& x) const { return out(tanh(middle(tanh(in(x))))); }
};

struct Routed {
  Tensor y;        // (B, 1)
  Tensor balance;  // 1 if all experts get the same share, up to the number of experts if one gets all
  Index chosen;    // (B, k), the experts that were asked
};

struct MixtureOptions {
  std::int64_t experts = 8, k = 1;
};
struct Mixture : nn::Layer<Mixture, MixtureOptions> {
  using Layer::Layer;
  nn::Linear router{at("router"), 2, options.experts};
  nn::Stack<Expert> experts{at("experts"), options.experts};

  // y = sum_e p_e(x) E_e(x) over the k experts with the largest p = softmax(5 router(x)); the others are not computed.
  Routed forward(const Tensor& x) const {
    const Tensor p = softmax(5 * router(x));  // (B, experts); 5: sure of itself soon
    const auto [gates, chosen] = topk(p, options.k);
    Tensor y = zeros({x.dim(0), 1});
    std::int64_t e = 0;
    for (const Expert& expert : experts) {
      const Index asked = nonzero(chosen == e++), rows = asked[{_, 0}];  // (n, 2): which input, as which of its k
      const Tensor gate = flatten(gates)[rows * options.k + asked[{_, 1}]];
      y = index_add(y, 0, rows, unsqueeze(gate, 1) * expert(x[rows]));
    }
    // N sum_e f_e P_e of N experts, with f the shares of the inputs that they get, P the means of their p
    const Tensor share = to_real(bincount(flatten(chosen), {.minlength = options.experts})) / chosen.size();
    return {y, options.experts * sum(share * mean(p, 0)), chosen};
  }
};

// Four maps of the plane: truth, what both have learnt, and the expert that the mixture chooses, in a colour each.
void save_picture(const Tensor& truth, const Tensor& mixed, const Tensor& single, const Index& chosen) {
  const auto grey = [](const Tensor& y) {
    return broadcast_to(reshape(clamp(0.5 + 0.5 * y, 0., 1.), {1, 1, side, side}), {1, 3, side, side});
  };
  std::vector<std::uint32_t> colours;
  for (const std::int64_t e : chosen) colours.push_back((e < 7 ? kit::series_inks[e] : kit::frame_ink).light);
  const Tensor asked(kit::coloured(colours, side, 1)[{slice(0, 3)}].reshaped({1, 3, side, side}));
  kit::save("mixture_of_experts.svg",
            kit::picture_grid_svg(
                {.title = "Which expert serves which part of the plane",
                 .images = concat({grey(truth), grey(mixed), grey(single), asked}).value(),
                 .captions = {"truth", "mixture of experts", "one network of the same cost", "which expert is asked"},
                 .columns = 4,
                 .width = 200}));
}

int main() {
  manual_seed(1);
  const Waves waves;
  const Mixture mixture{nn::root};
  const Expert single{nn::root, {.hidden = 25}};  // 700 multiplications for an input; router and one expert: 664
  optim::Adam adam{mixture.parameters(), {.lr = 3e-3}}, single_adam{single.parameters(), {.lr = 3e-3}};
  for (int step = 1; step <= 8000; ++step) {
    const Tensor x = 2 * rand({256, 2}) - 1, y = waves(x);
    const Routed routed = mixture(x);
    const Tensor loss = mse_loss(routed.y, y), single_loss = mse_loss(single(x), y);
    adam.step(grad(loss + 0.1 * routed.balance, mixture.parameters()));
    single_adam.step(grad(single_loss, single.parameters()));
    if (step % 1000 == 0) {
      std::cout << "step " << step << "  loss " << loss.item() << "  balance " << routed.balance.item()
                << "  one network " << single_loss.item() << std::endl;
    }
  }

  const NoGrad off;
  const Tensor line = linspace(-1, 1, side);
  const Tensor x = flatten(stack(meshgrid({line, line}, {MeshIndexing::xy}), -1), 0, 1), y = waves(x);
  const Routed routed = mixture(x);
  const double error = mse_loss(routed.y, y).item(), single_error = mse_loss(single(x), y).item();
  const Index chosen = routed.chosen[{_, 0}];
  save_picture(y, routed.y, single(x), chosen);

  // Of the points that an expert gets, the share that lies in the cell from which it gets most.
  const Index cells = waves.cell(x);
  double special = 0;
  for (std::int64_t e = 0; e < 8; ++e) {
    const Mask its = chosen == e;
    if (any(its)) special += double(max(bincount(cells[its])).item()) / x.dim(0);
  }
  std::cout << "result error=" << error << " one_network=" << single_error << " variance=" << var(y).item()
            << " special=" << special << " balance=" << routed.balance.item() << "\n";
  return error < 0.7 * single_error && special > 0.5 ? 0 : 1;
}
