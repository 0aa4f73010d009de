#!/usr/bin/env bash
# Code that does not compile, and the compiler's message: usual mistakes and the sentence that each must give, with every
# compiler that there is. The table of docs/guide/debugging.md quotes g++; each of its rows is tried.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
export LC_ALL=C
mkdir -p "$sandbox/include/xgrad"
for folder in core ops nn optim; do ln -s "$root/$folder" "$sandbox/include/xgrad/$folder"; done

cat >"$sandbox/all.h" <<'END_OF_FILE'
#include <algorithm>
#include <cmath>
#include <iostream>

#include <xgrad/core/graph/grad.h>
#include <xgrad/nn/nn.h>
#include <xgrad/nn/pytorch/pytorch.h>
#include <xgrad/ops/elementwise/fused.h>
#include <xgrad/ops/ops.h>
#include <xgrad/optim/optim.h>

using namespace xgrad;

struct Block : nn::Module {
  Block(At here, int width, bool wide = false) : Module(here), w(param("w", {width}, nn::init::ones())) { (void)wide; }
  const Tensor w;
};
struct WidthOptions {
  int width = 2;
};
struct PlaceLost : nn::Module {
  using Options = WidthOptions;
  explicit PlaceLost(int) {}
  explicit PlaceLost(const WidthOptions&) {}
  Tensor operator()(const Tensor& in) const { return in; }
};
struct NothingInherited : nn::Layer<NothingInherited, WidthOptions> {
  Tensor forward(const Tensor& in) const { return in; }
};
inline const Tensor x(2);
inline const auto one = [](auto, auto) { return 1; };
inline const auto same_number = [](auto v) { return v; };
END_OF_FILE

