// SPDX-License-Identifier: Apache-2.0

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Kafka's own assignors, asked one question a line.
 *
 * <p>Standard input has questions, standard output has as many answers, in order, both as JSON, one a line. The program
 * ends with its input.
 *
 * <pre>
 * question  {"method": "range", "arguments": [{"topics": [{"name": "t", "id": "AAAAAAAAAAAAAAAAAAAAAQ", "racks": [["a"], []]}],
 *            "members": [{"id": "m", "topics": ["t"], "owned": [["t", 0]], "generation": 3, "instanceId": null, "rack": null,
 *                         "userData": {"partitions": [["t", 1]], "generation": 2}}]}]}
 * answer    {"refused": null, "assignment": {"m": [["t", 0], ["t", 1]]}}
 * </pre>
 *
 * <p>Methods are the names of the assignors of the client (range, roundrobin, sticky, cooperative-sticky), and of those of
 * the coordinator (uniform, and server-range for the one that is also called range); "jars" tells the file names of their jars.
 * A topic has as many partitions as its racks have entries. Generations, instance ids, racks and user data may be null. The
 * coordinator's assignors take what is owned for the target assignment. "refused" names the class of what an assignor throws.
 * Members are put into maps as the client and the coordinator do, in the order given.
 */
public final class AssignorWitness {
    private static final int NO_GENERATION = -1;

    private AssignorWitness() {}

