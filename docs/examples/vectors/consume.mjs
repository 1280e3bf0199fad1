// SPDX-License-Identifier: Apache-2.0
// Checks implementations of one's own against vectors: node consume.mjs DIR. Needs nothing but Node.

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Where a leader epoch ends (OffsetsForLeaderEpoch). */
function epoch_end_offset({ cache, leader_epoch, log_end_offset }) {
  const latest = cache.at(-1);
  if (leader_epoch === -1 || !latest || leader_epoch > latest.leader_epoch) return { leader_epoch: -1, end_offset: -1 };
  if (leader_epoch === latest.leader_epoch) return { leader_epoch, end_offset: log_end_offset };
  const known = cache.filter((entry) => entry.leader_epoch <= leader_epoch).at(-1);
  const later = cache.find((entry) => entry.leader_epoch > leader_epoch);
  return { leader_epoch: known ? known.leader_epoch : leader_epoch, end_offset: later.start_offset };
}

/** The hash of a key, as a signed 32-bit number. */
function murmur2({ key }) {
  const bytes = Buffer.from(key, "hex");
  const word = 0x5bd1e995;
  const whole = bytes.length & ~3;
  let code = 0x9747b28c ^ bytes.length;
  for (let at = 0; at < whole; at += 4) {
    let part = Math.imul(bytes.readInt32LE(at), word);
    part = Math.imul(part ^ (part >>> 24), word);
    code = Math.imul(code, word) ^ part;
  }
  if (bytes.length > whole) {
    for (let at = bytes.length - 1; at >= whole; at -= 1) code ^= bytes[at] << (8 * (at - whole));
    code = Math.imul(code, word);
  }
  code = Math.imul(code ^ (code >>> 13), word);
  return code ^ (code >>> 15);
}

/** The partition that a record with this key goes to. */
function partition_for_key(question) {
  return (murmur2(question) & 0x7fffffff) % question.partitions;
}

let wrong = 0;
for (const implemented of [epoch_end_offset, murmur2, partition_for_key]) {
  const vectors = JSON.parse(readFileSync(join(process.argv[2], `${implemented.name}.json`), "utf-8"));
  if (vectors.format !== "hwmark.vectors/1") throw new Error(`not hwmark.vectors/1: ${vectors.format}`);
  for (const { id, question, answer } of vectors.cases) {
    const got = implemented(question);
    if (JSON.stringify(got) !== JSON.stringify(answer)) {
      wrong += 1;
      console.log(`${implemented.name} ${id}: expected ${JSON.stringify(answer)}, got ${JSON.stringify(got)}`);
    }
  }
  console.log(`${implemented.name}: ${vectors.cases.length} cases`);
}
process.exit(wrong ? 1 : 0);
