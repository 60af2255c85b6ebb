#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Make the netlink headers and tables from the specification.

    ynl_gen.py           write the three files
    ynl_gen.py --check   exit 1 and say what differs if they are not up to date

Linux 6.1 has neither split operations nor the generator that the kernel got
later, so the output is a plain struct genl_ops table with a policy for each
operation, which compiles on all kernels.
"""

import argparse
import difflib
import os
import sys
import textwrap

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SPEC = "Documentation/netlink/specs/hcomm.yaml"
UAPI = "uapi/hcomm/netlink.h"
KHDR = "kmod/netlink_gen.h"
KSRC = "kmod/netlink_gen.c"
TOOL = "tools/common/attrs_gen.c"

WIDTH = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}
LIMITS = {f"{s}{b}-max": (1 << (b - (s == "s"))) - 1
          for s in "us" for b in (8, 16, 32, 64)}
TYPES = set(WIDTH) | {"string", "binary", "nest", "pad", "flag"}
S16_MAX = 32767
FLAGS = {"admin-perm": "GENL_ADMIN_PERM",
         "uns-admin-perm": "GENL_UNS_ADMIN_PERM"}


class SpecError(Exception):
    """The specification contradicts itself."""


def c_low(name):
    return name.replace("-", "_")


def c_upp(name):
    return c_low(name).upper()


def flat(text):
    return " ".join(str(text).split())


def need(cond, what):
    if not cond:
        raise SpecError(what)


class Spec:
    """The specification, checked."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.y = yaml.safe_load(f)
        y = self.y
        self.family = y["name"]
        need(y.get("kernel-policy") == "per-op", "kernel-policy is not per-op")
        self.defs = {}
        for d in y["definitions"]:
            need(d["name"] not in self.defs, f"{d['name']}: defined twice")
            need(d["type"] in ("const", "enum"), f"{d['name']}: type")
            if d["type"] == "enum":
                for e in d["entries"]:
                    need(isinstance(e["name"], str),
                         f"{d['name']}: {e['name']}: quote it")
            self.defs[d["name"]] = d
        self.sets = {}
        for s in y["attribute-sets"]:
            need(s["name"] not in self.sets, f"{s['name']}: defined twice")
            self.sets[s["name"]] = {a["name"]: a for a in s["attributes"]}
            need(len(self.sets[s["name"]]) == len(s["attributes"]),
                 f"{s['name']}: an attribute is there twice")
        for s in y["attribute-sets"]:
            for a in s["attributes"]:
                self.check_attr(s, a)
        self.groups = [g["name"] for g in y["mcast-groups"]["list"]]
        self.ops = y["operations"]["list"]
        need(len({o["name"] for o in self.ops}) == len(self.ops),
             "an operation is there twice")
        for op in self.ops:
            self.check_op(op)

    def check_attr(self, s, a):
        where = f"{s['name']}/{a['name']}"
        need(a["type"] in TYPES, f"{where}: type {a['type']}")
        need(a.get("doc"), f"{where}: has no doc")
        if a["type"] == "nest":
            need(a.get("nested-attributes") in self.sets,
                 f"{where}: nested-attributes")
        if "enum" in a:
            need(self.defs.get(a["enum"], {}).get("type") == "enum",
                 f"{where}: enum {a['enum']}")
            need(a["type"] in WIDTH, f"{where}: an enum is a number")
        for key in a.get("checks", {}):
            number = a["type"] in WIDTH
            need(key in (("min", "max") if number else ("min-len", "max-len")),
                 f"{where}: check {key}")

    def check_op(self, op):
        name = op["name"]
        need(op["attribute-set"] in self.sets, f"{name}: attribute-set")
        attrs = self.sets[op["attribute-set"]]
        need("do" in op or "dump" in op or "event" in op, f"{name}: no use")
        for use in ("do", "dump"):
            for way in ("request", "reply"):
                for a in op.get(use, {}).get(way, {}).get("attributes", []):
                    need(a in attrs, f"{name}: {use} {way}: {a}")
        if "event" in op:
            need(op.get("mcgrp") in self.groups, f"{name}: mcgrp")
            for a in op["event"]["attributes"]:
                need(a in attrs, f"{name}: event: {a}")
        for f in op.get("flags", []):
            need(f in FLAGS, f"{name}: flag {f}")

    def enum_tag(self, d):
        tag = d.get("enum-name", f"{self.family}-{d['name']}")
        return c_low(tag)

    def enum_prefix(self, d):
        return d.get("name-prefix", f"{self.family}-{d['name']}-")

    def cmd(self, op):
        return c_upp(self.y["operations"]["name-prefix"] + op["name"])

    def attr(self, set_name, attr):
        for s in self.y["attribute-sets"]:
            if s["name"] == set_name:
                return c_upp(s["name-prefix"] + attr)
        raise SpecError(set_name)

    def number(self, val):
        """A number, a limit such as u16-max, or a constant of the spec."""
        if isinstance(val, int):
            return val
        if val in LIMITS:
            return LIMITS[val]
        base, sep, off = val.partition(" - ")
        need(base in self.defs, f"limit {val}")
        return self.defs[base]["value"] - (int(off) if sep else 0)

    def number_c(self, val):
        """The same as C writes it."""
        if isinstance(val, int) or val in LIMITS:
            return str(self.number(val))
        base, sep, off = val.partition(" - ")
        name = c_upp(f"{self.family}-{base}")
        return f"{name} - {off}" if sep else name

    def request(self, op):
        """Attributes that a request may have, in the order of the set."""
        want = set()
        for use in ("do", "dump"):
            want |= set(op.get(use, {}).get("request", {})
                        .get("attributes", []))
        return [a for a in self.sets[op["attribute-set"]] if a in want]

    def limits(self, a):
        """Lowest and highest value of a number, None where all are allowed."""
        checks = a.get("checks", {})
        low = checks.get("min")
        high = checks.get("max")
        if "enum" in a and high is None:
            high = len(self.defs[a["enum"]]["entries"]) - 1
        if low is not None:
            low = self.number(low)
        if high is not None:
            high = self.number(high)
        return low, high


