// The stations of docs/learn/start: each is a program of its own there, as docs/learn/start/01_number.cpp is, and a
// namespace here (examples/CMakeLists.txt). Runs all of them, or the one that is asked for:
//
//   examples/run start --station 3
//   examples/run start --out docs/learn/start     draws the pictures of the pages anew
#include <array>
#include <iostream>
#include <string>

#include <xgrad/kit/program/cli.h>

extern int (*const stations[])(int argc, char** argv);

namespace {

constexpr std::array<const char*, 13> names{
    "A number that remembers", "A line that fits", "A layer and a module", "Scores and softmax", "Attention pooling",
    "Masks", "Many heads", "Positions", "A block", "Encoder and decoder", "Learning", "Decoding",
    "A transformer translates"};

}  // namespace

int main(int argc, char** argv) {
  std::int64_t only = 0;
  const auto options = [&](xgrad::kit::Options& o) {
    o.integer("--station", only, "the one to run, 0 for all", 0, std::ssize(names));
  };
  const auto run = [&](xgrad::kit::Example& example) {
    std::string folder = example.out.string(), corpus = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv";
    for (std::int64_t number = 1; std::string name : names) {
      if (only == 0 || only == number) {
        std::cout << "\n" << number << ". " << name << "\n";
        std::array<char*, 4> arguments{name.data(), folder.data(), corpus.data(), nullptr};
        stations[number - 1](3, arguments.data());
      }
      ++number;
    }
  };
  return xgrad::kit::main(argc, argv, "start",
                          "Runs the stations of docs/learn/start, which seed themselves: --seed changes nothing.", options,
                          run);
}
