# SPDX-License-Identifier: GPL-2.0
"""The lab's kernels: which there are, their state, and how each is built.

A kernel lives in build/kernels/NAME-KEY/. KEY covers the package version and the configuration, so a new package or a
changed fragment makes a new folder. The file "stamp" is written last: a folder without it is an interrupted build.
"""
import contextlib
import fcntl
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

LAB = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(LAB))
BUILD = os.environ.get("HCOMM_BUILD") or os.path.join(TOP, "build")
CACHE = os.path.join(BUILD, "kernels")
FORMAT = "1"        # raise when the layout of a cached kernel changes


class LabError(Exception):
    """Something to tell the user in one line."""


def say(text):
    print(f"lab: {text}", file=sys.stderr, flush=True)


def output(cmd, **kw):
    return subprocess.run(cmd, check=True, stdout=subprocess.PIPE, text=True, **kw).stdout


def run_logged(cmd, log, what, **kw):
    """Runs CMD with its output in LOG; its tail is shown when it fails."""
    with open(log, "ab") as f:
        rc = subprocess.run(cmd, stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.STDOUT, **kw).returncode
    if rc:
        with open(log, errors="replace") as f:
            sys.stderr.writelines(f.readlines()[-30:])
        raise LabError(f"{what} failed with status {rc}; the whole output is in {os.path.relpath(log, TOP)}")


def read(path):
    with open(path) as f:
        return f.read()


def write_atomic(path, text, mode=0o644):
    fd, tmp = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".new-")
    with os.fdopen(fd, "w") as f:
        f.write(text)
        os.fchmod(f.fileno(), mode)
    os.rename(tmp, path)


@contextlib.contextmanager
def locked(path, waiting=None):
    """One at a time; the lock goes with the process."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting:
                say(waiting)
            fcntl.flock(f, fcntl.LOCK_EX)
        yield


class Apt:
    """apt as the host has it, or with one more suite, from the host's own mirror, in lists of its own."""

    def __init__(self, suite=None):
        self.suite = suite
        self.opts = []
        if suite:
            d = os.path.join(BUILD, "apt", suite)
            self.opts = [x for k, v in (("Dir::Etc::sourcelist", d + "/sources.list"), ("Dir::Etc::sourceparts", "-"),
                                        ("Dir::State::lists", d + "/lists"), ("Dir::Cache::pkgcache", ""),
                                        ("Dir::Cache::srcpkgcache", "")) for x in ("-o", f"{k}={v}")]
            self.dir = d

    def _mirror(self):
        """The address and the options of the host's main Debian source."""
        for f in ["/etc/apt/sources.list"] + sorted(glob.glob("/etc/apt/sources.list.d/*.list")):
            if os.path.exists(f):
                for line in read(f).splitlines():
                    m = re.match(r"deb\s+(\[[^]]*\]\s+)?(\S+)\s+bookworm\s+.*\bmain\b", line)
                    if m:
                        return [line], f"deb {m[1] or ''}{m[2]} {self.suite} main"
        for f in sorted(glob.glob("/etc/apt/sources.list.d/*.sources")):
            for part in re.split(r"\n\s*\n", read(f)):
                k = {m[1].lower(): m[2] for m in re.finditer(r"^([A-Za-z-]+):\s*(.*)$", part, re.M)}
                if "bookworm" in k.get("suites", "").split() and "deb" in k.get("types", "").split():
                    by = f"[signed-by={k['signed-by']}] " if k.get("signed-by", "").startswith("/") else ""
                    uri = k["uris"].split()[0]
                    return [f"deb {by}{uri} bookworm main"], f"deb {by}{uri} {self.suite} main"
        raise LabError("no Debian 12 (bookworm) source of packages is configured on this host")

    def update(self):
        if not self.suite:
            return
        os.makedirs(self.dir + "/lists/partial", exist_ok=True)
        base, extra = self._mirror()
        write_atomic(self.dir + "/sources.list", "\n".join(base + [extra]) + "\n")
        run_logged(["apt-get", *self.opts, "update", "-q"], os.path.join(self.dir, "log"), f"apt-get update ({self.suite})")

    def ready(self):
        return not self.suite or bool(glob.glob(self.dir + "/lists/*_Packages*"))

    def candidate(self, package):
        """The version apt would install, or None."""
        target = ["-t", self.suite] if self.suite else []
        out = output(["apt-cache", *self.opts, *target, "policy", package], stderr=subprocess.DEVNULL)
        m = re.search(r"Candidate: (\S+)", out)
        return m[1] if m and m[1] != "(none)" else None

    def install(self, packages, log):
        target = ["-t", self.suite] if self.suite else []
        run_logged(["apt-get", *self.opts, *target, "install", "-q", "-y", "--no-install-recommends", *packages], log,
                   "apt-get install " + " ".join(packages), env=dict(os.environ, DEBIAN_FRONTEND="noninteractive"))

    def download(self, package, version, folder, log):
        run_logged(["apt-get", *self.opts, "download", "-q", f"{package}={version}"], log, f"download of {package}", cwd=folder)
        return glob.glob(os.path.join(folder, package + "_*.deb"))[0]


