#!/usr/bin/env python3
"""Writes docs/pytorch_names.md: every public name of PyTorch with its counterpart here, or why there is none.

    docs/tools/make_names_page.py           writes the page
    docs/tools/make_names_page.py --check   ends with 1 if the page is not what it would write

The names are those of tests/fixtures/pytorch_names.txt (which tests/fixtures/make_pytorch_names.py writes), the answers those of
docs/tools/pytorch_names.tsv, and a name without an answer belongs to the first of the groups below whose pattern it matches.
Ends with 1, too, for an answer to a name that PyTorch has not, for two answers to one name, for a name that is neither
answered nor in a group, and where the library has a function or class of PyTorch's name that the answer does not mention.
"""

import collections
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent.parent
page = root / "docs" / "pytorch_names.md"
HEADINGS = [
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.optim.swa_utils",
    "torch.utils.data",
    "torch.Tensor",
    "torch.autograd.Function",
]
F = r"torch(\.nn\.functional)?\."
T = r"torch\.Tensor\."
C = r"torch\.autograd\.Function\."

# PyTorch's names that mean something else than the library's: of its compiler, of devices, of derivatives of convolutions, of
# random numbers, of subscripts, of sparse arrays.
DIFFERENT = {
    "torch.ModuleDict", "torch.Node", "torch.Stream", "torch.Tensor.index", "torch.Tensor.resize", "torch.Tensor.values",
    "torch.nn.Fold", "torch.nn.grad", "torch.normal",
}

