# SPDX-License-Identifier: Apache-2.0
"""Checks implementations of one's own against vectors: python consume.py DIR. Needs nothing but Python."""

import json
import sys
from pathlib import Path


def epoch_end_offset(question):
    """Where a leader epoch ends (OffsetsForLeaderEpoch)."""
    cache, asked = question["cache"], question["leader_epoch"]
    if asked == -1 or not cache or asked > cache[-1]["leader_epoch"]:
        return {"leader_epoch": -1, "end_offset": -1}
    if asked == cache[-1]["leader_epoch"]:
        return {"leader_epoch": asked, "end_offset": question["log_end_offset"]}
    known = [entry["leader_epoch"] for entry in cache if entry["leader_epoch"] <= asked]
    end = next(entry["start_offset"] for entry in cache if entry["leader_epoch"] > asked)
    return {"leader_epoch": known[-1] if known else asked, "end_offset": end}


def murmur2(question):
    """The hash of a key, as a signed 32-bit number."""
    key = bytes.fromhex(question["key"])
    word, mask, whole = 0x5BD1E995, 0xFFFFFFFF, len(key) // 4 * 4
    code = 0x9747B28C ^ len(key)
    for at in range(0, whole, 4):
        part = int.from_bytes(key[at : at + 4], "little") * word & mask
        code = (code * word & mask) ^ ((part ^ part >> 24) * word & mask)
    if key[whole:]:
        code = (code ^ int.from_bytes(key[whole:], "little")) * word & mask
    code = (code ^ code >> 13) * word & mask
    code ^= code >> 15
    return code - 2**32 if code >= 2**31 else code


def partition_for_key(question):
    """The partition that a record with this key goes to."""
    return (murmur2(question) & 0x7FFFFFFF) % question["partitions"]


def main(folder):
    """Compare each implementation with the vectors of its name."""
    wrong = 0
    for implemented in (epoch_end_offset, murmur2, partition_for_key):
        vectors = json.loads((Path(folder) / f"{implemented.__name__}.json").read_text(encoding="utf-8"))
        assert vectors["format"] == "hwmark.vectors/1"
        for case in vectors["cases"]:
            answer = implemented(case["question"])
            if answer != case["answer"]:
                wrong += 1
                print(f"{implemented.__name__} {case['id']}: expected {case['answer']}, got {answer}")
        print(f"{implemented.__name__}: {len(vectors['cases'])} cases")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
