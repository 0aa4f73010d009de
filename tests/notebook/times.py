#!/usr/bin/env python3
"""How long a kernel and its cells take: the least and the median of five, in seconds. Then an epoch of the translator, one thread, in
seconds of the processor: of examples/translate, which is built, and of its code in a cell."""
import os
import statistics
import subprocess
import tempfile

from kernel import ROOT, Kernel

BLOCK = "nn::EncoderBlock block{nn::root, {.dim = 32, .ffn = 64, .heads = 4, .dropout = 0}};\nconst Tensor y = block(randn({2, 10, 32}));"
CELLS = {
    "an operation": "matmul(x, x)",
    "a model of five layers": "struct Net{0} : nn::Module {{ " +
                              " ".join(f"nn::Linear l{i}{{{{at(\"l{i}\"), 8, 8}}}};" for i in range(5)) + " }};\nNet{0} net{0};\nnet{0}",
    "draw of a transformer block": "draw({{y}})",
    "100 steps of Adam": "for (int i = 0; i < 100; ++i) adam.step(grad(mean(square(matmul(x, w))), {{w}}));",
    "a loop of 10,000,000 steps": "double sum{0} = 0;\nfor (int i = 0; i < 10000000; ++i) sum{0} += 0.5 * i;",
}



def between(text, begin, end):
    return text[text.index(begin):text.index(end)]


def translator():
    """Seconds for an epoch, of the program and of a cell: what thirty epochs take more than none, the least of three."""
    text, environment = (ROOT / "examples/translate/main.cpp").read_text(), dict(os.environ, XGRAD_THREADS="1")
    above = "#include <chrono>\n" + "\n".join(line for line in text.splitlines() if line.startswith("#include <xgrad")) + "\nusing namespace xgrad;\n"
    above += "struct Given { std::string out; std::uint64_t seed = 1; };\n" + between(text, "const std::vector<std::string> attended", "/// Translates")
    training = between(text, "  const kit::Corpus data(", "  const std::chrono::duration")
    with tempfile.TemporaryDirectory() as folder:
        def program(epochs):
            before = os.times()
            subprocess.run([ROOT / "build/grouped/bin/translate", "--epochs", str(epochs), "--out", folder], check=True, env=environment,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return sum(os.times()[2:4]) - sum(before[2:4])

        os.environ.update(environment)
        kernel = Kernel(folder=folder)

        def used():
            fields = open(f"/proc/{kernel.manager.provisioner.pid}/stat").read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        def cell(epochs):
            before = used()
            made = kernel.run(f"Config config;\nconfig.epochs = {epochs};\nGiven example{{.out = \"{folder}\"}};\nmanual_seed(1);\n" + training, timeout=600)
            if made.error:
                raise SystemExit(made.error)
            return used() - before

        try:
            first = kernel.run(above.replace("XGRAD_EXAMPLES_DIR", "XGRAD_DIR \"/examples\""))
            if first.error:
                raise SystemExit(first.error)
            subprocess.run([ROOT / "examples/run", "translate", "--epochs", "0", "--out", folder], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # builds it
            seconds = [[run(30) - run(0) for run in (program, cell)] for _ in range(3)]
        finally:
            kernel.end()
    return [min(of) / 30 for of in zip(*seconds)]


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
epoch = translator()
print(f"{'an epoch of the translator':30s} {epoch[0]:7.3f} in the program, {epoch[1]:.3f} in a cell: {epoch[1] / epoch[0]:.2f} times")
