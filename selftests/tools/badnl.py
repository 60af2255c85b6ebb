#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Requests over netlink that the module must refuse, sent raw: badnl.py HCOMMCTL

Runs on a node that has a peer with a link. The first part comes from the
specification: each request with each attribute unknown, of a wrong length or
out of its range. Every refusal must have a text, point at the attribute, and
leave the configuration as it was.
"""
import errno
import os
import socket
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.dont_write_bytecode = True
from ynl_gen import LIMITS, SPEC, WIDTH, Spec          # noqa: E402

GENL_CTRL, CTRL_GETFAMILY = 16, 3
CTRL_FAMILY_ID, CTRL_FAMILY_NAME = 1, 2
F_REQUEST, F_ACK, F_DUMP = 1, 4, 0x300
F_ACK_TLVS = 0x200
NLMSG_ERROR, NLMSG_DONE = 2, 3
EXT_MSG, EXT_OFFS, EXT_MISS_TYPE = 1, 2, 5
SOL_NETLINK, EXT_ACK, CAP_ACK, STRICT_CHK = 270, 11, 10, 12


def attr(kind, data):
    return struct.pack("=HH", len(data) + 4, kind) + data + b"\0" * (-len(data) % 4)


def parse(data):
    out = {}
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        if size < 4:
            break
        out[kind & 0x3fff] = data[4:size]
        data = data[(size + 3) & ~3:]
    return out


class Refusal:
    """What the kernel answered: errno (0: it did it), text, attribute at fault."""

    def __init__(self, error, text="", at=None, missing=None):
        self.error, self.text, self.at, self.missing = error, text, at, missing

    def __str__(self):
        if not self.error:
            return "accepted"
        return f"{errno.errorcode.get(self.error, self.error)} \"{self.text}\" at {self.at} missing {self.missing}"


class Netlink:
    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        for opt in (EXT_ACK, CAP_ACK, STRICT_CHK):
            self.sock.setsockopt(SOL_NETLINK, opt, 1)
        self.sock.bind((0, 0))
        self.sock.settimeout(10)
        self.seq = 0
        self.family = GENL_CTRL
        msg = self.ask(CTRL_GETFAMILY, attr(CTRL_FAMILY_NAME, b"hcomm\0"), F_REQUEST, raw=True)
        self.family = struct.unpack_from("=H", parse(msg[20:])[CTRL_FAMILY_ID])[0]

    def ask(self, cmd, payload, flags=F_REQUEST | F_ACK, raw=False):
        self.seq += 1
        head = struct.pack("=IHHII", 20 + len(payload), self.family, flags, self.seq, 0)
        self.sock.send(head + struct.pack("=BBH", cmd, 1, 0) + payload)
        while True:
            data = self.sock.recv(1 << 16)
            if raw:
                return data
            while len(data) >= 16:
                size, kind, mflags, seq, _ = struct.unpack_from("=IHHII", data)
                body, data = data[16:size], data[(size + 3) & ~3:]
                if seq == self.seq and kind in (NLMSG_ERROR, NLMSG_DONE):
                    return self.refusal(kind, mflags, body, payload)

    @staticmethod
    def refusal(kind, flags, body, payload):
        error = -struct.unpack_from("=i", body)[0] if len(body) >= 4 else 0
        tlv = {}
        if flags & F_ACK_TLVS:
            tlv = parse(body[20:] if kind == NLMSG_ERROR else body[4:])
        text = tlv.get(EXT_MSG, b"").rstrip(b"\0").decode()
        at = missing = None
        if EXT_OFFS in tlv:
            off = struct.unpack("=I", tlv[EXT_OFFS])[0] - 20
            if 0 <= off <= len(payload) - 4:
                at = struct.unpack_from("=H", payload, off + 2)[0] & 0x3fff
        if EXT_MISS_TYPE in tlv:
            missing = struct.unpack("=I", tlv[EXT_MISS_TYPE])[0]
        return Refusal(error, text, at, missing)


class Test:
    def __init__(self, ctl):
        self.ctl = ctl
        self.spec = Spec(os.path.join(HERE, "../..", SPEC))
        self.nl = Netlink()
        self.passed = self.failed = 0
        self.before = self.conf()

    def conf(self):
        return subprocess.run([self.ctl, "showconf"], capture_output=True, check=True).stdout

    def report(self, good, what, answer):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print(f"badnl.py: {what}: {answer}", file=sys.stderr, flush=True)

    def number(self, set_name, name):
        return list(self.spec.sets[set_name]).index(name) + 1

    def cmd(self, name):
        return [op["name"] for op in self.spec.ops].index(name) + 1

    def unchanged(self, what):
        now = self.conf()
        if now != self.before:
            self.report(False, what, "the configuration was changed")
            self.before = now

    def refused(self, what, op, attrs, at, errors=None, dump=False):
        """@attrs: list of (number, bytes); @at: number of that at fault, None any, 0 the text alone will do."""
        payload = b"".join(attr(k, v) for k, v in attrs)
        a = self.nl.ask(self.cmd(op), payload, F_REQUEST | F_ACK | (F_DUMP if dump else 0))
        # What is missing has a number instead of a text.
        good = a.error and (a.text or a.missing) and (not errors or a.error in errors)
        if at:
            good = good and at in (a.at, a.missing)
        self.report(good, f"{op}: {what}", a)
        if not a.error:
            self.unchanged(f"{op}: {what}")

    # From the specification

    def of_spec(self):
        for op in self.spec.ops:
            if "event" in op:
                continue
            for use in ("do", "dump"):
                if use in op:
                    self.op(op, use == "dump")
        self.unchanged("all of the specification")

    def op(self, op, dump):
        name, set_name = op["name"], op["attribute-set"]
        attrs = self.spec.sets[set_name]
        request = op.get("do", op.get("dump")).get("request", {}).get("attributes", [])
        kind = "dump, " if dump else ""
        if name == "ping":
            kind = ""
        self.refused(f"{kind}unknown attribute", name, [(len(attrs) + 1, b"\0" * 4)], len(attrs) + 1, dump=dump)
        for a in attrs.values():
            n = self.number(set_name, a["name"])
            if a["name"] not in request:
                self.refused(f"{kind}{a['name']}, which is read only", name, [(n, b"\0" * 4)], n, dump=dump)
                continue
            for what, value in self.bad_values(a):
                self.refused(f"{kind}{a['name']} {what}", name, [(n, value)], n, dump=dump)

    def bad_values(self, a):
        kind = a["type"]
        if kind in WIDTH:
            size = WIDTH[kind] // 8
            for wrong in sorted({0, 1, 2, 3, 5, 8} - {size}):
                yield f"of {wrong} bytes", b"\1" * wrong
            low, high = self.spec.limits(a)
            top = LIMITS[f"{kind}-max"]
            if low:
                yield f"of {low - 1}", (low - 1).to_bytes(size, sys.byteorder)
            if high is not None and high < top:
                yield f"of {high + 1}", (high + 1).to_bytes(size, sys.byteorder)
                yield f"of {top}", top.to_bytes(size, sys.byteorder)
        elif kind == "string":
            most = self.spec.number(a["checks"]["max-len"])
            yield "without an end", b"abc"
            yield "of nothing at all", b""
            yield "that is too long", b"x" * (most + 1) + b"\0"
        elif kind == "binary":
            yield "too short", b"\1" * (a["checks"]["min-len"] - 1)
            yield "too long", b"\1" * (a["checks"]["max-len"] + 1)

    # What only the module knows

    def of_list(self, show):
        u32 = lambda v: struct.pack("=I", v)                       # noqa: E731
        link = {k: self.number("link", k) for k in self.spec.sets["link"]}
        peer = {k: self.number("peer", k) for k in self.spec.sets["peer"]}
        route = {k: self.number("route", k) for k in self.spec.sets["route"]}
        ping = {k: self.number("ping", k) for k in self.spec.sets["ping"]}
        system = {k: self.number("system", k) for k in self.spec.sets["system"]}
        own, there, lk = show["node"], show["peer"], show["link"]
        family = socket.AF_INET6 if ":" in lk["local_addr"] else socket.AF_INET
        local = socket.inet_pton(family, lk["local_addr"])
        remote = socket.inet_pton(family, lk["remote_addr"])
        strange = socket.inet_pton(family, "2001:db8::77" if family == socket.AF_INET6 else "192.0.2.77")
        other = bytes(12) + b"\1\2\3\4" if family == socket.AF_INET else b"\1\2\3\4"
        base = {"peer": u32(there), "id": u32(777), "local-addr": local, "remote-addr": remote,
                "ifindex": u32(lk["ifindex"]), "remote-port": struct.pack("=H", 777)}

        def new(what, at, errors, drop=(), **change):
            values = dict(base, **{k.replace("_", "-"): v for k, v in change.items()})
            self.refused(what, "link-new", [(link[k], v) for k, v in values.items() if k not in drop],
                         link[at] if at else 0, errors)

        new("a link to oneself", "peer", {errno.EINVAL}, peer=u32(own))
        new("no such peer", "peer", {errno.ENOENT}, peer=u32(4000000000))
        new("an address that is not local", "local-addr", {errno.EADDRNOTAVAIL}, local_addr=strange)
        new("local address as remote", "remote-addr", {errno.EINVAL}, remote_addr=local,
            remote_port=struct.pack("=H", lk["local_port"]))
        new("two families", "remote-addr", None, remote_addr=other)
        new("address of 7 bytes", "local-addr", {errno.EINVAL}, local_addr=b"\1" * 7)
        new("address 0", "remote-addr", {errno.EINVAL}, remote_addr=bytes(len(local)))
        new("multicast", "remote-addr", {errno.EINVAL}, remote_addr=b"\xe0" + bytes(3) if len(local) == 4 else b"\xff\2" + bytes(14))
        new("duplicate id", "id", {errno.EEXIST}, id=u32(lk["id"]))
        new("name in use", "name", {errno.EEXIST}, name=lk["name"].encode() + b"\0")
        new("name of the link to itself", "name", {errno.EEXIST}, name=b"self\0")
        new("no such device", "ifindex", {errno.ENODEV}, ifindex=u32(2147483647))
        new("transport loop", "transport", {errno.EINVAL}, transport=u32(2))
        new("transport rdma", "transport", {errno.EPROTONOSUPPORT}, transport=u32(3))
        for missing in ("peer", "local-addr", "remote-addr", "ifindex"):
            new(f"without {missing}", missing, {errno.EINVAL}, drop=(missing,))
        # The same remote address, port and id, which the receiver could not tell apart, under another name.
        self.refused("duplicate", "link-new", [(link[k], v) for k, v in dict(
            base, id=u32(lk["id"]), name=b"other\0", **{"remote-port": struct.pack("=H", lk["remote_port"])}).items()],
            link["id"], {errno.EEXIST})
        self.refused("no such name", "link-set", [(link["name"], b"nobody\0")], link["name"], {errno.ENOENT})
        self.refused("no such id", "link-del", [(link["peer"], u32(there)), (link["id"], u32(777))], link["id"], {errno.ENOENT})
        self.refused("none named", "link-del", [], 0, {errno.EINVAL})
        self.refused("the link to itself", "link-del", [(link["name"], b"self\0")], 0, {errno.EBUSY})
        self.refused("itself", "peer-new", [(peer["node"], u32(own))], peer["node"])
        self.refused("duplicate", "peer-new", [(peer["node"], u32(there))], peer["node"], {errno.EEXIST})
        self.refused("nothing", "peer-new", [], peer["node"], {errno.EINVAL})
        self.refused("name in use", "peer-new", [(peer["node"], u32(4000000000)), (peer["name"], b"self\0")], peer["name"],
                     {errno.EEXIST})
        self.refused("name in use", "peer-set", [(peer["node"], u32(there)), (peer["name"], b"self\0")], peer["name"],
                     {errno.EEXIST})
        self.refused("no such peer", "peer-del", [(peer["node"], u32(4000000000))], peer["node"], {errno.ENOENT})
        self.refused("itself", "peer-del", [(peer["node"], u32(own))], peer["node"], {errno.EBUSY})
        self.refused("no such peer", "route-new", [(route["node"], u32(4000000000))], route["node"], {errno.ENOENT})
        self.refused("duplicate", "route-new", [(route["node"], u32(there))], route["node"], {errno.EEXIST})
        self.refused("no such route", "route-set", [(route["node"], u32(4000000000))], route["node"], {errno.ENOENT})
        self.refused("pin to no such link", "route-set", [(route["node"], u32(there)), (route["pinned-link"], u32(777))],
                     route["pinned-link"], {errno.ENOENT})
        self.refused("to itself", "route-del", [(route["node"], u32(own))], route["node"], {errno.EBUSY})
        self.refused("another number while there are peers", "system-set", [(system["node"], u32(own + 77))], system["node"],
                     {errno.EBUSY})
        # One setting of two is wrong: neither is taken.
        self.refused("a good and a bad setting", "system-set",
                     [(system["heartbeat-intv"], u32(333)), (system["node"], u32(own + 77))], system["node"], {errno.EBUSY})
        self.refused("no route", "ping", [(ping["node"], u32(4000000000))], ping["node"], {errno.EHOSTUNREACH})
        self.refused("no such link", "ping", [(ping["node"], u32(there)), (ping["link"], u32(777))], ping["link"])
        self.refused("nothing", "ping", [], ping["node"], {errno.EINVAL})
        for op in ("peer-get", "route-get"):
            self.refused("nothing", op, [], 1, {errno.EINVAL})
        self.refused("nothing", "link-get", [], 0, {errno.EINVAL})
        self.unchanged("all of the list")


def main():
    import json
    ctl = sys.argv[1] if len(sys.argv) > 1 else "hcommctl"

    def shown(obj):
        return json.loads(subprocess.run([ctl, "-j", obj], capture_output=True, check=True).stdout)

    t = Test(ctl)
    own = shown("system")[0]["node"]
    links = [k for k in shown("link") if k["peer"] != own]
    if not links:
        print("badnl.py: there is no link to a peer", file=sys.stderr)
        return 1
    t.of_spec()
    t.of_list({"node": own, "peer": links[0]["peer"], "link": links[0]})
    print(f"{t.passed} passed, {t.failed} failed, 0 skipped")
    return 1 if t.failed else 0


if __name__ == "__main__":
    sys.exit(main())
