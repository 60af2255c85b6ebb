# SPDX-License-Identifier: GPL-2.0
"""Builds hcomm.ko for a kernel of the lab, in build/module-KERNEL/, from a copy of the sources."""
import glob
import hashlib
import os
import subprocess
import sys

from labkernel import BUILD, TOP, LabError, locked, write_atomic


def sources():
    for pattern in ("Kbuild", "kmod/*.[ch]", "uapi/hcomm/*.h"):
        for f in sorted(glob.glob(os.path.join(TOP, pattern))):
            with open(f, "rb") as r:
                yield os.path.relpath(f, TOP), r.read()


def build(kernel, debug=False, extra=()):
    """The bytes of hcomm.ko; compiled only when a source or the kernel changed."""
    dir_ = os.path.join(BUILD, f"module-{kernel.name}" + ("-debug" if debug else ""))
    with locked(os.path.join(dir_, ".lock")):
        files = dict(sources())
        h = hashlib.sha256(repr((kernel.key(), debug, extra, sorted(files.items()))).encode()).hexdigest()
        stamp, ko, src = (os.path.join(dir_, x) for x in ("stamp", "src/hcomm.ko", "src"))
        if not (os.path.exists(stamp) and open(stamp).read() == h and os.path.exists(ko)):
            if os.path.exists(stamp):
                os.unlink(stamp)
            for old in glob.glob(src + "/**/*.[ch]", recursive=True):
                name = os.path.relpath(old, src)
                if name not in files and not name.endswith(".mod.c"):
                    os.unlink(old)
            for name, data in files.items():
                path = os.path.join(src, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                if not os.path.exists(path) or open(path, "rb").read() != data:
                    with open(path, "wb") as f:
                        f.write(data)
            p = subprocess.run(["make", "-s", "-C", kernel.tree, f"M={src}", f"-j{os.cpu_count() or 2}", *kernel.make_vars(),
                                *(["DEBUG=y"] if debug else []), *extra, "modules"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            # Debian's headers come without the vmlinux that this would need.
            sys.stderr.writelines(x for x in p.stdout.splitlines(True) if x.strip() and not x.startswith("Skipping BTF generation"))
            if p.returncode or not os.path.exists(ko):
                raise LabError(f"hcomm.ko does not build for {kernel.name}")
            write_atomic(stamp, h)
        with open(ko, "rb") as f:
            return f.read()