def installed_version(package):
    p = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Version}", package], stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL, text=True)
    m = re.match(r"ii\s+(\S+)", p.stdout)
    return m[1] if m else None


class Kernel:
    """What both kinds have in common."""

    def __init__(self, name):
        self.name = name

    @property
    def dir(self):
        return os.path.join(CACHE, f"{self.name}-{self.key()}")

    def key(self):
        h = hashlib.sha256("\0".join([FORMAT, self.version() or "none", self.config()]).encode()).hexdigest()[:10]
        return f"{(self.version() or 'none').replace(':', '.').replace('~', '.')}-{h}"

    def ready(self):
        return os.path.exists(os.path.join(self.dir, "stamp"))

    def state(self):
        if not self.version():
            return "not built"
        if self.ready():
            return "ready"
        old = [d for d in glob.glob(os.path.join(CACHE, self.name + "-[0-9]*")) if os.path.exists(d + "/stamp")]
        return "stale" if old else "not built"

    def build(self):
        with locked(os.path.join(CACHE, f".lock-{self.name}"), f"another build of {self.name} is running, waiting for it"):
            self.prepare()
            if self.ready():
                return
            start = time.time()
            for old in glob.glob(os.path.join(CACHE, self.name + "-[0-9]*")):
                if old != self.dir and not os.path.exists(old + "/stamp"):
                    shutil.rmtree(old)
            if os.path.exists(self.dir):
                shutil.rmtree(self.dir)
            os.makedirs(self.dir)
            self.make()
            write_atomic(os.path.join(self.dir, "stamp"), self.key() + "\n")
            say(f"{self.name}: built in {time.time() - start:.0f} s")


