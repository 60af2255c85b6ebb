# SPDX-License-Identifier: GPL-2.0
"""Boots the guests, passes on what they print, and judges the run."""
import ctypes
import lzma
import os
import selectors
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import labmodule
import labnet
from labkernel import BUILD, LAB, TOP, LabError, say

TIMED_OUT, LAB_FAILED = 124, 125
TAIL = 60


def cpio(entries):
    """An initramfs in the newc format: NAME -> (mode, bytes)."""
    out = bytearray()
    for ino, (name, (mode, data)) in enumerate([*entries.items(), ("TRAILER!!!", (0, b""))], 1):
        n = name.encode() + b"\0"
        out += b"070701" + b"".join(b"%08X" % v for v in (ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(n), 0)) + n
        out += b"\0" * (-len(out) % 4) + data
        out += b"\0" * (-len(out) % 4)
    return bytes(out)


def initramfs(kernel, env):
    """busybox, our init, the kernel's modules that it loads first, and the variables of this run."""
    entries = {d: (0o40755, b"") for d in ("bin", "dev", "proc", "root", "host", "modules")}
    with open(shutil.which("busybox") or "/bin/busybox", "rb") as f:
        entries["bin/busybox"] = (0o100755, f.read())
    with open(os.path.join(LAB, "init"), "rb") as f:
        entries["init"] = (0o100755, f.read())
    entries["env"] = (0o100644, env.encode())
    if kernel.moddir():
        # The kernel calls it in this root, not in the host's.
        entries["sbin"] = (0o40755, b"")
        entries["sbin/modprobe"] = (0o100755, b"#!/bin/busybox sh\nexec /bin/busybox chroot /root /sbin/modprobe \"$@\"\n")
    for i, m in enumerate(kernel.first_modules()):
        with open(m, "rb") as f:
            data = lzma.decompress(f.read()) if m.endswith(".xz") else f.read()
        entries[f"modules/{i:02}.ko"] = (0o100644, data)
    return cpio(entries)


def shell(variables):
    return "".join(f"{k}={shlex.quote(str(v))}\n" for k, v in variables.items())


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Guest:
    """One running kernel."""

    def __init__(self, number, rundir):
        self.number = number
        self.rundir = rundir
        self.result_file = os.path.join(rundir, f"result.{number}")
        self.console = bytearray()
        self.process = None
        self.pipes = {}

    def start(self, kernel, opts, env, nics):
        """NICS: (socket, hardware address, name) of each network card."""
        initrd = os.path.join(self.rundir, f"initrd.{self.number}")
        with open(initrd, "wb") as f:
            f.write(initramfs(kernel, env))
        fds = {}
        for name in ("console", "out", "err"):
            r, w = os.pipe()
            os.set_blocking(r, False)
            self.pipes[r] = name
            fds[name] = w
        argv = kernel.command(opts, self.number, self.rundir, initrd, fds, nics)
        pass_fds = [*fds.values(), *(n[0].fileno() for n in nics)]
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=fds["console"], stderr=fds["console"],
                                        pass_fds=pass_fds, start_new_session=True, preexec_fn=die_with_parent)
        for w in fds.values():
            os.close(w)

    def kill(self):
        if self.process and self.process.poll() is None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()

    def result(self):
        try:
            with open(self.result_file) as f:
                return int(f.read())
        except (OSError, ValueError):
            return None

    def tail(self):
        text = self.console.decode(errors="replace").replace("\r", "")
        return "\n".join(text.splitlines()[-TAIL:])


def nics(nodes, links):
    """For guests of their own: the cards of each, links first, then the wires by which node 1 gives orders."""
    cards = {k: [] for k in range(1, nodes + 1)}

    def wire(a, b, i, names):
        pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        macs = [f"02:00:{i:02x}:{y:02x}:00:{x:02x}" for x, y in ((a, b), (b, a))]
        for s, node, mac, name in zip(pair, (a, b), macs, names):
            for o in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                s.setsockopt(socket.SOL_SOCKET, o, 4 << 20)
            cards[node].append((s, mac, name))
    for a in range(1, nodes + 1):
        for b in range(a + 1, nodes + 1):
            for i in range(1, links + 1):
                wire(a, b, i, (f"p{b}l{i}", f"p{a}l{i}"))
    for b in range(2, nodes + 1):
        wire(1, b, 255, (f"ctl{b}", "ctl1"))
    return cards


def hidden(paths):
    """Folders that the guest's own /tmp, /run or /dev/shm would hide."""
    found = []
    for p in paths:
        p = os.path.realpath(p)
        if p.startswith(("/tmp/", "/run/", "/dev/shm/", "/var/tmp/")) and not any(p == f or p.startswith(f + "/") for f in found):
            found.append(p)
    return found


def find_program(argv):
    path = argv[0]
    if "/" in path:
        if not os.path.exists(path):
            raise LabError(f"there is no program {path}")
        if not os.access(path, os.X_OK):
            raise LabError(f"{path} is not executable")
        return [os.path.abspath(path), *argv[1:]]
    return list(argv)


