#!/usr/bin/env bash
# Notebooks in a browser, opened by examples/notebook: the cells of lesson 6 run, a graph and heat maps appear under their cells, a
# wrong shape shows its error, an exercise is answered wrong and then right, a cell is interrupted, a notebook becomes a program.
# The same lesson in JupyterLab, if jupyter-lab is on the PATH. XGRAD_PICTURES=FOLDER keeps what was seen, in light and dark.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

"$root/cmake/setup" packages_browser.txt
# Nothing is registered for the user.
export JUPYTER_DATA_DIR=$sandbox/data JUPYTER_CONFIG_DIR=$sandbox/config JUPYTER_RUNTIME_DIR=$sandbox/runtime
mkdir "$sandbox/config"
for program in notebook server; do
  echo '{"NotebookApp": {"allow_root": true}, "ServerApp": {"allow_root": true}}' >"$sandbox/config/jupyter_${program}_config.json"
done
# JupyterLab is dark where the system is, and asks nothing of the network.
settings=$sandbox/config/lab/user-settings/@jupyterlab/apputils-extension
mkdir -p "$settings"
echo '{"adaptive-theme": true}' >"$settings/themes.jupyterlab-settings"
echo '{"fetchNews": "false"}' >"$settings/notification.jupyterlab-settings"
export PYTHONPATH=$root/tests/support
if command -v jupyter-lab >/dev/null; then
  /usr/bin/python3 -B "$root/tests/notebook/jupyter_pages.py" "$sandbox/notebooks" --lab
else
  said=$("$root/examples/notebook" --lab 2>&1) && exit 1
  [[ $said == *"JupyterLab is not installed"* ]]
fi
/usr/bin/python3 -B "$root/tests/notebook/jupyter_pages.py" "$sandbox/notebooks"
