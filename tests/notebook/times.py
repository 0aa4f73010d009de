#!/usr/bin/env python3
"""How long a kernel and its cells take: the least and the median of five, in seconds."""
import statistics

from kernel import Kernel

BLOCK = "nn::EncoderBlock block{nn::root, {.dim = 32, .ffn = 64, .heads = 4, .dropout = 0}};\nconst Tensor y = block(randn({2, 10, 32}));"
CELLS = {
    "an operation": "matmul(x, x)",
    "a model of five layers": "struct Net{0} : nn::Module {{ " +
                              " ".join(f"nn::Linear l{i}{{{{at(\"l{i}\"), 8, 8}}}};" for i in range(5)) + " }};\nNet{0} net{0};\nnet{0}",
    "draw of a transformer block": "draw({{y}})",
    "100 steps of Adam": "for (int i = 0; i < 100; ++i) adam.step(grad(mean(square(matmul(x, w))), {{w}}));",
    "a loop of 10,000,000 steps": "double sum{0} = 0;\nfor (int i = 0; i < 10000000; ++i) sum{0} += 0.5 * i;",
}

starts, kernel = [], None
for _ in range(3):
    if kernel:
        kernel.end()
    kernel = Kernel()
    starts.append(kernel.seconds)
print(f"{'ready':30s} {min(starts):7.3f} {statistics.median(starts):7.3f}")
try:
    first = kernel.run("using namespace xgrad;\nconst Tensor x = rand({8, 8}), w = variable(rand({8, 8}));\noptim::Adam adam{{w}, {.lr = 0.01}};\n" + BLOCK)
    if first.error:
        raise SystemExit(first.error)
    for name, code in CELLS.items():
        seconds = []
        for i in range(5):
            cell = kernel.run(code.format(i))
            if cell.error:
                raise SystemExit(f"{name}: {cell.error}")
            seconds.append(cell.seconds)
        print(f"{name:30s} {min(seconds):7.3f} {statistics.median(seconds):7.3f}")
finally:
    kernel.end()
