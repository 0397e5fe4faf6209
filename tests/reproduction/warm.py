"""Starts runs without importing torch anew: one long-lived process that forks them.

It reads "start ARGUMENTS" and answers with a process id, or "wait PID" and answers with the exit
code. A run is a process group of its own, with worker processes, as from the command line; only
the workers are forked instead of spawned. The first argument may say how workers get stuck, each
with a file "PID.stuck" in the output directory that tells it has.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

import torch._dynamo  # noqa: F401  (the first step of an optimiser imports it)

import pu_utils.models  # noqa: F401
from pu_utils.__main__ import main
from pu_utils.reproduction import runner

STUCK = {
    "stopped": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "in_c_code": lambda: ctypes.PyDLL(None).sleep(3600),  # where no other thread of Python's runs
}


def get_stuck(how, output):
    """Have every experiment of this process, and of those that it forks, get stuck."""

    def stuck(experiment):
        Path(output, f"{os.getpid()}.stuck").touch()
        STUCK[how]()

    runner.compute = stuck


def start(arguments):
    """Fork a run; its process id."""
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        # as in a terminal: a shell that starts the tests in the background has Ctrl-C ignored
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        if arguments[0] in STUCK:
            get_stuck(arguments.pop(0), arguments[arguments.index("--output") + 1])
        os._exit(main(arguments))
    os.setpgid(pid, pid)
    return pid


if __name__ == "__main__":
    runner.START_METHOD = "fork"
    for line in sys.stdin:
        command, *words = line.split()
        if command == "start":
            print(start(words), flush=True)
        else:
            print(os.waitstatus_to_exitcode(os.waitpid(int(words[0]), 0)[1]), flush=True)
