#include "kernel.h"

#include <stdexcept>

#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Interpreter/Interpreter.h>
#include <llvm/Support/TargetSelect.h>

namespace xgrad::notebook {

void precompile(const std::string& header, const std::string& file, const KernelOptions& options) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  const std::vector<std::string> arguments = compiler_arguments(options);
  std::vector<const char*> words;
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  clang::IncrementalCompilerBuilder builder;  // the interpreter takes a header that was compiled with its own options
  builder.SetCompilerArgs(words);
  auto compiler = builder.CreateCpp();
  if (!compiler) throw std::runtime_error(llvm::toString(compiler.takeError()));
  clang::FrontendOptions& input = (*compiler)->getFrontendOpts();
  const clang::InputKind kind(clang::Language::CXX, clang::InputKind::Source, /*PP=*/false, clang::InputKind::HeaderUnit_None, /*HD=*/true);
  input.Inputs = {clang::FrontendInputFile(header, kind)};
  input.OutputFile = file;
  input.ProgramAction = clang::frontend::GeneratePCH;
  clang::GeneratePCHAction action;
  if (!(*compiler)->ExecuteAction(action)) throw std::runtime_error("the header " + header + " does not compile");
}

}  // namespace xgrad::notebook
