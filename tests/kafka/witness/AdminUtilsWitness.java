// SPDX-License-Identifier: Apache-2.0

package org.apache.kafka.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.server.common.AdminOperationException;

/**
 * Kafka's own AdminUtils, asked one question a line.
 *
 * <p>Standard input has questions, standard output has as many answers, in order, both as JSON, one a line. The program
 * ends with its input. It remembers nothing from one question to the next.
 *
 * <pre>
 * question  {"method": "assign", "arguments": [[{"id": 0, "rack": "a"}], 2, 1, 77]}
 * answer    {"placement": [[0], [0]], "drawn": [0, 0], "refused": null}
 * </pre>
 *
 * <p>The arguments are the brokers, the number of partitions, the replication factor, and the seed of the random generator;
 * "drawn" is what it then gives: where to begin, and the shift. What is refused has the name of the exception, and its message.
 */
public final class AdminUtilsWitness {
    private static final ObjectMapper JSON = new ObjectMapper();

    private AdminUtilsWitness() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            answers.println(JSON.writeValueAsString(answer(JSON.readTree(line).required("arguments"))));
        }
    }

    private static Map<String, Object> answer(JsonNode asked) {
        List<BrokerMetadata> brokers = new ArrayList<>();
        for (JsonNode broker : asked.required(0)) {
            Optional<String> rack = Optional.ofNullable(broker.required("rack").textValue());
            brokers.add(new BrokerMetadata(broker.required("id").intValue(), rack));
        }
        int partitions = asked.required(1).intValue();
        long seed = asked.required(3).longValue();
        Random same = new Random(seed);
        AdminUtils.RAND.setSeed(seed);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("placement", null);
        answer.put("drawn", brokers.isEmpty() ? List.of() : List.of(same.nextInt(brokers.size()), same.nextInt(brokers.size())));
        answer.put("refused", null);
        try {
            Map<Integer, List<Integer>> placed =
                AdminUtils.assignReplicasToBrokers(brokers, partitions, asked.required(2).intValue());
            List<List<Integer>> placement = new ArrayList<>();
            for (int partition = 0; partition < partitions; partition++) {
                placement.add(placed.get(partition));
            }
            answer.put("placement", placement);
        } catch (InvalidReplicationFactorException | AdminOperationException refusal) {
            answer.put("refused", refusal.getClass().getSimpleName() + ": " + refusal.getMessage());
        }
        return answer;
    }
}
