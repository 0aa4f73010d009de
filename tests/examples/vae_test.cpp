// The variational autoencoder of the example: its bound.
#include <doctest/doctest.h>

#include <cmath>

#include <vae/model.h>
#include <xgrad/kit/data/shapes.h>

namespace vae {
namespace {

const Config small{.latent = 3, .hidden = 32};

Array pictures(std::int64_t count) { return kit::draw_shapes({.seed = 7}, {.count = count, .size = 12}).all().images; }

TEST_CASE("The bound's divergence is what samples of the encoder say, and the bound lies below the likelihood") {
  manual_seed(1);
  const Vae model(nn::root, {1, 12, 12}, small);
  model.log_noise.assign(Array(Shape{}, std::log(Real(0.4))));
  const NoGrad off;
  const Array x = pictures(6);
  const Normal q = model.encode(x), prior(zeros({small.latent}), 1);
  constexpr std::int64_t draws = 4000;
  Tensors weights, terms;  // ln p(x, z) / q(z | x), and ln q(z | x) / p(z)
  double bound = 0;
  for (std::int64_t i = 0; i < draws; ++i) {
    const Tensor z = q.sample();
    terms.push_back(sum(q.log_prob(z) - prior.log_prob(z), 1));
    weights.push_back(sum(model.decode(z).log_prob(x), {1, 2, 3}) - terms.back());
    if (i % 20 == 0) bound += static_cast<double>(mean(model(x).elbo()).item()) * 20 / draws;
  }
  const Tensor found = stack(terms), kl = model(x).kl;
  const Tensor error = stddev(found, 0) / std::sqrt(Real(draws));
  CHECK(all(abs(mean(found, 0) - kl) <= 5 * error));
  const Tensor likelihood = logsumexp(stack(weights), 0) - std::log(Real(draws));
  CHECK(mean(likelihood).item() > bound);
  CHECK(mean(stack(weights)).item() == doctest::Approx(bound).epsilon(0.01));
}

TEST_CASE("The bound's gradient reaches every parameter, and the encoder through the picture that its sample gives") {
  manual_seed(2);
  const Vae model(nn::root, {1, 12, 12}, small);
  const Array x = pictures(4);
  for (const Tensor& g : grad(mean(model(x).elbo()), model.parameters())) CHECK(max(abs(g)).item() > 0);
  const Tensors of_encoder{model.mean.weight, model.log_deviation.weight};
  for (const Tensor& g : grad(mean(model(x).reconstruction), of_encoder)) CHECK(max(abs(g)).item() > 0);
}

}  // namespace
}  // namespace vae
