// A cart that can be pushed to the left or to the right, and on it a pole that would fall over otherwise: the problem
// of Barto, Sutton, Anderson ("Neuronlike adaptive elements that can solve difficult learning control problems", 1983)
// with the numbers of Gym's CartPole-v1.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace policy_gradient {

/// Metres and radians from the middle, upright, and their changes per second.
struct CartPole {
  double x = 0, v = 0;         ///< of the cart, positive to the right
  double angle = 0, spin = 0;  ///< of the pole, positive to the right
};

inline constexpr double gravity = 9.8, cart_mass = 1, pole_mass = 0.1;  // m/s^2, kg, kg
inline constexpr double half_length = 0.5;                              // of the pole, m
inline constexpr double push = 10, time_step = 0.02;                    // N, s
inline constexpr double farthest = 2.4, steepest = 12 * std::numbers::pi / 180;
inline constexpr std::int64_t longest_episode = 500;

/// How fast v and spin change.
struct Accelerations {
  double v = 0, spin = 0;
};

/// Of a cart that is pushed with a force in newtons. The pole turns about its end without friction.
inline Accelerations accelerations(const CartPole& at, double force) {
  const double sine = std::sin(at.angle), cosine = std::cos(at.angle), mass = cart_mass + pole_mass;
  const double share = (force + pole_mass * half_length * at.spin * at.spin * sine) / mass;
  const double spin =
      (gravity * sine - cosine * share) / (half_length * (4.0 / 3 - pole_mass * cosine * cosine / mass));
  return {.v = share - pole_mass * half_length * spin * cosine / mass, .spin = spin};
}

/// The state a time step later (Euler's method), pushed to the right for action 1, else to the left.
inline CartPole pushed(const CartPole& at, std::int64_t action) {
  const Accelerations a = accelerations(at, action == 1 ? push : -push);
  return {.x = at.x + time_step * at.v,
          .v = at.v + time_step * a.v,
          .angle = at.angle + time_step * at.spin,
          .spin = at.spin + time_step * a.spin};
}

/// Whether the cart has left the track or the pole leans too far: then the episode is over.
inline bool failed(const CartPole& at) { return std::abs(at.x) > farthest || std::abs(at.angle) > steepest; }

}  // namespace policy_gradient
