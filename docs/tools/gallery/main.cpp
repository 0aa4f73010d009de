// The pictures of docs/look_up/gallery.md that no example draws, and the graphs at its end.
//
//   docs/tools/run gallery
#include <xgrad/kit/program/cli.h>

#include "gallery.h"

int main(int argc, char** argv) {
  return xgrad::kit::main(argc, argv, "gallery", "The pictures of docs/look_up/gallery.md.", [](xgrad::kit::Example& example) {
    gallery::attention(example.out);
    gallery::heads(example.out);
    gallery::transformer(example.out);
    gallery::recurrent(example.out);
    gallery::search(example.out);
    gallery::vision(example.out);
    gallery::argument(example.out);
  });
}
