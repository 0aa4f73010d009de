#!/usr/bin/env bash
# A notebook in a browser: the cells of lesson 6 run, a graph and a heat map appear under their cells, a wrong shape shows its error,
# an exercise is answered, a cell is interrupted. XGRAD_PICTURES=FOLDER keeps what was seen, in light and dark.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

kernel=$root/build/notebook/bin/xgrad_kernel
if [ ! -x "$kernel" ]; then
  echo "the kernel of notebooks is not built, so it is not tested"
  exit
fi
"$root/cmake/setup" packages_browser.txt packages_notebook.txt
export HOME=$sandbox JUPYTER_DATA_DIR=$sandbox/data JUPYTER_CONFIG_DIR=$sandbox/config JUPYTER_RUNTIME_DIR=$sandbox/runtime
mkdir -p "$sandbox/data/kernels/xgrad"
printf '{"argv": ["%s", "-f", "{connection_file}"], "display_name": "xgrad", "language": "c++", "interrupt_mode": "signal"}\n' \
  "$kernel" >"$sandbox/data/kernels/xgrad/kernel.json"
/usr/bin/python3 "$root/docs/tools/site/notebooks.py" "$sandbox/notebooks"
PYTHONPATH=$root/tests/support /usr/bin/python3 -B "$root/tests/notebook/jupyter_pages.py" "$sandbox/notebooks"
