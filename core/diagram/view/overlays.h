// Numbers that diagrams often show, ready-made for GraphOptions::overlay. One more, multiply_adds_overlay(), is in
// ops/derivatives/count_operations.h.
//
//     save_graph("memory.svg", {loss}, {.depth = 2, .overlay = kept_bytes_overlay()});
#pragma once

#include "../../profile/profile.h"
#include "view.h"

namespace xgrad {

/// The bytes created by an operation that stay in memory until the backward pass.
GraphOverlay kept_bytes_overlay();
/// The number of elements that an operation computes: the size of its result.
GraphOverlay elements_overlay();
/// The milliseconds of an operation and its gradients in a profile, in all its runs.
GraphOverlay time_overlay(const Profile& profile);

}  // namespace xgrad
