// SPDX-License-Identifier: Apache-2.0

package org.apache.kafka.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.Replicas;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * Kafka's own PartitionChangeBuilder, asked one question a line.
 *
 * <p>Standard input has questions, standard output has as many answers, in order, both as JSON, one a line. The program
 * ends with its input. It remembers nothing from one question to the next.
 *
 * <pre>
 * question  {"method": "build", "arguments": [PARTITION, TARGET, CIRCUMSTANCES]}
 * answer    {"returned": PARTITION}
 * PARTITION {"replicas": [0, 1], "isr": [0], "elr": [1], "lastKnownElr": [], "leader": 0, "leaderEpoch": 3,
 *            "partitionEpoch": 7, "addingReplicas": [], "removingReplicas": [], "leaderRecoveryState": "RECOVERED"}
 * </pre>
 *
 * <p>TARGET is written as a partition is; its replicas, isr, addingReplicas, removingReplicas and leaderRecoveryState are
 * what the builder is told to aim at. CIRCUMSTANCES are "acceptable" (the brokers that may lead), "minIsr", "election",
 * "elrEnabled", "lastKnownLeader", "uncleanShutdown" (brokers) and "metadataVersion".
 *
 * <p>Methods: "build" returns the partition with the record that is built merged into it, or null if none is; "electLeader"
 * returns whom the builder would elect as it stands, and whether uncleanly; "jar" returns the file name of the jar that has
 * the class. Whatever goes wrong ends the program.
 */
public final class PartitionChangeWitness {
    private static final Uuid TOPIC = new Uuid(1, 1);
    private static final ObjectMapper JSON = new ObjectMapper();

    private PartitionChangeWitness() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            JsonNode question = JSON.readTree(line);
            Map<String, Object> answer = new HashMap<>();
            answer.put("returned", call(question.required("method").asText(), question.required("arguments")));
            answers.println(JSON.writeValueAsString(answer));
        }
    }

    private static Object call(String method, JsonNode arguments) {
        switch (method) {
            case "build" -> {
                PartitionRegistration partition = partition(arguments.required(0));
                return builder(partition, arguments.required(1), arguments.required(2)).build()
                    .map(record -> described(partition.merge((PartitionChangeRecord) record.message())))
                    .orElse(null);
            }
            case "electLeader" -> {
                PartitionRegistration partition = partition(arguments.required(0));
                PartitionChangeBuilder.ElectionResult elected =
                    builder(partition, arguments.required(1), arguments.required(2)).electLeader();
                return List.of(elected.node, elected.unclean);
            }
            case "jar" -> {
                String path = PartitionChangeBuilder.class.getProtectionDomain().getCodeSource().getLocation().getPath();
                return new File(path).getName();
            }
            default -> throw new IllegalStateException("unknown method " + method);
        }
    }

    private static PartitionChangeBuilder builder(PartitionRegistration partition, JsonNode aim, JsonNode circumstances) {
        Set<Integer> acceptable = Set.copyOf(brokers(circumstances, "acceptable"));
        List<Integer> uncleanShutdown = brokers(circumstances, "uncleanShutdown");
        PartitionRegistration target = partition(aim);
        PartitionChangeBuilder builder = new PartitionChangeBuilder(
            partition,
            TOPIC,
            0,
            acceptable::contains,
            MetadataVersion.fromVersionString(circumstances.required("metadataVersion").asText(), false),
            circumstances.required("minIsr").asInt(),
            circumstances.required("elrEnabled").asBoolean());
        if (!uncleanShutdown.isEmpty()) {
            builder.setUncleanShutdownReplicas(uncleanShutdown);
        }
        return builder
            .setElection(PartitionChangeBuilder.Election.valueOf(circumstances.required("election").asText()))
            .setUseLastKnownLeaderInBalancedRecovery(circumstances.required("lastKnownLeader").asBoolean())
            .setDefaultDirProvider(broker -> DirectoryId.MIGRATING)
            .setTargetIsr(Replicas.toList(target.isr))
            .setTargetReplicas(Replicas.toList(target.replicas))
            .setTargetAdding(Replicas.toList(target.addingReplicas))
            .setTargetRemoving(Replicas.toList(target.removingReplicas))
            .setTargetLeaderRecoveryState(target.leaderRecoveryState);
    }

    static PartitionRegistration partition(JsonNode written) {
        int[] replicas = array(written, "replicas");
        return new PartitionRegistration.Builder()
            .setReplicas(replicas)
            .setDirectories(DirectoryId.migratingArray(replicas.length))
            .setIsr(array(written, "isr"))
            .setElr(array(written, "elr"))
            .setLastKnownElr(array(written, "lastKnownElr"))
            .setLeader(written.required("leader").asInt())
            .setLeaderEpoch(written.required("leaderEpoch").asInt())
            .setPartitionEpoch(written.required("partitionEpoch").asInt())
            .setAddingReplicas(array(written, "addingReplicas"))
            .setRemovingReplicas(array(written, "removingReplicas"))
            .setLeaderRecoveryState(LeaderRecoveryState.valueOf(written.required("leaderRecoveryState").asText()))
            .build();
    }

    static Map<String, Object> described(PartitionRegistration partition) {
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("replicas", partition.replicas);
        described.put("isr", partition.isr);
        described.put("elr", partition.elr);
        described.put("lastKnownElr", partition.lastKnownElr);
        described.put("leader", partition.leader);
        described.put("leaderEpoch", partition.leaderEpoch);
        described.put("partitionEpoch", partition.partitionEpoch);
        described.put("addingReplicas", partition.addingReplicas);
        described.put("removingReplicas", partition.removingReplicas);
        described.put("leaderRecoveryState", partition.leaderRecoveryState.name());
        return described;
    }

    static int[] array(JsonNode written, String field) {
        return JSON.convertValue(written.required(field), int[].class);
    }

    static List<Integer> brokers(JsonNode written, String field) {
        return Replicas.toList(array(written, field));
    }
}
