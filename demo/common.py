# SPDX-License-Identifier: Apache-2.0
"""What the demos share: commands in namespaces, what is printed, and how a demo ends."""

import contextlib
import http.server
import os
import pathlib
import shutil
import signal
import socketserver
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


class DemoError(Exception):
    """The demo cannot go on; the text gives the reason."""


def say(text):
    print(text, flush=True)


def step(text):
    say(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}")


def inside(namespace):
    """What to put before a command. nsenter, for `ip netns exec` would hide the BPF file system."""
    return ["nsenter", f"--net=/run/netns/{namespace}"]


def call(*command, check=True):
    done = subprocess.run(command, capture_output=True, text=True)
    if check and done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise DemoError(f"`{' '.join(map(str, command))}` failed with {done.returncode}: {said}")
    return done


@contextlib.contextmanager
def background(namespace, *command):
    process = subprocess.Popen(
        [*inside(namespace), *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for_ports(namespace, *ports):
    """Until there are servers at all of these TCP ports."""
    deadline = time.monotonic() + 5
    while True:
        listening = call(*inside(namespace), "ss", "-Hltn").stdout
        if all(f":{port}" in listening for port in ports):
            return
        if time.monotonic() > deadline:
            raise DemoError("the server in its namespace does not start listening")
        time.sleep(0.05)


def check_machine(onpath, *tools):
    if os.geteuid() != 0:
        raise DemoError("needs root: namespaces, veth pairs and programs in the kernel (try `sudo make demo`)")
    if not onpath.exists():
        raise DemoError(f"{onpath} is not there: `make build` makes it")
    missing = [t for t in ("ip", "nsenter", *tools) if not shutil.which(t)]
    if missing:
        raise DemoError(f"not installed: {', '.join(missing)} (`make setup` installs them)")


def expect(what, good):
    say(f"  {'ok  ' if good else 'BAD '} {what}")
    if not good:
        raise DemoError(f"not as expected: {what}")


class HttpServer(http.server.ThreadingHTTPServer):
    def server_bind(self):
        # Not the one of http.server, which looks up its own name: no resolver answers here.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]


def main(demo):
    """Runs a demo with the program that the command line names, and ends."""
    onpath = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/onpath").resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # A shell that starts this in the background has it ignore interrupts: they are wanted here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        demo(onpath)
    except DemoError as error:
        sys.exit(f"demo: {error}")
    except KeyboardInterrupt:
        sys.exit("demo: interrupted, everything is removed")