def run(kernel, opts, argv):
    argv = find_program(argv)
    tools = os.path.join(BUILD, "tools")
    if opts.transport != "none" and not os.path.exists(os.path.join(tools, "hcommctl")):
        raise LabError("build/tools/hcommctl is missing, run: make tools")
    kernel.build()
    ko = b"" if opts.no_module else labmodule.build(kernel)
    os.makedirs(os.path.join(BUILD, "run"), exist_ok=True)
    for old in os.scandir(os.path.join(BUILD, "run")):
        if time.time() - old.stat().st_mtime > 86400:   # of a lab that was killed
            shutil.rmtree(old.path, ignore_errors=True)
    rundir = tempfile.mkdtemp(dir=os.path.join(BUILD, "run"), prefix=f"{kernel.name}-")
    guests = []
    try:
        with open(os.path.join(rundir, "hcomm.ko"), "wb") as f:
            f.write(ko)
        labnet.Net(opts.nodes, opts.links, opts.transport).write(rundir)
        count = opts.nodes if opts.guests == "per-node" else 1
        cards = nics(opts.nodes, opts.links) if count > 1 else {1: []}
        passed = {k: v for k, v in os.environ.items() if k.startswith("HCOMM_")}
        for n in range(1, count + 1):
            write = [BUILD]
            env = {"LAB_NODE": n if opts.guests == "per-node" else 0, "LAB_NODES": opts.nodes, "LAB_LINKS": opts.links,
                   "LAB_KERNEL": kernel.name, "LAB_TRANSPORT": opts.transport, "LAB_RUN": rundir, "LAB_DIR": LAB,
                   "LAB_TOOLS": tools, "LAB_BUILD": BUILD, "LAB_GUEST": n, "LAB_KIND": kernel.kind, "LAB_CWD": os.getcwd(),
                   "LAB_KO": os.path.join(rundir, "hcomm.ko") if ko else "", "LAB_PARAMS": opts.params, "LAB_SPEED": kernel.speed,
                   "LAB_ROBINDS": " ".join(hidden([TOP, os.getcwd(), os.path.dirname(argv[0]) or "/"])),
                   "LAB_RWBINDS": " ".join(write), "LAB_MODDIR": kernel.moddir(), "LAB_CARDS": " ".join(f"{d}={m}" for _, m, d in cards[n])}
            text = shell(env) + "LAB_CMD=(" + " ".join(map(shlex.quote, argv)) + ")\n"
            text += "".join(f"export {k}={shlex.quote(v)}\n" for k, v in passed.items())
            with open(os.path.join(rundir, f"env.{n}"), "w") as f:
                f.write(text)
            g = Guest(n, rundir)
            guests.append(g)
            g.start(kernel, opts, shell(env), cards[n])
        for end in (c for cs in cards.values() for c in cs):
            end[0].close()
        status = watch(guests, opts)
        if status in (TIMED_OUT, LAB_FAILED) or opts.verbose:
            keep_consoles(kernel, guests)
        return status
    finally:
        for g in guests:
            g.kill()
        if os.environ.get("HCOMM_LAB_KEEP"):
            say(f"kept {rundir}")
        else:
            shutil.rmtree(rundir, ignore_errors=True)


def keep_consoles(kernel, guests):
    log = os.path.join(BUILD, "log")
    os.makedirs(log, exist_ok=True)
    for g in guests:
        with open(os.path.join(log, f"console-{kernel.name}.{g.number}"), "wb") as f:
            f.write(g.console)


def watch(guests, opts):
    """Passes output on until all guests have ended or the time is over; the status of the run."""
    deadline = time.monotonic() + opts.timeout
    sel = selectors.DefaultSelector()
    for g in guests:
        for fd in g.pipes:
            sel.register(fd, selectors.EVENT_READ, g)
    died = None
    while sel.get_map():
        left = deadline - time.monotonic()
        if left <= 0:
            break
        for key, _ in sel.select(min(left, 1)):
            g, name = key.data, key.data.pipes[key.fd]
            try:
                data = os.read(key.fd, 65536)
            except BlockingIOError:
                continue
            if not data:
                sel.unregister(key.fd)
                os.close(key.fd)
            elif name == "console":
                g.console += data
                if opts.verbose:
                    sys.stderr.buffer.write(data)
                    sys.stderr.flush()
            else:
                put(1 if name == "out" else 2, data)
        # With one guest gone without a result the others would wait for it.
        died = next((g for g in guests if g.process.poll() is not None and g.result() is None), None)
        if died and len(guests) > 1:
            break
    hung = [g for g in guests if g.process.poll() is None and g.result() is None] if not died else []
    if hung and time.monotonic() < deadline:
        for g in hung:      # the pipes are closed, the process is about to end
            try:
                g.process.wait(max(0.1, min(10, deadline - time.monotonic())))
            except subprocess.TimeoutExpired:
                pass
        hung = [g for g in hung if g.process.poll() is None]
    for g in guests:
        g.kill()
    for g in hung:
        say(f"guest {g.number} did not end within {opts.timeout} s; the end of its console:\n{g.tail()}")
    if hung:
        return TIMED_OUT
    for g in guests:
        if g.result() is None:
            say(f"guest {g.number} died; the end of its console:\n{g.tail()}")
            return LAB_FAILED
    status = guests[0].result()
    others = [g.result() for g in guests[1:] if g.result()]
    return status or (others[0] if others else 0)


def put(fd, data):
    while data:
        data = data[os.write(fd, data):]