def note(lic, guard=None):
    out = [f"/* SPDX-License-Identifier: {lic} */" if guard else
           f"// SPDX-License-Identifier: {lic}"]
    out.append(f"/* Made by selftests/ynl_gen.py from {SPEC}: do not edit. */")
    if guard:
        out += [f"#ifndef {guard}", f"#define {guard}"]
    return out + [""]


def doc_line(name, text):
    """One line of kernel-doc, wrapped."""
    return textwrap.wrap(f"@{name}: {flat(text)}", 77, initial_indent=" * ",
                         subsequent_indent=" *\t", expand_tabs=False,
                         break_long_words=False, break_on_hyphens=False)


def doc_head(kind, name, text):
    return ["/**"] + textwrap.wrap(f"{kind} {name} - {flat(text)}", 77,
                                   initial_indent=" * ",
                                   subsequent_indent=" *\t",
                                   expand_tabs=False,
                                   break_on_hyphens=False)


def unit_of(a):
    """What stands in brackets after the text: the type on the wire."""
    kind = a["type"]
    if kind == "nest":
        return f"nest of {a['nested-attributes']}"
    return kind


def enum_c(spec, d):
    tag = spec.enum_tag(d)
    out = doc_head("enum", tag, d["doc"])
    names = [c_upp(spec.enum_prefix(d) + e["name"]) for e in d["entries"]]
    for c_name, e in zip(names, d["entries"]):
        out += doc_line(c_name, e["doc"])
    out += [" */", f"enum {tag} {{"]
    out += [f"\t{c_name}," for c_name in names]
    return out + ["};", ""]