class UmlKernel(Kernel):
    """User-mode Linux from Debian's kernel source; built in its tree."""
    kind = "uml"

    def __init__(self, name, fragments, speed, source="linux-source-6.1"):
        super().__init__(name)
        self.speed = speed      # so many times slower than the host, at most
        self.fragments = fragments
        self.source = source
        self._version = None

    def version(self):
        if not self._version:
            self._version = installed_version(self.source) or Apt().candidate(self.source)
        return self._version

    def config(self):
        return "".join(read(os.path.join(LAB, f + ".config")) for f in self.fragments)

    def prepare(self):
        if not os.path.exists(f"/usr/src/{self.source}.tar.xz"):
            os.makedirs(CACHE, exist_ok=True)
            say(f"installing {self.source}")
            Apt().install([self.source], os.path.join(CACHE, "apt.log"))
            self._version = None

    @property
    def tree(self):
        return self.dir

    @property
    def image(self):
        return os.path.join(self.dir, "vmlinux")

    def make_vars(self):
        return ["ARCH=um"]

    def first_modules(self):
        return []

    def moddir(self):
        return ""

    def command(self, opts, number, rundir, initrd, fds, nics):
        """The command line of a guest: console, out and err are file descriptors."""
        cards = [f"vec{i}:transport=fd,fd={s.fileno()},mac={mac},vec=0" for i, (s, mac, _) in enumerate(nics)]
        return [self.image, f"mem={opts.mem}M", f"initrd={initrd}", "con=null", f"con0=null,fd:{fds['console']}", "ssl=null",
                f"ssl0=null,fd:{fds['out']}", f"ssl1=null,fd:{fds['err']}", "loglevel=6", "panic=-1", "log_buf_len=16M",
                f"uml_dir={rundir}/", f"umid=guest{number}", *cards]

    def make(self):
        log = os.path.join(CACHE, self.name + ".log")
        if os.path.exists(log):
            os.unlink(log)
        say(f"{self.name}: unpacking {self.source} {self.version()}")
        run_logged(["tar", "-xJf", f"/usr/src/{self.source}.tar.xz", "-C", self.dir, "--strip-components=1",
                    "--exclude=*/tools/testing"], log, "unpacking the source")
        self._edit("mm/kmemleak.c", "MSECS_MIN_AGE\t\t5000", "MSECS_MIN_AGE\t\t500")
        run_logged(["make", "-s", "-C", self.dir, "ARCH=um", "tinyconfig"], log, "make tinyconfig")
        dot = os.path.join(self.dir, ".config")
        with open(dot, "a") as f:
            f.write(self.config())
        run_logged(["make", "-s", "-C", self.dir, "ARCH=um", "olddefconfig"], log, "make olddefconfig")
        have = set(read(dot).splitlines())
        missing = [x for x in dict.fromkeys(self.config().splitlines()) if x.startswith("CONFIG_") and x not in have]
        if missing:
            raise LabError(f"{self.name}: this source does not accept {', '.join(missing)}")
        self._compile(log)
        self._trim()

    def _edit(self, name, old, new):
        """kmemleak does not look at younger objects: with its 5 s each run of the lab would wait 5 s."""
        path = os.path.join(self.dir, name)
        text = read(path)
        if old not in text:
            raise LabError(f"{name} of {self.source} has no '{old}' any more")
        write_atomic(path, text.replace(old, new))

    def _compile(self, log):
        start = last = time.time()
        count = 0
        with open(log, "a") as f:
            p = subprocess.Popen(["make", "-C", self.dir, "ARCH=um", f"-j{os.cpu_count() or 2}", "vmlinux", "modules"],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for line in p.stdout:
                f.write(line)
                count += line.startswith("  ")
                if time.time() - last >= 10:
                    last = time.time()
                    say(f"{self.name}: {last - start:.0f} s, {count} steps, {line.strip()[:50]}")
            if p.wait():
                f.flush()
                sys.stderr.writelines(open(log, errors="replace").readlines()[-30:])
                raise LabError(f"building {self.name} failed; the whole output is in {os.path.relpath(log, TOP)}")

    def _trim(self):
        """What is left is what a module build needs, and the kernel."""
        keep = {"Makefile", "Kbuild", "Kconfig", "scripts", "include", "arch", "Module.symvers", ".config", "vmlinux", "System.map",
                "COPYING", "CREDITS", "MAINTAINERS", "modules.builtin", "modules.builtin.modinfo", "modules.order", "README"}
        for e in os.scandir(self.dir):
            if e.name not in keep:
                shutil.rmtree(e.path) if e.is_dir(follow_symlinks=False) else os.unlink(e.path)
        for e in os.scandir(os.path.join(self.dir, "arch")):
            if e.is_dir() and e.name not in ("x86", "um"):
                shutil.rmtree(e.path)


        for f in glob.glob(os.path.join(self.dir, "arch", "**", "*.[oa]"), recursive=True):
            os.unlink(f)


class StockKernel(Kernel):
    """Debian's kernel under QEMU. The headers must be installed, their files name absolute paths; the image only unpacked."""
    kind = "stock"
    speed = 8           # so many times slower than the host, at most

    # What a guest may need of the modules; the rest is several hundred MB.
    KEEP = ("net", "crypto", "lib", "arch", "fs/9p", "fs/netfs", "fs/fscache", "fs/fuse", "drivers/net", "drivers/infiniband",
            "drivers/virtio", "drivers/char", "drivers/ptp", "drivers/pps")
    FIRST = ("virtio_pci", "virtio_console", "9pnet_virtio", "9p", "virtio_net")

    def __init__(self, name, series, suite=None):
        super().__init__(name)
        self.series = series
        self.suite = suite
        self.apt = Apt(suite)
        self._version = None

    def release(self):
        """Of the newest headers that are installed, 6.1.0-57-amd64 say."""
        found = glob.glob(f"/usr/src/linux-headers-{self.series}[.+]*-amd64")
        found = [f for f in found if not re.search(r"-(cloud|rt)-", f) and os.path.exists(f + "/Makefile")]
        found.sort(key=lambda f: [int(x) for x in re.findall(r"\d+", f)])
        return os.path.basename(found[-1])[len("linux-headers-"):] if found else None

    def version(self):
        if not self._version:
            r = self.release()
            self._version = installed_version(f"linux-headers-{r}") if r else None
        return self._version

    def config(self):
        return "\n".join([*self.KEEP])

    def prepare(self):
        if not self.release():
            os.makedirs(CACHE, exist_ok=True)
            if not self.apt.ready():
                say(f"reading the list of {self.suite}")
                self.apt.update()
            say(f"installing the headers of {self.name}")
            self.apt.install(["linux-headers-amd64"] if not self.suite else self._header_packages(), os.path.join(CACHE, "apt.log"))
            self._version = None
            if not self.release():
                raise LabError(f"{self.suite or 'the mirror'} has no kernel {self.series}")

    def _header_packages(self):
        """By their own names, so that the package of the host's own series, if it is installed, stays what it is."""
        out = output(["apt-cache", *self.apt.opts, "-t", self.suite, "depends", "linux-headers-amd64"], stderr=subprocess.DEVNULL)
        found = re.findall(r"Depends: (linux-headers-\S+)", out)
        if not found or f"-{self.series}" not in found[0]:
            raise LabError(f"{self.suite} has {found or 'no kernel'}, not {self.series}")
        return found

    @property
    def tree(self):
        return f"/usr/src/linux-headers-{self.release()}"

    @property
    def image(self):
        return os.path.join(self.dir, "vmlinuz")

    def moddir(self):
        return os.path.join(self.dir, "lib/modules", self.release())

    def make_vars(self):
        return []

    def make(self):
        r, log = self.release(), os.path.join(CACHE, self.name + ".log")
        kernel, modules = f"/boot/vmlinuz-{r}", f"/lib/modules/{r}"
        tmp = None
        if installed_version(f"linux-image-{r}") != self.version() or not os.path.exists(modules + "/kernel"):
            tmp = tempfile.mkdtemp(dir=self.dir, prefix="deb-")
            if not self.apt.ready():
                self.apt.update()
            say(f"{self.name}: downloading linux-image-{r} {self.version()}")
            deb = self.apt.download(f"linux-image-{r}", self.version(), tmp, log)
            run_logged(["dpkg-deb", "-x", deb, tmp + "/root"], log, "unpacking the kernel")
            kernel, modules = f"{tmp}/root/boot/vmlinuz-{r}", f"{tmp}/root/lib/modules/{r}"
            if not os.path.exists(modules):
                modules = f"{tmp}/root/usr/lib/modules/{r}"
        shutil.copyfile(kernel, self.image)
        for d in self.KEEP:
            if os.path.exists(f"{modules}/kernel/{d}"):
                shutil.copytree(f"{modules}/kernel/{d}", f"{self.moddir()}/kernel/{d}")
        for f in glob.glob(modules + "/modules.builtin*") + [modules + "/modules.order"]:
            shutil.copy(f, self.moddir())
        run_logged(["depmod", "-b", self.dir, r], log, "depmod")
        if tmp:
            shutil.rmtree(tmp)

    def first_modules(self):
        """The modules that reach the host's root, each after those that it needs."""
        deps = {}
        for line in read(os.path.join(self.moddir(), "modules.dep")).splitlines():
            path, _, needs = line.partition(":")
            deps[re.sub(r"\.ko.*", "", os.path.basename(path)).replace("-", "_")] = [path] + needs.split()
        order = []
        for m in self.FIRST:
            # modules.dep names the needed ones in the order of removal.
            for path in reversed(deps.get(m, [])):
                if path not in order:
                    order.append(path)
        return [os.path.join(self.moddir(), p) for p in order]

    def command(self, opts, number, rundir, initrd, fds, nics):
        def chardev(name):
            return ["-chardev", f"file,id={name},path=/proc/self/fd/{fds[name]}"]

        def share(tag, path, more):
            return ["-virtfs", f"local,mount_tag={tag},path={path.replace(',', ',,')},security_model=none,multidevs=remap{more}"]
        cards = []
        for i, (s, mac, _) in enumerate(nics):
            cards += ["-netdev", f"dgram,id=n{i},local.type=fd,local.str={s.fileno()}", "-device",
                      f"virtio-net-pci,netdev=n{i},mac={mac},romfile="]
        return ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-machine", "pc",
                "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", str(opts.cpus), "-m", str(opts.mem), "-kernel", self.image,
                "-initrd", initrd, "-append", "console=ttyS0 loglevel=6 panic=-1 log_buf_len=16M mitigations=off nowatchdog",
                *chardev("console"), "-serial", "chardev:console", "-device", "virtio-serial-pci", *chardev("out"), *chardev("err"),
                "-device", "virtserialport,chardev=out,nr=1", "-device", "virtserialport,chardev=err,nr=2",
                *share("root", "/", ",readonly=on"), *share("build", BUILD, ""), *cards]


KERNELS = {k.name: k for k in (
    UmlKernel("uml", ["uml"], 1),
    UmlKernel("uml-checked", ["uml", "uml-checked"], 4),
    StockKernel("stock-6.1", "6.1"),
    StockKernel("stock-6.12", "6.12", "bookworm-backports"),
)}


def kernel(name):
    if name not in KERNELS:
        raise LabError(f"no kernel named '{name}' (there are: {', '.join(KERNELS)})")
    return KERNELS[name]
