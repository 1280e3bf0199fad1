// SPDX-License-Identifier: Apache-2.0

package org.apache.kafka.storage.internals.log;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.Time;

/**
 * What a leader of Kafka makes of the batches of one idempotent producer, asked one history a line.
 *
 * <p>Standard input has questions, standard output has as many answers, in order, both as JSON, one a line. The program ends
 * with its input. Its one argument is an empty folder.
 *
 * <pre>
 * question  {"method": "batches", "arguments": [[0, 1], [0, 1], [2, 1]]}
 * answer    {"judgements": ["append", "duplicate", "out_of_order"]}
 * </pre>
 *
 * <p>Each argument is a batch: its first sequence number, and how many records it has. The steps are those of
 * UnifiedLog.analyzeAndValidateProducerState, which is private: a known batch is a duplicate, any other is put to
 * ProducerAppendInfo.append, as an append of a client, and remembered if that does not throw.
 */
public final class SequenceWitness {
    private static final TopicPartition PARTITION = new TopicPartition("topic", 0);
    private static final long PRODUCER_ID = 7;
    private static final short PRODUCER_EPOCH = 0;

    private SequenceWitness() {}

    public static void main(String[] arguments) throws IOException {
        ObjectMapper json = new ObjectMapper();
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            ProducerStateManager manager = new ProducerStateManager(
                PARTITION, new File(arguments[0]), Integer.MAX_VALUE, new ProducerStateManagerConfig(Integer.MAX_VALUE, true), Time.SYSTEM);
            List<String> judgements = new ArrayList<>();
            long offset = 0;
            for (JsonNode batch : json.readTree(line).required("arguments")) {
                String judgement = judge(manager, offset, batch.get(0).asInt(), batch.get(1).asInt());
                judgements.add(judgement);
                offset += judgement.equals("append") ? batch.get(1).asInt() : 0;
            }
            answers.println(json.writeValueAsString(Map.of("judgements", judgements)));
        }
    }

    private static String judge(ProducerStateManager manager, long offset, int sequence, int size) {
        SimpleRecord[] records = new SimpleRecord[size];
        for (int record = 0; record < size; record++) {
            records[record] = new SimpleRecord(new byte[0]);
        }
        RecordBatch batch = MemoryRecords.withIdempotentRecords(
            RecordBatch.CURRENT_MAGIC_VALUE, offset, Compression.NONE, PRODUCER_ID, PRODUCER_EPOCH, sequence, 0, records)
            .batches().iterator().next();
        if (manager.lastEntry(PRODUCER_ID).flatMap(entry -> entry.findDuplicateBatch(batch)).isPresent()) {
            return "duplicate";
        }
        ProducerAppendInfo info = manager.prepareUpdate(PRODUCER_ID, AppendOrigin.CLIENT);
        try {
            info.append(batch, Optional.empty());
        } catch (OutOfOrderSequenceException refusal) {
            return "out_of_order";
        }
        manager.update(info);
        return "append";
    }
}
