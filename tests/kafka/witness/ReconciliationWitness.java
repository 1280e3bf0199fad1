// SPDX-License-Identifier: Apache-2.0

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData.TopicPartitions;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.MemberState;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.coordinator.group.modern.consumer.CurrentAssignmentBuilder;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * What Kafka's group coordinator decides about one member of a consumer group, asked one question a line.
 *
 * <p>Standard input has questions, standard output has as many answers, in order, both as JSON, one a line. The program
 * ends with its input. Partitions are numbers: partition p is that of topic p % 2 with the number p / 2. What a member has
 * is an array with an entry for each partition, the epoch under which it was assigned, or -1.
 *
 * <pre>
 * question  {"method": "reconcile", "arguments": [MEMBER, {"epoch": 7, "partitions": [0, 3], "topics": [0, 1],
 *            "isResubscribed": false}, [0], [5, -1, -1, 7]]}
 *           a member, its target and the topics that it subscribes to, what it reports to own or null, and the epoch
 *           of each partition or -1: CurrentAssignmentBuilder.build
 * question  {"method": "replace", "arguments": [["a", MEMBER], ["b", MEMBER], ["a", null]]}
 *           records that a group gets one after another: ConsumerGroup.updateMember and removeMember
 * question  {"method": "commit", "arguments": [MEMBER or null, 5, 3]}
 *           a member, a member epoch and a partition: ConsumerGroup.validateOffsetCommit
 * MEMBER    {"memberEpoch": 5, "previousMemberEpoch": 4, "state": "STABLE", "assigned": [5, -1, -1, 3],
 *            "pendingRevocation": [-1, -1, -1, -1]}
 * </pre>
 *
 * <p>Answers are {"returned": …, "refused": …}: a member; the epochs of all partitions; the name of an error, which may be
 * NONE. "refused" names the class by which Kafka refuses a record. "jar" returns the file name of the jar that has the class.
 */
public final class ReconciliationWitness {
    private static final int TOPICS = 2;
    private static final int MOST_PARTITIONS = 16;

    private ReconciliationWitness() {}

