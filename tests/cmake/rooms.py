"""The rooms of core, and of the kit, each with those that it may know of besides itself, as docs/inside/design.md draws them."""
ROOMS = {
    "core/base": [],
    "core/runtime": ["base"],
    "core/array": ["base", "runtime"],
    "core/graph": ["base", "runtime", "array"],
    "core/files": ["base", "runtime", "array"],
    "core/profile": ["base", "runtime", "array", "graph", "files"],
    "core/debug": ["base", "runtime", "array", "graph", "profile"],
    "core/diagram/view": ["base", "runtime", "array", "graph", "files", "profile"],
    "core/diagram/layout": ["base", "runtime", "array", "graph", "files", "profile", "diagram/view"],
    "core/diagram/render": ["base", "runtime", "array", "graph", "files", "profile", "diagram/view", "diagram/layout"],
}
KIT = {
    "unicode": [],
    "program": ["unicode"],
    "files": ["unicode", "program"],
    "text": ["unicode", "program", "files"],
    "data": ["unicode", "program", "files"],
    "draw": ["unicode", "program", "files"],
    "train": ["unicode", "program", "files", "text", "data", "draw"],
    "mpi": ["unicode", "program", "files", "text", "data", "draw", "train"],
    "notebook": ["unicode", "program", "files", "text", "data", "draw", "train"],
}
