// SPDX-License-Identifier: Apache-2.0
// A broker in memory behind the protocol of adapters: hwmark conform process --command "node adapter.mjs".
// It appends, fetches and finds offsets as Kafka does, and deletes nothing. It knows nothing of transactions, nor of
// idempotence: what a producer sends twice is there twice, and that is what hwmark finds. Needs nothing but Node.

import { createInterface } from "node:readline";

const BEFORE_ACKS = { no_batch: "INVALID_RECORD", old_magic: "INVALID_RECORD", two_batches: "INVALID_RECORD" };
const AFTER_ACKS = { base_offset: "INVALID_RECORD", crc: "CORRUPT_MESSAGE" };
const EPOCHS = { older: "FENCED_LEADER_EPOCH", newer: "UNKNOWN_LEADER_EPOCH" };

/** The values of the one partition, in leader epoch 0; the time of a record is its value too. */
let log = [];
let producers = 0;

const elsewhere = ({ where }) => (where === "partition" ? null : "UNKNOWN_TOPIC_OR_PARTITION");

const requests = {
  begin() {
    log = [];
    producers = 0;
    return {};
  },
  InitProducerId() {
    producers += 1;
    return { error: "NONE", producer_id: producers, producer_epoch: 0 };
  },
  Produce(asked) {
    const base_offset = log.length;
    const error =
      (asked.flaw === "transactional" ? "TRANSACTIONAL_ID_AUTHORIZATION_FAILED" : elsewhere(asked)) ??
      BEFORE_ACKS[asked.flaw] ??
      ([-1, 0, 1].includes(asked.acks) ? AFTER_ACKS[asked.flaw] : "INVALID_REQUIRED_ACKS");
    if (!error) log.push(...asked.values);
    if (asked.acks === 0) return null;
    return error ? { error } : { error: "NONE", base_offset, log_start_offset: 0 };
  },
  Fetch(asked) {
    const end = log.length;
    const is_in_range = 0 <= asked.offset && asked.offset <= end;
    const error = elsewhere(asked) ?? EPOCHS[asked.epoch] ?? (is_in_range ? null : "OFFSET_OUT_OF_RANGE");
    if (error) return { error };
    const records = log.map((value, offset) => [offset, value]).slice(asked.offset);
    return { error: "NONE", high_watermark: end, last_stable_offset: end, log_start_offset: 0, records };
  },
  ListOffsets(asked) {
    const is_known = asked.at !== "unheard_of";
    const error = (asked.twice ? "INVALID_REQUEST" : is_known ? elsewhere(asked) : "UNSUPPORTED_VERSION") ?? EPOCHS[asked.epoch];
    if (error) return { error };
    if (asked.at === "earliest") return { error: "NONE", offset: 0, leader_epoch: 0 };
    if (asked.at === "latest") return { error: "NONE", offset: log.length, leader_epoch: 0 };
    const time = asked.at === "max_timestamp" ? Math.max(...log) : asked.time;
    const offset = log.findIndex((value) => value >= time);
    return offset === -1 ? { error: "NONE" } : { error: "NONE", offset, timestamp: log[offset], leader_epoch: 0 };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  const is_known = asked.do in requests && !asked.transactional && !asked.of_follower;
  const why = asked.of_follower ? "nobody follows" : "the broker does not know this request";
  const answer = is_known ? { answer: requests[asked.do](asked) } : { not_supported: why };
  console.log(JSON.stringify({ id: asked.id, ...answer }));
}
