// A variational autoencoder (Kingma, Welling: "Auto-Encoding Variational Bayes", 2013): every picture x comes from a
// few latent numbers z. The decoder draws the picture of a z; the encoder guesses the z of a picture.
#pragma once

#include <xgrad/xgrad.h>

namespace vae {

using namespace xgrad;
using distributions::Normal;

struct Config {
  std::int64_t latent = 16;  ///< numbers in z
  std::int64_t hidden = 512;
};

/// A bound on the likelihood of each picture, (B): ln p(x) >= E_q ln p(x | z) - KL(q(z | x) | p(z)).
struct Bound {
  Tensor reconstruction;  ///< ln p(x | z) for a z drawn from q: how well the picture is found again
  Tensor kl;              ///< how much q tells about the picture: the cost of z

  Tensor elbo() const { return reconstruction - kl; }
};

/// p(z) = Normal(0, 1),   p(x | z) = Normal(picture(z), noise),   q(z | x) = Normal(mean(x), deviation(x))
///
/// Pictures (B, C, H, W). The noise, one number that is 0.2 at first, is learned with the rest (Rybkin, Daniilidis,
/// Levine: "Simple and effective VAE training with calibrated decoders", 2021), so that the two parts need no weights.
struct Vae : nn::Module {
  const Shape picture;  // (C, H, W)
  nn::Linear features, mean, log_deviation;
  nn::Mlp decoder;
  const Tensor log_noise{param("log_noise", {}, nn::init::constant(-1.6))};

  Vae(nn::At here, const Shape& picture, const Config& config)
      : Module(std::move(here)),
        picture(picture),
        features(at("features"), picture.numel(), config.hidden),
        mean(at("mean"), config.hidden, config.latent),
        log_deviation(at("log_deviation"), config.hidden, config.latent),
        decoder(at("decoder"), {.in = config.latent, .hidden = config.hidden, .out = picture.numel()}) {}

  /// q(z | x): (B, C, H, W) -> (B, Z).
  Normal encode(const Tensor& x) const {
    const Tensor h = relu(features(flatten(x, 1)));
    return Normal(mean(h), exp(log_deviation(h)));
  }
  /// p(x | z): (B, Z) -> (B, C, H, W).
  Normal decode(const Tensor& z) const { return Normal(unflatten(sigmoid(decoder(z)), 1, picture), exp(log_noise)); }
  /// z is drawn as mean + deviation e, which has a gradient with respect to both.
  Bound operator()(const Tensor& x) const {
    const Normal q = encode(x);
    const Tensor z = q.rsample();
    return {.reconstruction = sum(decode(z).log_prob(x), {1, 2, 3}),
            .kl = sum(kl_divergence(q, Normal(0, 1)), 1)};
  }
};

}  // namespace vae