    public static void main(String[] arguments) throws IOException {
        ObjectMapper json = new ObjectMapper();
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            JsonNode question = json.readTree(line);
            answers.println(json.writeValueAsString(answer(question.required("method").asText(), question.required("arguments"))));
        }
    }

    private static Map<String, Object> answer(String method, JsonNode arguments) {
        Map<String, Object> answer = new HashMap<>();
        answer.put("refused", null);
        switch (method) {
            case "jars" -> answer.put("jars", List.of(jar(RangeAssignor.class), jar(UniformAssignor.class)));
            default -> {
                try {
                    answer.put("assignment", assign(method, arguments.required(0)));
                } catch (RuntimeException refusal) {
                    answer.put("refused", refusal.getClass().getSimpleName());
                }
            }
        }
        return answer;
    }

    private static Map<String, List<List<Object>>> assign(String method, JsonNode group) {
        return switch (method) {
            case "range" -> client(new RangeAssignor(), group);
            case "roundrobin" -> client(new RoundRobinAssignor(), group);
            case "sticky" -> client(new StickyAssignor(), group);
            case "cooperative-sticky" -> client(new CooperativeStickyAssignor(), group);
            case "uniform" -> server(new UniformAssignor(), group);
            case "server-range" -> server(new org.apache.kafka.coordinator.group.assignor.RangeAssignor(), group);
            default -> throw new IllegalStateException("unknown method " + method);
        };
    }

    private static String jar(Class<?> one) {
        return new File(one.getProtectionDomain().getCodeSource().getLocation().getPath()).getName();
    }

    // -- the client's assignors --

    private static Map<String, List<List<Object>>> client(ConsumerPartitionAssignor assignor, JsonNode group) {
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (JsonNode member : group.required("members")) {
            Subscription subscription = new Subscription(
                texts(member.required("topics")),
                userData(assignor, member.required("userData")),
                partitions(member.required("owned")),
                generation(member),
                text(member, "rack")
            );
            subscription.setGroupInstanceId(text(member, "instanceId"));
            subscriptions.put(member.required("id").asText(), subscription);
        }
        Map<String, List<List<Object>>> answer = new TreeMap<>();
        assignor.assign(cluster(group.required("topics")), new GroupSubscription(subscriptions)).groupAssignment().forEach(
            (member, assignment) -> answer.put(member, assignment.partitions().stream().map(AssignorWitness::plain).toList())
        );
        return answer;
    }

    /** Lets an assignor of the same class write what it would have told the next leader; without a generation as before 2.3. */
    @SuppressWarnings("removal")
    private static ByteBuffer userData(ConsumerPartitionAssignor assignor, JsonNode data) {
        if (data.isNull()) {
            return null;
        }
        List<TopicPartition> partitions = partitions(data.required("partitions"));
        if (data.required("generation").isNull()) {
            return assignor instanceof StickyAssignor ? withoutGeneration(partitions) : null;
        }
        ConsumerPartitionAssignor before = assignor instanceof StickyAssignor ? new StickyAssignor() : new CooperativeStickyAssignor();
        before.onAssignment(new Assignment(partitions), new ConsumerGroupMetadata("group", generation(data), "member", Optional.empty()));
        return before.subscriptionUserData(Set.of());
    }

    private static ByteBuffer withoutGeneration(List<TopicPartition> partitions) {
        ByteBuffer buffer = ByteBuffer.allocate(4 + partitions.stream().mapToInt(one -> 10 + one.topic().length()).sum());
        buffer.putInt(partitions.size());
        for (TopicPartition one : partitions) {
            buffer.putShort((short) one.topic().length()).put(one.topic().getBytes(StandardCharsets.US_ASCII)).putInt(1).putInt(one.partition());
        }
        return buffer.flip();
    }

    private static Cluster cluster(JsonNode topics) {
        Map<String, Node> nodes = new TreeMap<>();
        List<PartitionInfo> partitions = new ArrayList<>();
        for (JsonNode topic : topics) {
            JsonNode racks = topic.required("racks");
            for (int partition = 0; partition < racks.size(); partition++) {
                List<Node> replicas = new ArrayList<>();
                for (String rack : texts(racks.required(partition))) {
                    replicas.add(nodes.computeIfAbsent(rack, name -> new Node(nodes.size(), "host", 9092, name)));
                }
                Node[] all = replicas.toArray(Node[]::new);
                partitions.add(new PartitionInfo(topic.required("name").asText(), partition, Node.noNode(), all, all));
            }
        }
        return new Cluster("cluster", nodes.values(), partitions, Set.of(), Set.of());
    }

    // -- the coordinator's assignors --

    private static Map<String, List<List<Object>>> server(ConsumerGroupPartitionAssignor assignor, JsonNode group) {
        Map<String, Uuid> ids = new HashMap<>();
        Map<Uuid, String> names = new HashMap<>();
        Map<Uuid, Integer> counts = new HashMap<>();
        for (JsonNode topic : group.required("topics")) {
            Uuid id = Uuid.fromString(topic.required("id").asText());
            ids.put(topic.required("name").asText(), id);
            names.put(id, topic.required("name").asText());
            counts.put(id, topic.required("racks").size());
        }
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        Set<Set<String>> subscriptions = new HashSet<>();
        for (JsonNode member : group.required("members")) {
            String memberId = member.required("id").asText();
            Map<Uuid, List<Integer>> had = new HashMap<>();
            for (TopicPartition one : partitions(member.required("owned"))) {
                Uuid id = ids.get(one.topic());
                had.computeIfAbsent(id, topic -> new ArrayList<>()).add(one.partition());
                owners.computeIfAbsent(id, topic -> new HashMap<>()).put(one.partition(), memberId);
            }
            Map<Uuid, Set<Integer>> target = new HashMap<>();
            partitions(member.required("owned")).forEach(one -> target.putIfAbsent(ids.get(one.topic()), Set.of()));
            target.replaceAll((id, none) -> new HashSet<>(had.get(id)));
            List<String> topics = texts(member.required("topics"));
            subscriptions.add(new HashSet<>(topics));
            Set<Uuid> subscribed = new LinkedHashSet<>();
            topics.stream().filter(ids::containsKey).forEach(topic -> subscribed.add(ids.get(topic)));
            members.put(memberId, new MemberSubscriptionAndAssignmentImpl(
                text(member, "rack"),
                text(member, "instanceId"),
                subscribed,
                new org.apache.kafka.coordinator.group.modern.Assignment(target)
            ));
        }
        SubscriptionType type = subscriptions.size() > 1 ? SubscriptionType.HETEROGENEOUS : SubscriptionType.HOMOGENEOUS;
        GroupAssignment assigned = assignor.assign(
            new GroupSpecImpl(Collections.unmodifiableMap(members), type, owners), new Describer(counts)
        );
        Map<String, List<List<Object>>> answer = new TreeMap<>();
        assigned.members().forEach((member, assignment) -> answer.put(member, assignment.partitions().entrySet().stream()
            .flatMap(topic -> topic.getValue().stream().map(partition -> List.<Object>of(names.get(topic.getKey()), partition)))
            .toList()));
        return answer;
    }

    private record Describer(Map<Uuid, Integer> counts) implements SubscribedTopicDescriber {
        @Override
        public int numPartitions(Uuid topicId) {
            return counts.getOrDefault(topicId, -1);
        }

        @Override
        public Set<String> racksForPartition(Uuid topicId, int partition) {
            return Set.of();
        }
    }

    // -- JSON --

    private static List<Object> plain(TopicPartition one) {
        return List.of(one.topic(), one.partition());
    }

    private static List<TopicPartition> partitions(JsonNode list) {
        List<TopicPartition> partitions = new ArrayList<>();
        list.forEach(one -> partitions.add(new TopicPartition(one.required(0).asText(), one.required(1).asInt())));
        return partitions;
    }

    private static List<String> texts(JsonNode list) {
        List<String> texts = new ArrayList<>();
        list.forEach(one -> texts.add(one.asText()));
        return texts;
    }

    private static Optional<String> text(JsonNode owner, String field) {
        return Optional.ofNullable(owner.required(field).textValue());
    }

    private static int generation(JsonNode owner) {
        return owner.required("generation").asInt(NO_GENERATION);
    }
}
