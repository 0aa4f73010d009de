// Modules and the first layer, for steps 7 to 10.
#pragma once

#include <cstdio>
#include <random>
#include <string>

#include "operations.h"

struct Module;

struct At {  // a place in a model: the parent and the name
  Module* parent;
  std::string name;
};

// A container of parameters. Declaring a parameter or a submodule registers it.
struct Module {
  std::string path;
  std::vector<std::pair<std::string, Tensor>> own;
  std::vector<Module*> parts;

  Module() = default;  // the model itself
  explicit Module(const At& here) : path(here.parent->path + here.name + ".") { here.parent->parts.push_back(this); }
  Module(const Module&) = delete;  // its submodules hold its address

  At at(const std::string& name) { return {this, name}; }
  Tensor param(const std::string& name, const Matrix& value) {
    return own.emplace_back(path + name, variable(value)).second;
  }
  std::vector<std::pair<std::string, Tensor>> named_parameters() const {
    auto all = own;
    for (const Module* part : parts) {
      for (const auto& each : part->named_parameters()) all.push_back(each);
    }
    return all;
  }
  Tensors parameters() const {
    Tensors all;
    for (const auto& [name, parameter] : named_parameters()) all.push_back(parameter);
    return all;
  }
};

// Numbers from -limit to limit, the same ones on every machine.
inline Matrix uniform(int rows, int cols, double limit) {
  static std::mt19937 generator(1);
  Matrix result = zeros(rows, cols);
  for (double& v : result.v) v = limit * (2 * (generator() / 4294967296.0) - 1);
  return result;
}

// y = x W + b      x (T, in) -> (T, out)
struct Linear : Module {
  const Tensor weight, bias;
  Linear(const At& here, int in, int out)
      : Module(here),
        weight(param("weight", uniform(in, out, 1 / std::sqrt(in)))),
        bias(param("bias", zeros(1, out))) {}
  Tensor operator()(const Tensor& x) const { return matmul(x, weight) + bias; }
};
