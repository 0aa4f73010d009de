// Round numbers along an axis, and their labels. Private.
#pragma once

#include <string>
#include <vector>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// The round distance (1, 2 or 5 times a power of ten) that divides a span into about `count` parts.
double round_step(double span, int count);

/// The multiples of `step` in [low, high], the ends included whatever rounding did to them; each number once, where
/// several multiples are one double.
std::vector<double> multiples(double step, double low, double high);

/// Round numbers (1, 2 or 5 times a power of ten apart) within [low, high], about `count` of them, or all that a double
/// tells apart if they are fewer. Throws ValueError unless low < high, both finite, and count >= 1, and for parts that
/// are smaller or greater than a normal double.
std::vector<double> nice_ticks(double low, double high, int count);

/// Labels of evenly spaced ticks, all with as many decimals as their distance needs; thousands, millions, 10^9 and
/// 10^12 as k, M, G and T, and still greater and very small numbers with a power of ten: 0.5 1.0 1.5, 0 20k 40k, or 0
/// 2×10⁻⁷.
std::vector<std::string> tick_labels(const std::vector<double>& ticks);

/// An exponent as raised digits: ⁻⁷.
std::string superscript(int exponent);

}  // namespace xgrad::kit
