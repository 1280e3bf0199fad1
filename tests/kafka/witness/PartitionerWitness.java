// SPDX-License-Identifier: Apache-2.0

package org.apache.kafka.clients.producer.internals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Utils;

/**
 * Kafka's own choice of a partition, asked one question a line.
 *
 * <p>Standard input has questions, standard output has as many answers, in order, both as JSON, one a line. The program
 * ends with its input.
 *
 * <pre>
 * question  {"method": "murmur2", "arguments": ["3231", 7]}
 * answer    {"refused": null, "hash": -973932308, "partition": 1}
 * </pre>
 *
 * <p>Methods: "murmur2" (a key in hexadecimal digits, and how many partitions); "partition" (partitions, key or null, the partition
 * that the record names or null, the answer of the configured partitioner or null, whether keys are ignored) asks
 * KafkaProducer.partition, which is private, with metadata of so many partitions; "roundRobin" (one entry of partitions and
 * those with a leader for each record) a RoundRobinPartitioner; "sticky" (batch size, random numbers, steps) a BuiltInPartitioner
 * that draws these numbers, and tells the partition after each step: ["append", partitions, those with a leader, bytes, enabled] or
 * ["load", queue sizes, ids, length]; "jar" tells the file name of the jar. "refused" names the class of what Kafka throws.
 */
public final class PartitionerWitness {
    private static final String TOPIC = "topic";
    private static final Node NODE = new Node(0, "localhost", 1);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Map<List<Boolean>, KafkaProducer<byte[], byte[]>> producers = new LinkedHashMap<>();

    private PartitionerWitness() {}

    public static void main(String[] arguments) throws IOException {
        PartitionerWitness witness = new PartitionerWitness();
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            JsonNode question = JSON.readTree(line);
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("refused", null);
            try {
                witness.answer(question.required("method").asText(), question.required("arguments"), answer);
            } catch (IllegalArgumentException refusal) {
                answer.put("refused", refusal.getClass().getSimpleName());
            }
            answers.println(JSON.writeValueAsString(answer));
        }
        witness.producers.values().forEach(producer -> producer.close(Duration.ZERO));
    }

    private void answer(String method, JsonNode arguments, Map<String, Object> answer) {
        switch (method) {
            case "murmur2" -> {
                byte[] key = HexFormat.of().parseHex(arguments.get(0).asText());
                answer.put("hash", Utils.murmur2(key));
                answer.put("partition", BuiltInPartitioner.partitionForKey(key, arguments.get(1).asInt()));
            }
            case "partition" -> answer.put("partition", partition(arguments));
            case "roundRobin" -> {
                RoundRobinPartitioner partitioner = new RoundRobinPartitioner();
                List<Integer> partitions = new ArrayList<>();
                for (JsonNode one : arguments.get(0)) {
                    partitions.add(partitioner.partition(TOPIC, null, null, null, null, cluster(one.get(0).asInt(), one.get(1))));
                }
                answer.put("partitions", partitions);
            }
            case "sticky" -> answer.put("partitions", sticky(arguments));
            case "jar" -> answer.put(
                "jar",
                new File(BuiltInPartitioner.class.getProtectionDomain().getCodeSource().getLocation().getPath()).getName()
            );
            default -> throw new IllegalStateException("unknown method " + method);
        }
    }

    private int partition(JsonNode arguments) {
        byte[] key = arguments.get(1).isNull() ? null : arguments.get(1).asText().getBytes(StandardCharsets.UTF_8);
        Integer named = arguments.get(2).isNull() ? null : arguments.get(2).asInt();
        boolean hasPartitioner = !arguments.get(3).isNull();
        Given.answer = arguments.get(3).asInt();
        boolean ignoresKeys = arguments.get(4).asBoolean();
        Cluster cluster = cluster(arguments.get(0).asInt(), JSON.createArrayNode());
        KafkaProducer<byte[], byte[]> producer =
            producers.computeIfAbsent(List.of(hasPartitioner, ignoresKeys), settings -> producer(settings.get(0), settings.get(1)));
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(TOPIC, named, key, new byte[0]);
        try {
            Method choose = KafkaProducer.class.getDeclaredMethod(
                "partition", ProducerRecord.class, byte[].class, byte[].class, Cluster.class);
            choose.setAccessible(true);
            return (int) choose.invoke(producer, record, key, record.value(), cluster);
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof IllegalArgumentException refusal) {
                throw refusal;
            }
            throw new IllegalStateException(thrown);
        } catch (ReflectiveOperationException other) {
            throw new IllegalStateException(other);
        }
    }

    private static KafkaProducer<byte[], byte[]> producer(boolean hasPartitioner, boolean ignoresKeys) {
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, NODE.host() + ":" + NODE.port());
        settings.put(ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG, ignoresKeys);
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, false);
        if (hasPartitioner) {
            settings.put(ProducerConfig.PARTITIONER_CLASS_CONFIG, Given.class);
        }
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private static List<Integer> sticky(JsonNode arguments) {
        Deque<Integer> randoms = new ArrayDeque<>();
        arguments.get(1).forEach(random -> randoms.add(random.asInt()));
        BuiltInPartitioner partitioner = new BuiltInPartitioner(new LogContext(), TOPIC, arguments.get(0).asInt()) {
            @Override
            int randomPartition() {
                return randoms.remove();
            }
        };
        List<Integer> partitions = new ArrayList<>();
        Cluster cluster = null;
        for (JsonNode step : arguments.get(2)) {
            if (step.get(0).asText().equals("load")) {
                int[] ids = JSON.convertValue(step.get(2), int[].class);
                partitioner.updatePartitionLoadStats(JSON.convertValue(step.get(1), int[].class), ids, step.get(3).asInt());
            } else {
                cluster = cluster(step.get(1).asInt(), step.get(2));
                BuiltInPartitioner.StickyPartitionInfo info = partitioner.peekCurrentPartitionInfo(cluster);
                partitioner.updatePartitionInfo(info, step.get(3).asInt(), cluster, step.get(4).asBoolean());
            }
            if (cluster != null) {
                partitions.add(partitioner.peekCurrentPartitionInfo(cluster).partition());
            }
        }
        return partitions;
    }

    private static Cluster cluster(int partitions, JsonNode available) {
        Set<Integer> leaders = new HashSet<>();
        available.forEach(partition -> leaders.add(partition.asInt()));
        Node[] replicas = {NODE};
        List<PartitionInfo> infos = new ArrayList<>();
        for (int partition = 0; partition < partitions; partition++) {
            infos.add(new PartitionInfo(TOPIC, partition, leaders.contains(partition) ? NODE : null, replicas, replicas));
        }
        return new Cluster("cluster", List.of(NODE), infos, Set.of(), Set.of());
    }

    /** A configured partitioner that answers what it is told. */
    public static final class Given implements Partitioner {
        private static int answer;

        @Override
        public int partition(String topic, Object key, byte[] keyBytes, Object value, byte[] valueBytes, Cluster cluster) {
            return answer;
        }

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> configs) {}
    }
}