def attrs_c(spec, s):
    prefix = c_upp(s["name-prefix"])
    tag = c_low(s["name-prefix"]).rstrip("_")
    out = doc_head("enum", tag, s["doc"])
    for a in s["attributes"]:
        text = f"{flat(a['doc'])} ({unit_of(a)}"
        text += ", several)" if a.get("multi-attr") else ")"
        out += doc_line(prefix + c_upp(a["name"]), text)
    out += [" */", f"enum {tag} {{"]
    for i, a in enumerate(s["attributes"]):
        first = " = 1" if i == 0 else ""
        out.append(f"\t{prefix}{c_upp(a['name'])}{first},")
    last = prefix + c_upp(s["attributes"][-1]["name"])
    return out + ["};", "", f"#define {prefix}MAX\t{last}", ""]


def uapi(spec):
    y = spec.y
    out = note("GPL-2.0 WITH Linux-syscall-note", "_UAPI_HCOMM_NETLINK_H")
    out += [f"#define {c_upp(y['c-family-name'])}\t\"{spec.family}\"",
            f"#define {c_upp(y['c-version-name'])}\t{y['version']}", ""]
    for g in spec.groups:
        out += [f"#define {c_upp(spec.family)}_GENL_{c_upp(g)}\t\"{g}\""]
    out += [""]
    for d in y["definitions"]:
        if d["type"] == "const":
            name = c_upp(f"{spec.family}-{d['name']}")
            out += [f"#define {name}\t{d['value']}\t/* {flat(d['doc'])} */",
                    ""]
        else:
            out += enum_c(spec, d)
    for s in y["attribute-sets"]:
        out += attrs_c(spec, s)
    prefix = c_upp(y["operations"]["name-prefix"])
    out += doc_head("enum", prefix.lower().rstrip("_"), "what is asked for")
    for op in spec.ops:
        out += doc_line(spec.cmd(op), op["doc"])
    out += [" */", f"enum {prefix.lower().rstrip('_')} {{"]
    for i, op in enumerate(spec.ops):
        first = " = 1" if i == 0 else ""
        out.append(f"\t{spec.cmd(op)}{first},")
    out += ["};", "", f"#define {prefix}MAX\t{spec.cmd(spec.ops[-1])}", "",
            "#endif /* _UAPI_HCOMM_NETLINK_H */"]
    return "\n".join(out) + "\n"


def calls(spec):
    return [op for op in spec.ops if "do" in op or "dump" in op]


def khdr(spec):
    fam = c_low(spec.family)
    ops = calls(spec)
    out = note("GPL-2.0", "HCOMM_NETLINK_GEN_H")
    out += ["#include <net/genetlink.h>", "",
            f"#include <{spec.y['uapi-header']}>", ""]
    for op in ops:
        name = f"{fam}_nl_{c_low(op['name'])}"
        if "do" in op:
            out += [f"int {name}_doit(struct sk_buff *skb, "
                    "struct genl_info *info);"]
        if "dump" in op:
            out.append(f"int {name}_dumpit(struct sk_buff *skb,")
            out.append(tabs(len(f"int {name}_dumpit(")) +
                       "struct netlink_callback *cb);")
    out += ["", f"/* Index in {fam}_nl_mcgrps[]. */", "enum {"]
    out += [f"\t{c_upp(spec.family)}_NLGRP_{c_upp(g)}," for g in spec.groups]
    out += ["};", "",
            f"extern const struct genl_ops {fam}_nl_ops[{len(ops)}];",
            f"extern const struct genl_multicast_group "
            f"{fam}_nl_mcgrps[{len(spec.groups)}];",
            "", "#endif /* HCOMM_NETLINK_GEN_H */"]
    return "\n".join(out) + "\n"


