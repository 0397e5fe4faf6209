"""Starts runs without importing torch anew: one long-lived process that forks them.

It reads "start ARGUMENTS" and answers with a process id, or "wait PID" and answers with the exit
code. A run is a process group of its own, with worker processes, as from the command line; only
the workers are forked instead of spawned.
"""

import os
import signal
import sys

import torch._dynamo  # noqa: F401  (the first step of an optimiser imports it)

import pu_utils.models  # noqa: F401
from pu_utils.__main__ import main
from pu_utils.reproduction import runner


def start(arguments):
    """Fork a run; its process id."""
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        # as in a terminal: a shell that starts the tests in the background has Ctrl-C ignored
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
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
