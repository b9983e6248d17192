"""Checks a seal (docs/seal.md) with the standard library alone: ``python -I verify_seal.py run.json run.seal.json``."""

import base64
import hashlib
import json
import re
import sys
from decimal import Decimal
from typing import Any

Spelled = type("Spelled", (str,), {})  # a number that no double holds


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(pairs) if len(dict(pairs)) == len(pairs) else sys.exit("ambiguous: a key stands twice")


def load(path: str) -> Any:
    number = {True: float, False: Spelled}
    with open(path, encoding="utf-8") as file:
        read = file.read()
    return json.loads(read, object_pairs_hook=once, parse_float=lambda t: number[abs(float(t)) < float("inf")](t))


def stored(tree: Any) -> str:  # docs/format.md, Stored form
    if isinstance(tree, float):
        plain = tree == 0 or 1e-5 <= abs(tree) < 1e16
        return format(Decimal(repr(tree)), "f") if plain else re.sub(r"e\+?(-?)0*", r"e\1", repr(tree))
    if isinstance(tree, str) and not isinstance(tree, Spelled):
        return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", json.dumps(tree, ensure_ascii=False))
    if isinstance(tree, list):
        return "[" + ",".join(map(stored, tree)) + "]"
    if isinstance(tree, dict):
        return "{" + ",".join(stored(key) + ":" + stored(tree[key]) for key in tree) + "}"
    return tree if isinstance(tree, Spelled) else json.dumps(tree)


def whole(tree: Any, blobs: dict[str, Any], used: set[str]) -> Any:  # docs/format.md, Sharing
    shape = {key: type(value) for key, value in tree.items()} if isinstance(tree, dict) else {}
    if shape == {"$stash": str, "ref": str} and tree["$stash"] == "ref":
        used.add(tree["ref"])
        return whole(blobs[tree["ref"]], blobs, used)
    if shape == {"$stash": str, "parts": list, "items": list} and tree["$stash"] == "list":
        parts = [whole({"$stash": "ref", "ref": ref}, blobs, used) for ref in tree["parts"]]
        return [item for part in [*parts, whole(tree["items"], blobs, used)] for item in part]
    if isinstance(tree, dict):
        return {key: whole(value, blobs, used) for key, value in tree.items()}
    return [whole(item, blobs, used) for item in tree] if isinstance(tree, list) else tree


def texts(run: dict[str, Any]) -> tuple[dict[str, int], list[str]]:  # in the order in which they are sealed
    blobs, used, inside, events = run["blobs"], set(), set(), []
    for event in sorted(run["events"], key=lambda event: event["seq"]):
        call = [event.pop(key) for key in ("seq", "channel", "key", "ordinal", "outcome")]
        refs = [event.pop(key) for key in ("ref", "inputRef") if isinstance(event.get(key), str)]
        used.update(refs)
        values = [stored(whole(blobs[r], blobs, used)) if r in blobs else "missing " + stored(r) for r in refs]
        events += [stored(call), stored(dict(sorted(event.items()))), *values, ""][:4]
    rest = {ref: whole(blobs[ref], blobs, inside) for ref in blobs if ref not in used}
    loose = [[None if re.fullmatch("(?s)sha256:.{64}", r) else r, rest[r]] for r in rest if r not in inside]
    meta = [{key: value} for key, value in run["meta"].items() if key != "redaction"]
    extra = [{key: run[key]} for key in run if key not in ("version", "id", "events", "blobs", "meta")]
    counts = {"events": len(events) // 4, "meta": len(meta), "extra": len(extra), "blobs": len(loose)}
    return counts, [*map(stored, (run["version"], run["id"], *meta, *extra, *loose)), *events]


def main(run_path: str, seal_path: str) -> None:
    seal, (counts, own) = load(seal_path), texts(load(run_path))
    header, events = ([base64.b64decode(text) for text in seal[key]] for key in ("header", "events"))
    sizes = b"".join(seal["counts"][key].to_bytes(8, "big") for key in ("events", "meta", "extra", "blobs"))
    link = hashlib.sha256(b"stashdbg-seal/1\nsha256\n" + sizes + b"".join(header)).digest()
    for four in events:
        link = hashlib.sha256(link + four).digest()
    if seal["algorithm"] != "sha256" or counts != seal["counts"] or link.hex() != seal["root"]:
        sys.exit(f"not sealed: algorithm, counts or root differ; there are {counts}")
    if "secret" in seal:  # the header's salts are drawn together, an event's four on their own
        draws = [(2**64 - 1, 32 * len(header)), *((index, 128) for index in range(len(events)))]
        seeds = [(bytes.fromhex(seal["secret"]) + index.to_bytes(8, "big"), size) for index, size in draws]
        drawn = b"".join(hashlib.shake_256(seed).digest(size) for seed, size in seeds)
        salts = [drawn[at : at + 32] for at in range(0, len(drawn), 32)]
    else:
        given = seal["salts"]["header"] + [salt for four in seal["salts"]["events"] for salt in four]
        salts = [None if salt is None else base64.b64decode(salt) for salt in given]
    sealed = b"".join(header + events)
    for at, (text, salt) in enumerate(zip(own, salts, strict=True)):
        if salt and hashlib.sha256(salt + text.encode()).digest() != sealed[32 * at : 32 * at + 32]:
            sys.exit(f"not sealed: part {at} differs; event {(at - len(header)) // 4} if not negative")
    hidden = salts.count(None)
    print(f"sealed; {hidden} fields are redacted and not covered" if hidden else "sealed")


if __name__ == "__main__":
    main(*sys.argv[1:])
