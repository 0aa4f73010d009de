// Numbers that diagrams often show, ready-made for GraphOptions::overlay. One more, multiply_adds_overlay(), is in
// ops/derivatives/count_operations.h.
//
//     save_graph("time.svg", {loss}, {.depth = 2, .overlay = time_overlay(profile)});
#pragma once

#include "../../profile/profile.h"
#include "view.h"

namespace xgrad {

/// The milliseconds of an operation and its gradients in a profile, in all its runs.
GraphOverlay time_overlay(const Profile& profile);

}  // namespace xgrad
