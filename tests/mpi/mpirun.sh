# For the scripts beside this one: mpirun on any machine, in an empty folder that is removed at the end.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
source "$root/cmake/build.sh"
"$root/cmake/setup" packages_mpi.txt
[ -n "${XGRAD_BUILD_DIR:-}" ] || { build grouped xgrad_tests_mpi data_parallel && XGRAD_BUILD_DIR=$(build_dir grouped); }
bin=$XGRAD_BUILD_DIR/bin
cd "$sandbox"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none  # containers may forbid it

complain() {
  echo "$*"
  tail -n 40 out err
  exit 1
}
ranks() { # COUNT PROGRAM ARGUMENT...
  timeout 120 mpirun --oversubscribe --bind-to none -n "$@" >out 2>err </dev/null
}
# The processes that a process of mpirun has started, a line each.
ranks_of() { xargs -r -n 1 <"/proc/$1/task/$1/children"; }
small=("$bin/data_parallel" --dim 16 --layers 1)