# Why there is no answer: a group, its reason, and which names belong to it.
GROUPS = [
    (
        "in place",
        "a result is never written into: `x = f(x)` with what answers the name without the last `_`",
        F + r"(?!resize_)[a-z]\w*_|" + T + r"(?!resize|set_|share|sparse)[a-z]\w*_|" + C + r"(mark_dirty|dirty_tensors)",
    ),
    (
        "copies of views",
        "for PyTorch's compilers: results are contiguous, there are no views to copy",
        r"torch\.(?!index_)\w+_copy",
    ),
    (
        "types of numbers",
        "one type of real numbers, chosen when compiled; whole numbers are 64 bits",
        r"torch\.(bits?\d*(x\d)?|bfloat16|float\d\w*|half|u?int\d*|short|can_cast|is_floating_point|is_signed"
        r"|promote_types|result_type|set_default_(dtype|tensor_type)|types|(BFloat16|Byte|Char|Half|Int|Short)Tensor"
        r"|Tensor\.(byte|char|type|type_as|grad_dtype)|autograd\.Function\.(set_)?output_grad_dtypes?)",
    ),
    (
        "storages",
        "numbers lie in arrays of one kind, `view(x.value())` shows them",
        r"torch\.(\w*Storage\w*|storage|is_storage|from_file|from_dlpack|to_dlpack"
        r"|Tensor\.(storage_\w+|untyped_storage|set_|is_set_to)|autograd\.Function\.mark_shared_storage)",
    ),
    (
        "complex numbers",
        "there are only real numbers",
        r"torch\.(\w*complex\w*|c(half|float|double)|angle|conj\w*|imag|real|isreal|is_conj|is_neg|polar|resolve_(conj"
        r"|neg)|view_as_\w+|eig)",
    ),
    (
        "Fourier transforms",
        "no model of the library works on spectra; a transform of n numbers is a product with an (n, n) matrix",
        r"torch\.(stft|istft|has_spectral)",
    ),
    (
        "windows and signals",
        "there is no signal processing",
        r"torch\.(\w+_window|signal)",
    ),
    (
        "quantisation",
        "there are no quantised numbers",
        r"torch\.(\w*(quantize|qint|quint|fbgemm)\w*|quantization|q_\w+|qscheme|per_(channel|tensor)_\w+|int_repr"
        r"|choose_qparams\w*|ao|fused_moving\w*|nn\.(quantized|quantizable|qat|intrinsic))",
    ),
    (
        "8-bit products",
        "for processors that multiply numbers of 4 or 8 bits",
        r"torch\.nn\.functional\.(scaled_\w*mm_?|grouped_mm|S\w+Type)",
    ),
    (
        "sparse arrays",
        "all arrays are dense",
        r"torch\.(\w*sparse\w*|smm|spmm|dsmm|hsmm|hspmm|sspaddmm|saddmm|optim\.SparseAdam"
        r"|Tensor\.(sparse_\w+|c?(col|row)_indices|indices|values|(is_)?coalesced?|dense_dim|to_dense))",
    ),
    (
        "nested and named",
        "axes have numbers, not names, and arrays are not ragged; lengths and masks say what counts",
        r"torch\.(nested|jagged|masked|Tensor\.(is_nested|to_padded_tensor))",
    ),
    (
        "symbolic sizes",
        "for tracing: a graph is recorded as it runs",
        r"torch\.([sS]ym\w+|sym_\w+)",
    ),
    (
        "layouts of memory",
        "arrays are contiguous and row by row",
        r"torch\.(layout|strided|\w+_format|memory_format|channels_last(_3d)?|as_strided|empty_(strided|permuted)"
        r"|resize_as_?|view_\w+|Tensor\.(stride|is_contiguous|dim_order|new_empty_strided|resize_?))",
    ),
    (
        "control flow of compilers",
        "define by run: write `if` and `while`",
        r"torch\.(cond|while_loop)",
    ),
    (
        "autocast",
        "numbers have one type; `set_matmul_precision` rounds the factors of products",
        r"torch\.(\w*autocast\w*|amp|GradScaler)",
    ),
    (
        "devices",
        "there is one device, the processor",
        r"torch\.(cuda|mps|mtia|xpu|cpu|accelerator|cudnn_\w+|miopen_\w+|mkldnn_\w+|is_vulkan\w*|Event|Stream|device"
        r"|get_(default_)?device\w*|set_default_device|AcceleratorError|batch_norm_\w+|nn\.SyncBatchNorm"
        r"|\w+cudagraph\w*|Tensor\.(ipu|is_(cpu|cuda|ipu|maia|meta|mkldnn|mps|mtia|pinned|xla|xpu)|pin_memory"
        r"|record_stream|to_mkldnn))",
    ),
    (
        "several processes",
        "they train by `mpi::DataParallel`; the rest is MPI's own",
        r"torch\.(nn\.parallel|distributed|is_distributed|multiprocessing|futures|fork|wait|Future|RRefType|AggregationType"
        r"|AVG|SUM|prepare_multi\w*|utils\.data\.DistributedSampler|Tensor\.(is_shared|share_memory_))",
    ),
    (
        "compiling and scripting",
        "for TorchScript, compile and export: here the program is C++, and its graph is recorded as it runs",
        r"torch\.(compile|jit|fx|export|_?classes|library|ops|package|cpp|func|overrides|compiler|(import_ir|merge_type"
        r"|parse_|unify_)\w*|JITException|\w*(Type|Guard|Logger\w*|Iterator|Graph\w*|Module\w*|Function|Spec|Serial\w+"
        r"|Context|State|Script\w*|Dispatch\w*|Torch\w+)|AliasDb|Argument|Benchmark\w+|Block|BufferDict|CallStack|Capsule"
        r"|Code|CompilationUnit|DeepCopy\w+|ErrorReport|functional|Execution\w+|FileCheck|FunctionSchema|Gradient"
        r"|IODescriptor|Node|OperatorInfo|ParameterDict|PyTorchFile\w+|ScriptList|ScriptDict|Tag|Use|Value|ScriptMethod"
        r"|ScriptObject\w*|Throughput\w+)",
    ),
    (
        "switches of the process",
        "there is nothing to switch: results are the same bits for any number of threads, warnings do not exist",
        r"torch\.(\w*deterministic\w*|\w*_warn_always\w*|set_flush_denormal|set_printoptions|\w+_interop_threads"
        r"|init_num_threads|thread_safe_generator|is_inference\w*)",
    ),
    (
        "services",
        "nothing is downloaded and nothing reported",
        r"torch\.(hub|monitor)",
    ),
    (
        "functions of functions",
        "operations take any number of leading axes",
        r"torch\.(vmap|autograd\.Function\.(vmap|generate_vmap_rule))",
    ),
    (
        "names of PyTorch's inside",
        "the inside of other functions",
        r"torch\.(native_\w+|unsafe_\w+|convolution|conv_tbc|hash_tensor|feature_dropout|normal_\w+|grid_sampler\w*"
        r"|affine_grid_generator|nonzero_static|slice_inverse|typename|compiled\w*|foreach|return_types|classproperty"
        r"|get_file_path|nn\.(factory_kwargs|common_types|grad|Container|LinearCrossEntropyOptions)"
        r"|nn\.functional\.(assert_\w+|native_\w+|conv_tbc)|optim\.functional"
        r"|Tensor\.(as_subclass|module_load|output_nr|retains_grad)|autograd\.Function\.metadata)",
    ),
    (
        "retired by PyTorch",
        "old names that PyTorch itself warns of or refuses",
        T + r"(new|reinforce|volatile)",
    ),
    (
        "rules for forward mode",
        "`jvp` goes through the rules of the backward pass, so that nothing is kept for another one",
        C + r"saved?_for_forward",
    ),
    (
        "gradients that did not arrive",
        "a rule runs only where a gradient arrives, so that gy is always there",
        C + r"(set_)?materialize_grads",
    ),
    (
        "memory of backward passes",
        "a pass lets go of what rules keep, unless it is told `.retain_graph = true`; there are no buffers to hand over",
        C + r"(clear_saved_tensors_on_access|maybe_clear_saved_tensors|input_grad_buffers|boxed_grads_call)",
    ),
    (
        "sizes found later",
        "a layer is told its sizes when it is declared",
        r"torch\.nn\.(Lazy\w+|Uninitialized\w+)",
    ),
    (
        "DataPipes",
        "deprecated in PyTorch; a data set is anything with `size()` and `operator[]`",
        r"torch\.utils\.data\.(\w*DataPipe|DataChunk|\w*datapipe\w*|argument_validation|non_deterministic|runtime_\w+)",
    ),
    (
        "data sets one behind the other",
        "a class of your own with `size()` and `get(i)`, or a stream; workers are threads and need not ask who they are",
        r"torch\.utils\.data\.(ChainDataset|ConcatDataset|get_worker_info)",
    ),
    (
        "averages as functions",
        "an average is an object here: `optim::ExponentialMovingAverage`",
        r"torch\.optim\.swa_utils\.get_\w+_avg_fn",
    ),
    (
        "incomplete gammas",
        "distribution functions of the gamma family; PyTorch has no gradients by their first argument either",
        r"torch\.(igammac?)",
    ),
    (
        "parts of a float",
        "no layer or loss needs the bits of a number; `std::frexp` and `std::nextafter` in a loop over `x.value()`",
        r"torch\.(frexp|nextafter)",
    ),
    (
        "bins in several directions",
        "`bincount` of the number of the cell",
        r"torch\.histogramdd",
    ),
    (
        "parts of factorisations",
        "what LAPACK keeps between two calls; `linalg::qr` and `linalg::solve` give what it is for",
        r"torch\.(geqrf|orgqr|ormqr|lu|lu_solve|lu_unpack)",
    ),
    (
        "large factorisations by chance",
        "approximations for matrices too large to factor; `linalg::svd` and `eigh` take what fits in memory",
        r"torch\.(lobpcg|pca_lowrank|svd_lowrank)",
    ),
    (
        "random counts",
        "no model of the library draws counts; a gradient cannot pass through them",
        r"torch\.(poisson|binomial)",
    ),
    (
        "random sequences",
        "for integrals, not for training: points are drawn by `rand` and `randn`",
        r"torch\.quasirandom",
    ),
    (
        "strides of memory",
        "there are no views with strides of their own to write through; `place` and `where` make a tensor with a part written",
        r"torch\.as_strided_scatter",
    ),
    (
        "three directions",
        "layers go in one direction (sequences) and two (pictures); only batch norm has three",
        r"torch\.(nn\.|nn\.functional\.)?\w+3d(_with_indices)?",
    ),
    (
        "pooling by chance",
        "windows of random sizes (Graham 2014), which later networks gave up; `adaptive_max_pool2d` has the same sizes, not random",
        r"torch\.(nn\.)?(functional\.)?(f|F)ractional\w+",
    ),
    (
        "large vocabularies by frequency",
        "the vocabularies here are small enough for `cross_entropy` over all of it",
        r"torch\.nn\.AdaptiveLogSoftmaxWithLoss",
    ),
]


