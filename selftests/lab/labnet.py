# SPDX-License-Identifier: GPL-2.0
"""The network of a run, as text for "ip -batch" and "hcommctl -batch": nodes 1..N, M links between every two of them.

Link I between K and P is device pPlI on K (see bin/lab-dev), with addresses 10.I.X.K/24 and fd00:I:X::K/64, where X is the
number of the pair."""
import os


class Net:
    def __init__(self, nodes, links, transport):
        self.nodes = range(1, nodes + 1)
        self.links = range(1, links + 1)
        self.count = nodes
        self.transport = transport

    def pair(self, k, p):
        a, b = sorted((k, p))
        return (a - 1) * (2 * self.count - a) // 2 + b - a

    def ends(self, k):
        for p in self.nodes:
            if p != k:
                for i in self.links:
                    x = self.pair(k, p)
                    yield p, i, f"p{p}l{i}", f"10.{i}.{x}.", f"fd00:{i}:{x}::"

    def namespaces(self):
        return [f"netns add hn{k}" for k in self.nodes]

    def veths(self):
        return [f"link add p{p}l{i} netns hn{k} type veth peer name p{k}l{i} netns hn{p}"
                for k in self.nodes for p in self.nodes if k < p for i in self.links]

    def devices(self, k):
        lines = ["link set lo up"]
        for _, _, dev, v4, v6 in self.ends(k):
            lines += [f"addr add {v4}{k}/24 dev {dev}", f"addr add {v6}{k}/64 dev {dev} nodad", f"link set {dev} up"]
        return lines

    def config(self, k):
        lines = [f"system set node {k}"]
        for p, i, dev, v4, _ in self.ends(k):
            if i == 1:
                lines.append(f"peer add {p}")
            lines.append(f"link add peer {p} id {i} type {self.transport} local {v4}{k} remote {v4}{p} dev {dev}")
        return lines

    def write(self, folder):
        def put(name, lines):
            with open(os.path.join(folder, name), "w") as f:
                f.write("".join(x + "\n" for x in lines))
        put("namespaces", self.namespaces() + self.veths())
        for k in self.nodes:
            put(f"devices.{k}", self.devices(k))
            put(f"config.{k}", self.config(k))
