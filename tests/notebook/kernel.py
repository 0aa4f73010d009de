"""Runs cells in the kernel of examples/notebook, without a browser."""
import os
import pathlib
import time

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager, KernelManager

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNEL = os.environ.get("XGRAD_KERNEL", str(ROOT / "build/notebook/bin/xgrad_kernel"))


def spec(options=()):
    """The description of a kernel that is not registered."""
    return KernelSpec(argv=[KERNEL, "-f", "{connection_file}", *options], display_name="xgrad", language="c++")


class AsyncManager(AsyncKernelManager):
    """For nbclient."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self._kernel_spec = spec()


class Cell:
    """What a cell gave: texts of streams, values, an error (name, text), the reply, and seconds."""

    def __init__(self):
        self.stdout, self.stderr, self.values, self.error, self.seconds, self.reply = "", "", [], None, 0.0, {}


class Kernel:
    def __init__(self, options=(), folder=None):
        begin = time.monotonic()
        self.manager = KernelManager()
        self.manager._kernel_spec = spec(options)
        self.manager.start_kernel(cwd=folder)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)
        self.seconds = time.monotonic() - begin

    def send(self, code):
        return self.client.execute(code)

    def wait(self, request, timeout=120):
        result, begin = Cell(), time.monotonic()
        while True:
            message = self.client.get_iopub_msg(timeout=timeout)
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                setattr(result, content["name"], getattr(result, content["name"]) + content["text"])
            elif kind in ("execute_result", "display_data"):
                result.values.append(content["data"])
            elif kind == "error":
                result.error = (content["ename"], content["evalue"])
            elif kind == "status" and content["execution_state"] == "idle":
                break
        while result.reply.get("parent_header", {}).get("msg_id") != request:
            result.reply = self.client.get_shell_msg(timeout=timeout)
        result.seconds = time.monotonic() - begin
        return result

    def run(self, code, timeout=120):
        return self.wait(self.send(code), timeout)

    def ask(self, request):
        while True:
            reply = self.client.get_shell_msg(timeout=60)
            if reply["parent_header"].get("msg_id") == request:
                return reply["content"]

    def end(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