    public static void main(String[] arguments) throws IOException {
        ObjectMapper json = new ObjectMapper();
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            JsonNode question = json.readTree(line);
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("returned", null);
            answer.put("refused", null);
            try {
                answer.put("returned", call(question.required("method").asText(), question.required("arguments")));
            } catch (IllegalStateException refusal) {
                answer.put("refused", refusal.getClass().getSimpleName());
            }
            answers.println(json.writeValueAsString(answer));
        }
    }

    private static Object call(String method, JsonNode arguments) {
        return switch (method) {
            case "reconcile" -> reconcile(arguments);
            case "replace" -> replace(arguments);
            case "commit" -> commit(arguments);
            case "jar" -> new File(ConsumerGroup.class.getProtectionDomain().getCodeSource().getLocation().getPath()).getName();
            default -> throw new IllegalArgumentException("unknown method " + method);
        };
    }

    private static Object reconcile(JsonNode arguments) {
        JsonNode target = arguments.get(1);
        List<String> topics = new ArrayList<>();
        target.required("topics").forEach(topic -> topics.add(name(topic.asInt())));
        int[] epochs = numbers(arguments.get(3));
        ConsumerGroupMember member = new CurrentAssignmentBuilder(member("m", topics, arguments.get(0)))
            .withMetadataImage(new Image())
            .withTargetAssignment(target.required("epoch").asInt(), new Assignment(sets(numbers(target.required("partitions")))))
            .withHasSubscriptionChanged(target.required("isResubscribed").asBoolean())
            .withCurrentPartitionEpoch((topic, number) -> epochs[partition(topic, number)])
            .withOwnedTopicPartitions(arguments.get(2).isNull() ? null : owned(numbers(arguments.get(2))))
            .build();
        return written(member, epochs.length);
    }

    private static Object replace(JsonNode arguments) {
        ConsumerGroup group = group();
        int partitions = 0;
        for (JsonNode record : arguments) {
            String id = record.get(0).asText();
            if (record.get(1).isNull()) {
                group.removeMember(id);
            } else {
                partitions = record.get(1).required("assigned").size();
                group.updateMember(member(id, List.of(name(0), name(1)), record.get(1)));
            }
        }
        int[] epochs = new int[partitions];
        Arrays.setAll(epochs, partition -> group.currentPartitionEpoch(id(partition % TOPICS), partition / TOPICS));
        return epochs;
    }

    private static Object commit(JsonNode arguments) {
        ConsumerGroup group = group();
        group.updateMember(new ConsumerGroupMember.Builder("another").build());
        if (!arguments.get(0).isNull()) {
            group.updateMember(member("m", List.of(name(0), name(1)), arguments.get(0)));
        }
        int partition = arguments.get(2).asInt();
        try {
            group.validateOffsetCommit("m", null, arguments.get(1).asInt(), false, 9)
                .validate(name(partition % TOPICS), id(partition % TOPICS), partition / TOPICS);
            return Errors.NONE.name();
        } catch (ApiException refusal) {
            return Errors.forException(refusal).name();
        }
    }

    private static ConsumerGroup group() {
        LogContext logs = new LogContext();
        return new ConsumerGroup(logs, new SnapshotRegistry(logs), "group");
    }

    // -- members as questions and answers have them --

    private static ConsumerGroupMember member(String id, List<String> topics, JsonNode said) {
        return new ConsumerGroupMember.Builder(id)
            .setMemberEpoch(said.required("memberEpoch").asInt())
            .setPreviousMemberEpoch(said.required("previousMemberEpoch").asInt())
            .setState(MemberState.valueOf(said.required("state").asText()))
            .setSubscribedTopicNames(topics)
            .setAssignedPartitions(epochs(numbers(said.required("assigned"))))
            .setPartitionsPendingRevocation(epochs(numbers(said.required("pendingRevocation"))))
            .build();
    }

    private static Map<String, Object> written(ConsumerGroupMember member, int partitions) {
        Map<String, Object> written = new LinkedHashMap<>();
        written.put("memberEpoch", member.memberEpoch());
        written.put("previousMemberEpoch", member.previousMemberEpoch());
        written.put("state", member.state().name());
        written.put("assigned", entries(member.assignedPartitions(), partitions));
        written.put("pendingRevocation", entries(member.partitionsPendingRevocation(), partitions));
        return written;
    }

    private static int[] numbers(JsonNode said) {
        int[] numbers = new int[said.size()];
        Arrays.setAll(numbers, index -> said.get(index).asInt());
        return numbers;
    }

    private static Map<Uuid, Map<Integer, Integer>> epochs(int[] entries) {
        Map<Uuid, Map<Integer, Integer>> epochs = new HashMap<>();
        for (int partition = 0; partition < entries.length; partition++) {
            if (entries[partition] != -1) {
                epochs.computeIfAbsent(id(partition % TOPICS), topic -> new HashMap<>()).put(partition / TOPICS, entries[partition]);
            }
        }
        return epochs.isEmpty() ? Map.of() : epochs;
    }

    private static int[] entries(Map<Uuid, Map<Integer, Integer>> epochs, int partitions) {
        int[] entries = new int[partitions];
        Arrays.fill(entries, -1);
        epochs.forEach((topic, numbers) -> numbers.forEach((number, epoch) -> entries[partition(topic, number)] = epoch));
        return entries;
    }

    private static Map<Uuid, Set<Integer>> sets(int[] partitions) {
        Map<Uuid, Set<Integer>> sets = new HashMap<>();
        for (int partition : partitions) {
            sets.computeIfAbsent(id(partition % TOPICS), topic -> new HashSet<>()).add(partition / TOPICS);
        }
        return sets;
    }

    private static List<TopicPartitions> owned(int[] partitions) {
        List<TopicPartitions> owned = new ArrayList<>();
        sets(partitions).forEach((topic, numbers) -> owned.add(new TopicPartitions().setTopicId(topic).setPartitions(List.copyOf(numbers))));
        return owned;
    }

    // -- topics --

    private static Uuid id(int topic) {
        return new Uuid(0, topic + 2L);
    }

    private static String name(int topic) {
        return "topic" + topic;
    }

    private static int partition(Uuid topic, int number) {
        return number * TOPICS + (int) topic.getLeastSignificantBits() - 2;
    }

    private record Topic(String name, Uuid id) implements CoordinatorMetadataImage.TopicMetadata {
        @Override
        public int partitionCount() {
            return MOST_PARTITIONS / TOPICS;
        }

        @Override
        public List<String> partitionRacks(int partition) {
            return List.of();
        }
    }

    private static final class Image implements CoordinatorMetadataImage {
        private final Map<String, TopicMetadata> byName = new HashMap<>();
        private final Map<Uuid, TopicMetadata> byId = new HashMap<>();

        private Image() {
            for (int topic = 0; topic < TOPICS; topic++) {
                byName.put(name(topic), new Topic(name(topic), id(topic)));
                byId.put(id(topic), byName.get(name(topic)));
            }
        }

        @Override
        public Set<Uuid> topicIds() {
            return byId.keySet();
        }

        @Override
        public Set<String> topicNames() {
            return byName.keySet();
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(String name) {
            return Optional.ofNullable(byName.get(name));
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(Uuid id) {
            return Optional.ofNullable(byId.get(id));
        }

        @Override
        public CoordinatorMetadataDelta emptyDelta() {
            return CoordinatorMetadataDelta.EMPTY;
        }

        @Override
        public long version() {
            return 1;
        }

        @Override
        public boolean isEmpty() {
            return false;
        }
    }
}
