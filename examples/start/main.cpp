// The stations of docs/start: each is a program of its own there, as docs/start/01_number.cpp is, and its main a
// function here (examples/CMakeLists.txt). Runs all of them, or the one that is asked for:
//
//   examples/run start --station 3
//   examples/run start --out docs/start     draws the pictures of the pages anew
#include <array>
#include <iostream>
#include <string>

#include <xgrad/kit/program/cli.h>

int station_01(int argc, char** argv);
int station_02(int argc, char** argv);
int station_03(int argc, char** argv);
int station_04(int argc, char** argv);
int station_05(int argc, char** argv);
int station_06(int argc, char** argv);
int station_07(int argc, char** argv);
int station_08(int argc, char** argv);
int station_09(int argc, char** argv);
int station_10(int argc, char** argv);
int station_11(int argc, char** argv);
int station_12(int argc, char** argv);
int station_13(int argc, char** argv);

namespace {

struct Station {
  const char* name;
  int (*main)(int argc, char** argv);
};
constexpr std::array<Station, 13> stations{{{"A number that remembers", station_01},
                                            {"A line that fits", station_02},
                                            {"A layer and a module", station_03},
                                            {"Scores and softmax", station_04},
                                            {"Attention pooling", station_05},
                                            {"Masks", station_06},
                                            {"Many heads", station_07},
                                            {"Positions", station_08},
                                            {"A block", station_09},
                                            {"Encoder and decoder", station_10},
                                            {"Learning", station_11},
                                            {"Decoding", station_12},
                                            {"A transformer translates", station_13}}};

}  // namespace

int main(int argc, char** argv) {
  std::int64_t only = 0;
  const auto options = [&](xgrad::kit::Options& o) {
    o.integer("--station", only, "the one to run, 0 for all", 0, std::ssize(stations));
  };
  const auto run = [&](xgrad::kit::Example& example) {
    std::string folder = example.out.string(), corpus = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv";
    for (std::int64_t number = 1; const Station& station : stations) {
      if (only == 0 || only == number) {
        std::cout << "\n" << number << ". " << station.name << "\n";
        std::string name = station.name;
        std::array<char*, 4> arguments{name.data(), folder.data(), corpus.data(), nullptr};
        station.main(3, arguments.data());
      }
      ++number;
    }
  };
  return xgrad::kit::main(argc, argv, "start",
                          "Runs the stations of docs/start, which seed themselves: --seed changes nothing.", options,
                          run);
}
