// Most of the examples as one program: it is the one by whose name it is called (examples/CMakeLists.txt).
#include <iostream>
#include <string_view>

extern int (*const examples[])(int argc, char** argv);
extern const char* const examples_paths[];

int main(int argc, char** argv) {
  std::string_view name = argv[0];
  name.remove_prefix(name.find_last_of('/') + 1);
  for (int i = 0; examples_paths[i]; ++i) {
    std::string_view folder = examples_paths[i];
    folder.remove_prefix(std::string_view("examples/").size());
    folder.remove_suffix(std::string_view("/main.cpp").size());
    if (folder == name) return examples[i](argc, argv);
  }
  std::cerr << "error: there is no example " << name << "\n";
  return 2;
}