def twin_of(name):
    """The name in torch of a name that torch.nn.functional or a tensor has, too."""
    return re.sub(r"torch\.(nn\.functional|Tensor)\.", "torch.", name)


def read_answers(names, wrong):
    """Of each name that has one: the answer in Markdown and its remark."""
    answers = {}
    for number, line in enumerate((root / "docs" / "tools" / "pytorch_names.tsv").read_text().splitlines(), 1):
        if line.startswith("#"):
            continue
        given, answer, remark = (line.split("\t") + [""])[:3]
        if "`" not in answer:
            answer = f"`{answer}`"
        for name in given.split(", "):
            if name not in names:
                wrong.append(f"pytorch_names.tsv:{number}: PyTorch has no {name}")
            if name in answers:
                wrong.append(f"pytorch_names.tsv:{number}: a second answer to {name}")
            answers[name] = answer, remark
    for name in names:
        twin = twin_of(name)
        if name not in answers and twin in answers:
            answers[name] = answers[twin]
    return answers


def library_names():
    """The names in docs/reference.md, without members."""
    found = set()
    for line in (root / "docs" / "reference.md").read_text().splitlines():
        if entry := re.match(r"- ((?:`[^`]+`(?:, )?)+):", line):
            found |= {word.removesuffix("()") for word in re.findall(r"`([^`]+)`", entry[1])}
    return found


