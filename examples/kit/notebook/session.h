// The compiler behind a notebook: takes a cell after the other, compiles and runs it in this process. Private.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cell.h"

namespace clang {
class Interpreter;
class CXXRecordDecl;
class NamedDecl;
class NamespaceDecl;
struct PartialTranslationUnit;
}  // namespace clang

namespace xgrad::notebook {

class Diagnostics;

/// How a cell ended.
struct Outcome {
  std::string kind = {};  ///< of the error, empty if there is none: "ShapeError", "compiler", "interrupted"
  std::string text = {};  ///< what it says

  bool ok() const { return kind.empty(); }
};

struct SessionOptions {
  std::vector<std::string> arguments = {};  ///< of the compiler
  std::vector<std::string> libraries = {};  ///< shared libraries, to be found by the cells
  std::string preamble = {};                ///< a first cell, whose names later cells see
};

/// Threads: one, the same for all functions.
class Session {
 public:
  /// Throws std::runtime_error if the compiler, a library or the preamble fails.
  explicit Session(const SessionOptions& options);
  ~Session();

  /// Compiles all parts of a cell, then runs them in order. If one does not compile, none is run. What a part declares
  /// is forgotten if it throws. Names of earlier cells are hidden by those of this one.
  Outcome run(std::string_view cell, int number);

  /// The words that can stand at the end of the code and begin with its last letters: names of the library and of
  /// cells, members behind a dot, an arrow and `::`.
  std::vector<std::string> complete(std::string_view code);

  /// Declaration and comment of a name: "softmax", "nn::Linear"; empty if there is none.
  std::string describe(std::string_view name);

 private:
  struct Compiled;
  Outcome compile(const Part& part, int number, Compiled& result);
  void declare(Compiled& part);
  void forget(Compiled& part);
  void forget_failed();                                         // what a part declared that did not compile
  std::vector<clang::NamedDecl*> find(std::string_view name);   // as C++ does, or in the library's namespaces
  clang::CXXRecordDecl* class_of(std::string_view expression);  // that ends with these words, or none

  std::unique_ptr<Diagnostics> diagnostics_;
  std::unique_ptr<clang::Interpreter> interpreter_;
  clang::NamespaceDecl* around_ = nullptr;                       // around the namespaces of cells
  int functions_ = 0;                                            // that statements were put into
  std::map<std::string, std::vector<clang::NamedDecl*>> names_;  // that are to be seen
};

}  // namespace xgrad::notebook
