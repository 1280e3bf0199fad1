# SPDX-License-Identifier: Apache-2.0
"""A broker in memory behind the protocol of adapters: hwmark conform process --command "python adapter.py".

It appends, fetches and finds offsets as Kafka does, and deletes nothing. It knows nothing of transactions, nor of idempotence: what a
producer sends twice is there twice, and that is what hwmark finds. Needs nothing but Python.
"""

import json
import sys

BEFORE_ACKS = {"no_batch": "INVALID_RECORD", "old_magic": "INVALID_RECORD", "two_batches": "INVALID_RECORD"}
AFTER_ACKS = {"base_offset": "INVALID_RECORD", "crc": "CORRUPT_MESSAGE"}
EPOCHS = {"older": "FENCED_LEADER_EPOCH", "newer": "UNKNOWN_LEADER_EPOCH"}


class Broker:
    """One partition, in leader epoch 0."""

    def begin(self, _asked):
        """Forget everything."""
        self.log, self.producers = [], 0
        return {}

    def InitProducerId(self, _asked):  # noqa: N802 - as all that follows, the name of the request
        """Give each producer an id of its own."""
        self.producers += 1
        return {"error": "NONE", "producer_id": self.producers, "producer_epoch": 0}

    def Produce(self, asked):  # noqa: N802
        """Append the values, unless the batch is refused."""
        flaw, acks, base_offset = asked["flaw"], asked["acks"], len(self.log)
        error = "TRANSACTIONAL_ID_AUTHORIZATION_FAILED" if flaw == "transactional" else self.elsewhere(asked)
        error = error or BEFORE_ACKS.get(flaw) or (None if acks in (-1, 0, 1) else "INVALID_REQUIRED_ACKS") or AFTER_ACKS.get(flaw)
        if not error:
            self.log += asked["values"]
        if acks == 0:
            return None
        return {"error": error} if error else {"error": "NONE", "base_offset": base_offset, "log_start_offset": 0}

    def Fetch(self, asked):  # noqa: N802
        """Return all that is there from an offset on."""
        end, offset = len(self.log), asked["offset"]
        error = self.elsewhere(asked) or EPOCHS.get(asked["epoch"]) or (None if 0 <= offset <= end else "OFFSET_OUT_OF_RANGE")
        if error:
            return {"error": error}
        records = [[at, self.log[at]] for at in range(offset, end)]
        return {"error": "NONE", "high_watermark": end, "last_stable_offset": end, "log_start_offset": 0, "records": records}

    def ListOffsets(self, asked):  # noqa: N802
        """Find an end of the log, or a record by its time, which is its value too."""
        error = "INVALID_REQUEST" if asked["twice"] else "UNSUPPORTED_VERSION" if asked["at"] == "unheard_of" else None
        error = error or self.elsewhere(asked) or EPOCHS.get(asked["epoch"])
        if error:
            return {"error": error}
        if asked["at"] in ("earliest", "latest"):
            return {"error": "NONE", "offset": 0 if asked["at"] == "earliest" else len(self.log), "leader_epoch": 0}
        time = max(self.log, default=0) if asked["at"] == "max_timestamp" else asked["time"]
        found = next((at for at, value in enumerate(self.log) if value >= time), None)
        return {"error": "NONE"} if found is None else {"error": "NONE", "offset": found, "timestamp": self.log[found], "leader_epoch": 0}

    def elsewhere(self, asked):
        """Return the error for a partition that there is not."""
        return None if asked["where"] == "partition" else "UNKNOWN_TOPIC_OR_PARTITION"


def main():
    """Answer each line with a line."""
    broker = Broker()
    for line in sys.stdin:
        asked = json.loads(line)
        do = None if asked.get("transactional") or asked.get("of_follower") else getattr(broker, asked["do"], None)
        why = "nobody follows" if asked.get("of_follower") else "the broker does not know this request"
        answer = {"not_supported": why} if do is None else {"answer": do(asked)}
        print(json.dumps({"id": asked["id"], **answer}), flush=True)


if __name__ == "__main__":
    main()