def make():
    version, *names = (root / "tests" / "fixtures" / "pytorch_names.txt").read_text().splitlines()
    wrong = []
    answers = read_answers(set(names), wrong)
    here = library_names()
    counts = collections.Counter()
    rows = collections.defaultdict(list)
    for name in names:
        namespace, _, word = name.rpartition(".")
        said = " ".join(answers.get(name, ()))
        if word in here and name not in DIFFERENT and not re.search(rf"\b{word}\b", said):
            wrong.append(f"{name}: docs/reference.md has {word}, which the answer does not mention")
        if name in answers:
            answer, remark = answers[name]
            counts[next((kind for kind in ("composed", "in part") if remark.startswith(kind)), "the same")] += 1
        else:
            group = next((each for each in GROUPS if re.fullmatch(each[2], name) or re.fullmatch(each[2], twin_of(name))), None)
            if not group:
                wrong.append(f"{name}: neither an answer in pytorch_names.tsv nor a group in make_names_page.py")
                continue
            counts[group[0]] += 1
            answer, remark = "no", f"{group[0]}: {group[1]}"
        rows[namespace].append("| " + " | ".join(cell.replace("|", "\\|") for cell in (f"`{name}`", answer, remark)) + " |")
    if wrong:
        sys.exit("\n".join(wrong))
    answered = counts["the same"] + counts["composed"] + counts["in part"]
    lines = [
        f"# The names of {version}", "",
        "Every public name of torch, torch.nn, torch.nn.functional, torch.optim and torch.utils.data, and every member of torch.Tensor and",
        "torch.autograd.Function (of its ctx, too), with what answers it here, or why nothing does. `pytorch.md` shows the common ones",
        "[side by side](pytorch.md). A remark that begins with \"composed\" says that no function has that name, but others give the same;",
        "one that begins with \"in part\" says what is missing. Names of the library stand in `xgrad`, unless a namespace is written.",
        "Methods of other classes are not listed.", "",
        "Made by `docs/tools/make_names_page.py`; the answers are those of [pytorch_names.tsv](tools/pytorch_names.tsv).", "",
    ]
    for namespace in HEADINGS:
        lines += [f"## {namespace}", "", "| name | here | remark |", "|---|---|---|", *rows[namespace], ""]
    lines += ["## Counts", "", "| of these names | | |", "|---|---|---|", f"| all | | {len(names)} |"]
    lines += [f"| **answered** | | **{answered}** |"]
    lines += [f"| | {kind} | {counts[kind]} |" for kind in ("the same", "composed", "in part")]
    lines += [f"| **not answered** | | **{len(names) - answered}** |"]
    lines += [f"| | {group[0]} | {counts[group[0]]} |" for group in GROUPS if counts[group[0]]]
    return "\n".join(lines) + "\n"


text = make()
if "--check" in sys.argv[1:]:
    if not page.exists() or page.read_text() != text:
        sys.exit("docs/pytorch_names.md is not what docs/tools/make_names_page.py would write")
else:
    page.write_text(text)
