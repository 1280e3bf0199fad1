// SPDX-License-Identifier: Apache-2.0
// Answers questions to the round robin assigner of kafkajs, one a line, as JSON. The argument is the folder of kafkajs.
//
// question  {"topics": {"t": 3}, "subscribed": ["t"], "members": [{"id": "m", "topics": ["t"]}]}
// answer    {"assignment": {"m": [["t", 0], ["t", 1], ["t", 2]]}}, or {"error": "…"}
//
// "subscribed" are the topics of the group's leader, which kafkajs passes to its assigner.
'use strict'

const path = require('path')
const readline = require('readline')

const kafkajs = require(process.argv[2])
const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol

async function answer({ topics, subscribed, members }) {
  const findTopicPartitionMetadata = topic => Array.from({ length: topics[topic] || 0 }, (_, partitionId) => ({ partitionId }))
  const assigner = kafkajs.PartitionAssigners.roundRobin({ cluster: { findTopicPartitionMetadata } })
  const told = members.map(({ id, topics }) => ({ memberId: id, memberMetadata: MemberMetadata.encode({ version: 0, topics }) }))
  const assignment = {}
  for (const { memberId, memberAssignment } of await assigner.assign({ members: told, topics: subscribed })) {
    const decoded = MemberAssignment.decode(memberAssignment)
    const given = decoded === null ? {} : decoded.assignment
    assignment[memberId] = Object.keys(given).flatMap(topic => given[topic].map(partition => [topic, partition]))
  }
  return { assignment }
}

async function main() {
  const { version } = require(path.join(process.argv[2], 'package.json'))
  console.log(JSON.stringify({ version }))
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const said = await answer(JSON.parse(line)).catch(error => ({ error: String(error) }))
    console.log(JSON.stringify(said))
  }
}

main()