def tabs(col):
    return "\t" * (col // 8) + " " * (col % 8)


class Ranges:
    """Limits beyond what fits into struct nla_policy itself."""

    def __init__(self):
        self.seen = {}

    def name(self, low, high):
        return self.seen.setdefault((low, high),
                                    f"range_{low}_{high}")

    def c(self):
        out = []
        for (low, high), name in self.seen.items():
            # Not const: 6.1 has a pointer to a variable in the policy.
            out += [f"static struct netlink_range_validation {name} = {{"]
            if low:
                out += [f"\t.min = {low},"]
            out += [f"\t.max = {high}U,", "};", ""]
        return out


def policy_c(spec, a, ranges):
    kind = a["type"]
    if kind in WIDTH:
        nla = f"NLA_{kind.upper()}"
        low, high = spec.limits(a)
        if low is None and high is None:
            return f"{{ .type = {nla}, }}"
        if high is None and low <= S16_MAX:
            return f"NLA_POLICY_MIN({nla}, {low})"
        if high is not None and high > S16_MAX or low and low > S16_MAX:
            top = high if high is not None else (1 << WIDTH[kind]) - 1
            return (f"NLA_POLICY_FULL_RANGE({nla}, "
                    f"&{ranges.name(low or 0, top)})")
        if low is None:
            return f"NLA_POLICY_MAX({nla}, {high})"
        return f"NLA_POLICY_RANGE({nla}, {low}, {high})"
    checks = a.get("checks", {})
    top = spec.number_c(checks["max-len"]) if "max-len" in checks else None
    if kind == "string":
        need(top, f"{a['name']}: a string needs max-len")
        return f"{{\n\t\t.type = NLA_NUL_STRING, .len = {top},\n\t}}"
    if kind == "binary":
        need(top and "min-len" in checks, f"{a['name']}: needs its lengths")
        low = spec.number_c(checks["min-len"])
        return f"NLA_POLICY_RANGE(NLA_BINARY, {low}, {top})"
    if kind == "flag":
        return "{ .type = NLA_FLAG, }"
    raise SpecError(f"{a['name']}: {kind} in a request")


def ksrc(spec):
    fam = c_low(spec.family)
    ranges = Ranges()
    body = []
    reject = False
    table = [f"const struct genl_ops {fam}_nl_ops[{len(calls(spec))}] = {{"]
    for op in calls(spec):
        name = f"{fam}_nl_{c_low(op['name'])}"
        request = spec.request(op)
        table += ["\t{", f"\t\t.cmd\t\t= {spec.cmd(op)},"]
        if "do" in op:
            table += [f"\t\t.doit\t\t= {name}_doit,"]
        if "dump" in op:
            table += [f"\t\t.dumpit\t\t= {name}_dumpit,"]
        if request:
            attrs = spec.sets[op["attribute-set"]]
            last = spec.attr(op["attribute-set"], request[-1])
            body += [f"static const struct nla_policy "
                     f"{c_low(op['name'])}_policy[] = {{"]
            for a in request:
                pol = policy_c(spec, attrs[a], ranges)
                line = f"\t[{spec.attr(op['attribute-set'], a)}] ="
                first = f"{line} {pol},".split("\n", maxsplit=1)[0]
                if len(first.expandtabs()) > 80:
                    body += [line, f"\t\t{pol},"]
                else:
                    body += [f"{line} {pol},"]
            body += ["};", ""]
            table += [f"\t\t.policy\t\t= {c_low(op['name'])}_policy,",
                      f"\t\t.maxattr\t= {last},"]
        else:
            # Without a policy the kernel does not look at what comes along.
            reject = True
            table += ["\t\t.policy\t\t= reject_policy,",
                      "\t\t.maxattr\t= ARRAY_SIZE(reject_policy) - 1,"]
        if op.get("flags"):
            flags = " | ".join(FLAGS[f] for f in op["flags"])
            table += [f"\t\t.flags\t\t= {flags},"]
        table += ["\t},"]
    table += ["};", ""]
    groups = [f"const struct genl_multicast_group "
              f"{fam}_nl_mcgrps[{len(spec.groups)}] = {{"]
    for g in spec.groups:
        groups += [f"\t[{c_upp(spec.family)}_NLGRP_{c_upp(g)}] = "
                   f"{{ .name = {c_upp(spec.family)}_GENL_{c_upp(g)}, }},"]
    groups += ["};"]
    out = note("GPL-2.0") + ["#include \"netlink_gen.h\"", ""]
    if reject:
        out += ["static const struct nla_policy reject_policy[] = {",
                "\t[1] = {", "\t\t.type = NLA_REJECT,",
                "\t\t.reject_message = \"this request has no attributes\",",
                "\t},", "};", ""]
    out += ranges.c() + body + table + groups
    return "\n".join(out) + "\n"


def tool(spec):
    """What the tools need to know of each attribute to print it."""
    out = note("GPL-2.0") + ["#include \"attrs.h\"", "",
                             f"#include <{spec.y['uapi-header']}>", ""]
    for d in spec.y["definitions"]:
        if d["type"] != "enum":
            continue
        name = f"names_{c_low(d['name'])}"
        out += [f"const struct attr_names {name} = {{",
                f"\t.nr = {len(d['entries'])},",
                "\t.name = (const char *const[]){"]
        out += [f"\t\t\"{e['name']}\"," for e in d["entries"]]
        out += ["\t},", "};", ""]
    for s in spec.y["attribute-sets"]:
        out += [f"const struct attr_set attrs_{c_low(s['name'])} = {{",
                f"\t.name = \"{s['name']}\",",
                f"\t.max = {c_upp(s['name-prefix'])}MAX,",
                "\t.attr = (const struct attr_info[]){"]
        for a in s["attributes"]:
            more = [f".name = \"{a['name']}\"",
                    f".kind = ATTR_{c_upp(a['type'])}"]
            if a.get("multi-attr"):
                more += [".multi = true"]
            if "enum" in a:
                more += [f".values = &names_{c_low(a['enum'])}"]
            if a["type"] == "nest":
                more += [f".nest = &attrs_{c_low(a['nested-attributes'])}"]
            out += [f"\t\t[{spec.attr(s['name'], a['name'])}] = {{"]
            out += [f"\t\t\t{field}," for field in more] + ["\t\t},"]
        out += ["\t},", "};", ""]
    prefix = c_upp(spec.y["operations"]["name-prefix"])
    out += [f"const struct attr_set *const attrs_of_cmd[{prefix}MAX + 1] = {{"]
    out += [f"\t[{spec.cmd(op)}] = &attrs_{c_low(op['attribute-set'])},"
            for op in spec.ops]
    out += ["};"]
    return "\n".join(out) + "\n"


def main():
    ap = argparse.ArgumentParser(description="generate the netlink code")
    ap.add_argument("--check", action="store_true",
                    help="only say whether the files are up to date")
    ap.add_argument("--root", default=ROOT, help="top of the tree")
    args = ap.parse_args()
    try:
        spec = Spec(os.path.join(args.root, SPEC))
        made = {UAPI: uapi(spec), KHDR: khdr(spec), KSRC: ksrc(spec),
                TOOL: tool(spec)}
    except SpecError as e:
        print(f"{SPEC}: {e}", file=sys.stderr)
        return 1
    status = 0
    for path, text in made.items():
        full = os.path.join(args.root, path)
        try:
            with open(full, encoding="utf-8") as f:
                old = f.read()
        except FileNotFoundError:
            old = ""
        if old == text:
            continue
        if args.check:
            sys.stdout.writelines(difflib.unified_diff(
                old.splitlines(True), text.splitlines(True), path,
                path + " (from the specification)"))
            status = 1
            continue
        with open(full, "w", encoding="utf-8") as f:
            f.write(text)
        print(f"wrote {path}")
    return status


if __name__ == "__main__":
    sys.exit(main())
