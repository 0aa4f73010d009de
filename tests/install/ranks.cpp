// A program of somebody who trains on several ranks.
#include <iostream>

#include <xgrad/kit/mpi/data_parallel.h>
#include <xgrad/kit/mpi/run.h>
#include <xgrad/nn/layers/linear.h>
#include <xgrad/ops/creation/create.h>
#include <xgrad/ops/elementwise/elementwise.h>
#include <xgrad/ops/reduce/reduce.h>
#include <xgrad/optim/optimizers/sgd.h>

using namespace xgrad;

int main(int argc, char** argv) {
  return mpi::run(argc, argv, [](mpi::World& world) {
    const nn::Linear model{nn::root, 2, 1};
    optim::SGD sgd{model.parameters(), {.lr = 0.1}};
    mpi::DataParallel parallel{world, model, sgd};
    const Tensor x = full({4, 2}, Real(world.rank() + 1));
    sgd.step(parallel.grad(mean(square(model(x)))));
    const double ranks = world.sum(1);
    if (world.first()) std::cout << ranks << " ranks\n";
  });
}