compiler=
compile() { # CODE: what the compiler says
  echo "$1" >"$sandbox/code.cpp"
  if [ "$compiler" = g++ ]; then
    g++ -std=c++20 -fsyntax-only -I"$sandbox/include" -include "$sandbox/all.h" "$sandbox/code.cpp" 2>&1
  else
    "$compiler" -std=c++20 -fsyntax-only -ferror-limit=0 -Werror=reorder-init-list -I"$sandbox/include" \
      -include-pch "$sandbox/all.pch" "$sandbox/code.cpp" 2>&1
  fi
}
refuses() { # SENTENCE CODE
  local said
  if said=$(compile "$2"); then echo "$compiler compiles: $2"; exit 1; fi
  said=${said//\\\"/\"}
  [[ "$said" == *"$1"* ]] || { echo "$compiler does not say '$1' of: $2"; head -n 20 <<<"$said"; exit 1; }
}
row() { # WORDS CODE: a row of the table; other compilers say it in other words
  local said
  if said=$(compile "$2"); then echo "$compiler compiles: $2"; exit 1; fi
  [[ $compiler != g++ || $(grep 'error:' <<<"$said") == *"$1"* ]] ||
    { echo "$compiler does not say '$1' of: $2"; head -n 20 <<<"$said"; exit 1; }
  echo "$1" >>"$sandbox/tried"
}
in_module() { refuses "$1" "struct Model : nn::Module { $2 };"; }
in_function() { refuses "$1" "void f() { $2 }"; }

for compiler in g++ clang++; do
  command -v $compiler >/dev/null || { echo "no $compiler"; continue; }
  echo "$compiler"
  if [ $compiler = g++ ]; then pch=$sandbox/all.h.gch; else pch=$sandbox/all.pch; fi
  $compiler -std=c++20 -I"$sandbox/include" -x c++-header "$sandbox/all.h" -o "$pch"

  echo "  what is right compiles"
  said=$(compile '
    struct Called : nn::Layer<Called> {
      Called(At here, const std::string&) : Layer(here) {}
      Tensor forward(const Tensor& in) const { return in; }
    };
    struct Right : nn::Module {
      nn::Sequential net{at("net"), nn::make<Called>("text"), relu};
      nn::Linear fc{at("fc"), 2, 3};
      const Tensor w = param("w", {2}, nn::init::ones());
      const Tensor other = xgrad::variable(Array({2}, Real(1)), "other");
      nn::Stack<Block> two{at("two"), 2, 3, true};
      nn::Stack<nn::Stack<Block>> many{at("many"), 2, 2, 3};
      nn::Stack<nn::Mlp> mlps{at("mlps"), 2, nn::MlpOptions{.in = 2, .hidden = 3}};
    };
    const nn::Linear alone{nn::root, 2, 3};
    const nn::Linear in_braces{{}, 2, 3};
    Tensor right(const Tensor& a) {
      return elementwise("a", x, [](auto v) { return where(v > 0 && !(v > 1) || v == 2, exp(v), 2 * v); }, one) +
             elementwise("b", x, [](Pack v) { return v + 1; }, one) +
             elementwise("c", x, a, [](auto v, auto w) { return maximum(v, w); }, [](auto, auto, auto) { return 0; },
                         [](auto v, auto w, auto) { return where(v > w, Real(0), Real(1)); });
    }') || { echo "$said"; exit 1; }

  echo "  variables in modules"
  sentence='a variable in a module is no parameter of it: use param("name", shape, init)'
  for value in '{1, 2}, "w"' '{{1, 2}, {3, 4}}' '1.5, "w"' 'Array({2}, Real(1)), "w"' 'Tensor(2)'; do
    in_module "$sentence" "const Tensor w = variable($value);"
  done

  echo "  layers without a place"
  # Those that name it, and those that inherit it.
  layers=$(sed -n 's/^  explicit \([A-Za-z0-9]*\)(Placeless, \.\.\.);.*/\1/p' "$root"/nn/*.h "$root"/nn/*/*.h)
  layers+=" "$(awk 'FILENAME ~ /function_layer/ { next } /^struct/ { name = $2 }
    /^  using [A-Za-z]*Layer(Of)?::|^  using [A-Za-z]*(Loss|Dropout)::/ { print name }
    /^using [A-Za-z0-9]+ =( detail::(FunctionLayer|DropoutLayer)<|$)/ { print $2 }' "$root"/nn/layers/*.h)
  [ "$(wc -w <<<"$layers")" -ge 75 ]
  # The compiler says it once for each type that is no place.
  code='using namespace nn; using namespace nn::pytorch; long n;'
  for layer in $layers; do code+=" struct No$layer {}; $layer of_$layer{No$layer(), n};"; done
  said=$(compile "$code") && { echo "compiles"; exit 1; }
  times=$(grep -c 'error: .*a layer needs a place first: at(' <<<"$said" || true)
  [ "$times" = "$(wc -w <<<"$layers")" ] || { echo "said $times times:"; echo "$said"; exit 1; }
  in_module 'a layer needs a place first' 'nn::Linear fc{2, 3};'
  in_module 'a layer needs a place first' 'nn::Linear fc{"fc", 2, 3};'

  echo "  writing into a tensor"
  in_function 'a tensor is not written in place' 'Tensor y = x; y[0] = 5;'
  in_function 'a tensor is not written in place' 'Tensor y = x; y[{0, 1}] = y;'
  in_function 'a tensor is not written in place' 'Tensor y = x; exp(y) = y;'

  echo "  what PyTorch's users type: it compiles, or the first error says what to write"
  begin='namespace F = xgrad; void f(const Tensor& x, const Tensor& y, const Index& i, const Mask& m) {'
  said=$(compile "$begin x.shape(); x.item(); x.detach(); x.backward(); x.grad(); x.requires_grad(); x[{_, 0}]; x[m]; zeros({2, 3});
    matmul(x, y); sum(x, -1); squeeze(x, -1); flip(x, 0); topk(x, 3); sort(x, 0); gather(x, 1, i); where(m, x, y);
    masked_fill(x, m, 0); arange(5); ones_like(x); stack({x, y}, 0); F::relu(x); F::softmax(x, -1); F::cross_entropy(x, i);
    einsum(\"ij,jk->ik\", {x, y}); mask({{true, false}}); }") || { echo "$said"; exit 1; }
  for typed in 'x.T()|transpose(x)' 'x.view({1, 2})|reshape(x, shape)' 'x.size(0)|x.dim(axis)' 'x.dim()|x.rank()' \
    'x.sum(-1)|sum(x, ...) is a function, not a member' 'x.mean({0, 1})|mean(x, ...) is a function, not a member' \
    'x.numel()|x.size()' 'x.expand({2, 3})|broadcast_to(x, shape)' 'cat({x, y}, 1)|concat({a, b}, axis)' 'bmm(x, y)|matmul(a, b)' \
    'x.add_(y)|x = x + y, or w.assign(value) of a leaf' 'x.masked_fill_(m, 0)|x = x + y, or w.assign(value) of a leaf' \
    'zeros(2, 3)|zeros({2, 3}), with braces' 'ones(3)|ones({2, 3}), with braces' 'randn(2, 3)|randn({2, 3}), with braces' \
    'reshape(x, 3, 2)|reshape(x, {2, 3}), with braces' 'x[_, 1]|x[{_, 1}], with braces' 'x[_, new_axis]|x[{_, 1}], with braces'; do
    said=$(compile "$begin ${typed%%|*}; }") && { echo "$compiler compiles: $typed"; exit 1; }
    [[ $(grep -m 1 'error:' <<<"$said") == *"is unavailable: ${typed#*|}" ]] || { echo "$compiler says otherwise: $typed"; exit 1; }
  done

  echo "  the table of docs/guide/debugging.md"
  net='struct Net : nn::Layer<Net> { using Layer::Layer; Tensor forward(const Tensor& in) const { return in; } };'
  bare=${net/using Layer::Layer; /} of_options=${net/nn::Layer<Net>/nn::Layer<Net, WidthOptions>}
  rm -f "$sandbox/tried"
  row "no matching function for call to 'Net::Net(<brace-enclosed initializer list>)'" "$bare const Net mine{nn::root};"
  row "no matching function for call to 'Net::Net(<brace-enclosed initializer list>)'" \
    "$of_options const Net mine{nn::root, {.height = 2}};"
  row "no matching function for call to 'Net::Net(<brace-enclosed initializer list>)'" "$of_options const Net mine{{.width = 2}};"
  row "from '<brace-enclosed initializer list>' to 'Net'" "$bare struct Model : nn::Module { Net mine{at(\"mine\")}; };"
  row "use of deleted function 'Net::Net()'" "$net Net mine;"
  row 'a layer needs a place first' 'struct Model : nn::Module { nn::Linear fc{2, 3}; };'
  needs='forward does not take the inputs of this call'
  row "$needs" "$net Tensor f(const Net& mine) { return mine(x, x); }"
  row "$needs" "${net/) const/)} Tensor f(const Net& mine) { return mine(x); }"
  row "$needs" "$net Tensor f(const nn::Stack<Net>& blocks) { return blocks(x, nn::causal); }"
  row "$needs" 'Tensor f(const nn::MultiHeadAttention& attn, const Mask& mask) { return attn(x, mask); }'
  row "use of deleted function 'Net::Net(const Net&)'" "$net void g(Net mine); void f(const Net& mine) { g(mine); }"
  row "use of deleted function 'Net::Net(const Net&)'" "$net void f(const Net& mine) { [mine] { return mine(x); }(); }"
  row "use of deleted function 'Net::Net(const Net&)'" "$net void f(std::vector<Net>& all, const Net& mine) { all.push_back(mine); }"
  row "use of deleted function 'Net::Net(Net&&)'" "$net Net f() { Net mine{nn::root}; return mine; }"
  row 'a tensor is not written in place' 'void f(const Mask& mask) { Tensor y = x; y[mask] = 0; }'
  row "from 'xgrad::Mask' {aka 'xgrad::BasicArray<bool>'} to 'bool'" 'void f(const Index& a) { if (a == a) return; }'
  row "use of deleted function 'xgrad::Tensor::operator bool() const'" 'void f() { if (x) return; }'
  row 'is unavailable: reshape(x, shape)' 'Tensor f() { return x.view({2}); }'
  row 'BasicArray(std::initializer_list<xgrad::Nested<T> >)' 'const Index i{1, 2};'
  row "reference to 'pad' is ambiguous" 'constexpr int pad = 0; bool f(int id) { return id == pad; }'
  row "reference to 'any' is ambiguous" $'#include <any>\nusing namespace std; bool f(const Mask& mask) { return any(mask); }'
  row "from expression of type 'const xgrad::Index'" 'Tensor f(const Index& i) { return relu(i); }'
  row "(operand types are 'const xgrad::Tensor' and 'const xgrad::Index'" 'Tensor f(const Index& i) { return x * i; }'
  row "(operand types are 'const xgrad::Tensor' and 'const xgrad::Mask'" 'Tensor f(const Mask& mask) { return x * mask; }'
  row "(operand types are 'const xgrad::Mask' {aka 'const xgrad::BasicArray<bool>'} and" \
    'Tensor f(const Mask& mask) { return x + mask * -1e9; }'
  row "(operand types are 'const xgrad::Mask' {aka 'const xgrad::BasicArray<bool>'} and" \
    'Tensor f(const Mask& mask) { return mask * x; }'
  row "(operand types are 'int' and 'const xgrad::Mask'" 'Tensor f(const Mask& mask) { return x * to_real(1 - mask); }'
  row "type 'const xgrad::Mask&' {aka 'const xgrad::BasicArray<bool>&'} from expression of type 'const xgrad::Tensor'" \
    'void g(const Mask&); void f() { g(x); }'
  row "no matching function for call to 'where(const xgrad::Mask&, const xgrad::Tensor&, const xgrad::Index&)'" \
    'Tensor f(const Mask& mask, const Index& i) { return where(mask, x, i); }'
  row "no matching function for call to 'mean(const xgrad::Index&)'" 'Tensor f(const Index& i) { return mean(i); }'
  row "cannot convert 'xgrad::Tensor' to 'double'" 'double f() { return mean(x); }'
  row "type 'const xgrad::Tensors&' {aka 'const std::vector<xgrad::Tensor>&'} from expression of type 'const xgrad::Tensor'" \
    'Tensors f(const Tensor& w) { return grad(x, w); }'
  row "to non-scalar type 'const xgrad::Tensor' requested" 'void f(const Tensor& w) { const Tensor g = grad(x, {w}); }'
  row "from '<brace-enclosed initializer list>' to 'xgrad::Tensor'" 'Tensor f() { Tensor t = {1, 2}; return t; }'
  row "lvalue required as left operand of assignment" 'void f(Index ids) { ids.at({0, 1}) = 3; }'
  row "and 'const xgrad::Tensors' {aka 'const std::vector<xgrad::Tensor>'}" \
    'void f(const Tensors& gradients) { std::cout << gradients; }'
  row "call of overloaded 'Linear(xgrad::nn::Linear)' is ambiguous" \
    'struct Model : nn::Module { Model() { all.push_back(nn::Linear{at("l"), 2, 3}); } std::vector<nn::Linear> all; };'
  row "designator order for field 'xgrad::nn::MultiHeadAttentionOptions::dropout' does not match declaration order" \
    'const nn::MultiHeadAttention attn{nn::root, 4, 2, {.bias = true, .dropout = 0.1}};'
  row "no matching function for call to 'xgrad::optim::Adam::Adam(<brace-enclosed initializer list>)'" \
    'optim::Adam adam{Tensors{x}, 0.01};'
  row "passing 'xgrad::Tensor' as 'this' argument discards qualifiers" \
    "${net/const Tensor& in/const Tensor& in, const Mask&} Tensor f(const nn::Stack<Net>& blocks) { return blocks(x); }"
  row "<unresolved overloaded function type>" 'auto f() { return x.shape[0]; }'
  row "invalid use of non-static member function" 'void f(const Tensor& w) { const Tensor g = w.grad; }'
  row "(operand types are 'double' and 'xgrad::Tensor')" 'void f(double s) { s += x[0]; }'
  row "'begin' was not declared in this scope" 'void f() { for (const auto& part : x) (void)part; }'
  row "and 'xgrad::ValuesAndIndices')" 'auto f() { return x - max(x, 1); }'
  row "{aka 'xgrad::BasicArray<long int>'} and 'const xgrad::Tensor')" 'auto f() { return argmax(x, 1) == x; }'
  diff <(sed -n '/^## It does not compile/,/^## What a model costs/s/^| `\([^`]*\)` |.*/\1/p' \
    "$root/docs/guide/debugging.md") <(uniq "$sandbox/tried") || { echo "the rows that were tried are others"; exit 1; }
  [ "$(wc -l <"$sandbox/tried")" -ge 32 ]

  echo "  memory"
  in_function 'aligned to 64 bytes, and this type wants more' \
    'struct alignas(128) Wide { Tensor t; } wide{x}; record("f", x.value(), wrt(x, [wide](const Tensor& gy) { return gy; }));'

  echo "  stacks"
  in_module 'a place and how many layers come first' 'nn::Stack<Block> blocks{at("blocks"), true ? "3" : ""};'
  in_module 'a place and how many layers come first' 'nn::Stack<Block> blocks{2, 3};'
  in_module 'Layer has no constructor (At, arguments...)' 'nn::Stack<Block> blocks{at("blocks"), 2};'
  in_module 'Layer has no constructor (At, arguments...)' 'nn::Stack<Block> blocks{at("blocks"), 2, "wide"};'
  in_module 'Layer is no Module' 'nn::Stack<Tensor> blocks{at("blocks"), 2, 3};'

  echo "  layers that take no place: one error, which says what to write"
  own='Layer has no constructor (At, arguments...): a layer X of your own has one by `using Layer::Layer;`'
  for member in 'Stack<PlaceLost> l{at("l"), 2, 3}' 'Stack<NothingInherited> l{at("l"), 2, WidthOptions{}}' \
    'Maybe<PlaceLost> l{at("l"), true, 3}' 'Maybe<PlaceLost> l{at("l"), true, WidthOptions{}}' \
    'Sequential l{at("l"), nn::make<PlaceLost>(3), nn::make<PlaceLost>(WidthOptions{.width = 3})}' \
    'Sequential l{at("l"), {nn::make<NothingInherited>(WidthOptions{.width = 3}), relu}}' \
    'Sequential l{at("l"), nn::make<NothingInherited>()}'; do
    in_module "$own" "nn::$member;"
    said=$(compile "struct Model : nn::Module { nn::$member; };" || true)
    [[ $(grep 'error:' <<<"$said") != *unique_ptr.h* && $(grep 'error:' <<<"$said") != *optional* ]] || { echo "$said"; exit 1; }
  done

  echo "  sequences"
  in_module 'a layer is made at its place: nn::make<Layer>(arguments...)' \
    'nn::Linear fc{at("fc"), 2, 3}; nn::Sequential net{at("net"), {fc, relu}};'
  in_module 'a layer is made at its place: nn::make<Layer>(arguments...)' \
    'nn::Sequential net{at("net"), nn::Linear{nn::root, 2, 3}, relu};'
  in_module 'Layer is no Module' 'nn::Sequential net{at("net"), nn::make<Tensor>(2)};'
  in_module 'Layer has no constructor (At, arguments...)' 'nn::Sequential net{at("net"), nn::make<Block>(2, "wide", 3)};'
  in_module 'a layer takes one Tensor (or Index) and returns a Tensor' 'nn::Sequential net{at("net"), nn::make<Block>(2)};'
  in_module 'a layer needs a place first' 'nn::Sequential net{nn::make<Block>(2)};'

  echo "  lambdas of elementwise"
  for body in 'std::exp(v)' '1 + std::sqrt(v * v)' 'std::abs(v) / 2' 'std::pow(v, 2)' 'double(v)'; do
    in_function 'write exp(v), not std::exp(v)' "elementwise(\"f\", x, [](auto v) { return $body; }, one);"
  done
  for body in 'return v > 0 ? v : -v;' 'if (v > 0 && v < 1) return v; return -v;' 'return std::max(v, v);'; do
    in_function 'write where(v > 0, a, b)' "elementwise(\"f\", x, [](auto v) { $body }, one);"
  done
  in_function 'write exp(v), not std::exp(v)' 'elementwise("f", x, same_number, [](auto v, auto) { return std::exp(v); });'
  in_function 'write where(v > 0, a, b)' 'elementwise("f", x, same_number, [](auto v, auto y) { return v > 0 ? y : v; });'
  in_function 'the function takes one number for each input' 'elementwise("f", x, [](auto v, auto w) { return v + w; }, one);'
  in_function 'a derivative is a function of every input and of the result' 'elementwise("f", x, same_number, same_number);'
done
