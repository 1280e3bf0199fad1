// SPDX-License-Identifier: Apache-2.0

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.metadata.placement.ClusterDescriber;
import org.apache.kafka.metadata.placement.PartitionAssignment;
import org.apache.kafka.metadata.placement.PlacementSpec;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.metadata.placement.UsableBroker;

/**
 * Kafka's own StripedReplicaPlacer, asked one question a line.
 *
 * <p>Standard input has questions, standard output has as many answers, in order, both as JSON, one a line. The program
 * ends with its input. It remembers nothing from one question to the next.
 *
 * <pre>
 * question  {"method": "place", "arguments": [[{"id": 0, "rack": "a", "fenced": false}], 2, 1, [3, 0, 1]]}
 * answer    {"placement": [[0], [0]], "refused": null}
 * </pre>
 *
 * <p>The arguments are the brokers, the number of partitions, the replication factor, and what the random generator answers,
 * each modulo what it is asked for, and then zeros. What is refused has the placer's message instead of a placement.
 */
public final class PlacementWitness {
    private static final ObjectMapper JSON = new ObjectMapper();

    private PlacementWitness() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            JsonNode asked = JSON.readTree(line).required("arguments");
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("placement", null);
            answer.put("refused", null);
            try {
                answer.put("placement", place(asked));
            } catch (InvalidReplicationFactorException refusal) {
                answer.put("refused", refusal.getMessage());
            }
            answers.println(JSON.writeValueAsString(answer));
        }
    }

    private static List<List<Integer>> place(JsonNode asked) {
        List<UsableBroker> brokers = new ArrayList<>();
        for (JsonNode broker : asked.required(0)) {
            Optional<String> rack = Optional.ofNullable(broker.required("rack").textValue());
            brokers.add(new UsableBroker(broker.required("id").intValue(), rack, broker.required("fenced").booleanValue()));
        }
        PlacementSpec topic = new PlacementSpec(0, asked.required(1).intValue(), (short) asked.required(2).intValue());
        Random random = new Scripted(JSON.convertValue(asked.required(3), int[].class));
        return new StripedReplicaPlacer(random)
            .place(topic, new Cluster(brokers)).assignments().stream().map(PartitionAssignment::replicas).toList();
    }

    private record Cluster(List<UsableBroker> brokers) implements ClusterDescriber {
        @Override
        public Iterator<UsableBroker> usableBrokers() {
            return brokers.iterator();
        }

        @Override
        public Uuid defaultDir(int brokerId) {
            return DirectoryId.MIGRATING;
        }
    }

    /** Answers what it was told to, and then zeros. */
    private static final class Scripted extends Random {
        private static final long serialVersionUID = 1L;
        private final int[] draws;
        private int next;

        Scripted(int[] draws) {
            this.draws = draws;
        }

        @Override
        public int nextInt(int bound) {
            return next < draws.length ? draws[next++] % bound : 0;
        }
    }
}
