// The graphs and pictures of docs/start, twelve stations from a number to a transformer that translates, and the
// numbers that the pages show:
//
//   examples/run start --out docs/start
#include <array>
#include <filesystem>
#include <iostream>

#include <CLI/CLI.hpp>

#include <xgrad/kit/program/cli.h>
#include <xgrad/xgrad.h>

#include "attention.h"
#include "transformer.h"

namespace {

struct Station {
  const char* name;
  void (*draw)(const std::filesystem::path& out);
};
constexpr std::array<Station, 12> stations{{{"A number that remembers", start::number},
                                            {"A gradient is a graph, too", start::second_derivative},
                                            {"Attention pooling", start::attention_pooling},
                                            {"Scores and softmax", start::scores},
                                            {"Masks", start::masks},
                                            {"Many heads", start::heads},
                                            {"Positions", start::positions},
                                            {"A block", start::block},
                                            {"Encoder and decoder", start::encoder_decoder},
                                            {"Learning", start::learning},
                                            {"Decoding", start::decoding_table},
                                            {"A transformer translates", start::translation}}};

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Draws the graphs and pictures of the twelve stations for learners.", "start");
  return xgrad::kit::run_example(app, argc, argv, [](xgrad::kit::Example& example) {
    int number = 0;
    for (const Station& station : stations) {
      xgrad::manual_seed(example.seed);
      std::cout << "\n" << ++number << ". " << station.name << "\n";
      station.draw(example.out);
    }
  });
} catch (...) {
  return xgrad::kit::report_error();
}
