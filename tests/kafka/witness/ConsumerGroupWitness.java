// SPDX-License-Identifier: Apache-2.0
package org.apache.kafka.coordinator.group;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
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
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.common.runtime.CoordinatorExecutor;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorResult;
import org.apache.kafka.coordinator.common.runtime.CoordinatorTimer;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupCurrentMemberAssignmentKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupCurrentMemberAssignmentValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMemberMetadataKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMemberMetadataValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMetadataKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMetadataValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMetadataKey;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMetadataValue;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetricsShard;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * Kafka's own coordinator of one consumer group, asked one question a line.
 *
 * <p>Standard input has questions, standard output has as many answers, in order, both as JSON, one a line. The program
 * ends with its input. All members subscribe to one topic; partitions are numbers.
 *
 * <pre>
 * question  {"method": "new", "arguments": [4, true]}
 *           a group that shares 4 partitions, where a new target assignment may have to wait: GroupMetadataManager
 * question  {"method": "heartbeat", "arguments": ["m0", "i0", 3, [0, 1], true, {"m0": [0], "m1": [1]}, false]}
 *           a member id, its instance id or null, its epoch, what it reports to own or null, whether it says everything,
 *           what the assignor comes to if it is asked, and whether it has to wait: GroupMetadataManager.consumerGroupHeartbeat
 * question  {"method": "expire", "arguments": ["m0"]}     the member's session timeout
 * question  {"method": "delay", "arguments": ["m0"]}      the member's rebalance timeout
 * question  {"method": "load", "arguments": []}           a failover: the last record of each key is replayed
 * question  {"method": "commit", "arguments": ["m0", 3, 1]}
 *           a member id, an epoch and a partition: ConsumerGroup.validateOffsetCommit
 * </pre>
 *
 * <p>Answers are {"error": "NONE", "memberEpoch": 3, "assignment": [0], "group": …}: the name of an error, what a heartbeat
 * is answered, and the group as it is now, with each member's record and target, and the epoch of each partition or -1.
 */
public final class ConsumerGroupWitness {
    private static final String GROUP = "group";
    private static final String TOPIC = "topic";
    private static final Uuid TOPIC_ID = new Uuid(0, 2);
    private static final int INTERVAL_MS = 1000;

    private final Map<ApiMessage, CoordinatorRecord> log = new LinkedHashMap<>();
    private final Map<String, CoordinatorTimer.TimeoutOperation<CoordinatorRecord>> timeouts = new HashMap<>();
    private int partitions;
    private boolean waits;
    private long now;
    private GroupMetadataManager manager;

    public static void main(String[] arguments) throws IOException {
        ObjectMapper json = new ObjectMapper();
        ConsumerGroupWitness witness = new ConsumerGroupWitness();
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            JsonNode question = json.readTree(line);
            answers.println(json.writeValueAsString(witness.answer(question.required("method").asText(), question.required("arguments"))));
        }
    }

    private Map<String, Object> answer(String method, JsonNode arguments) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("error", Errors.NONE.name());
        answer.put("memberEpoch", null);
        answer.put("assignment", null);
        try {
            switch (method) {
                case "new" -> begin(arguments.get(0).asInt(), arguments.get(1).asBoolean());
                case "heartbeat" -> heartbeat(arguments, answer);
                case "expire" -> time(GroupMetadataManager.groupSessionTimeoutKey(GROUP, arguments.get(0).asText()));
                case "delay" -> time(GroupMetadataManager.groupRebalanceTimeoutKey(GROUP, arguments.get(0).asText()));
                case "load" -> load();
                case "commit" -> group().validateOffsetCommit(arguments.get(0).asText(), null, arguments.get(1).asInt(), false, 9)
                    .validate(TOPIC, TOPIC_ID, arguments.get(2).asInt());
                case "jar" -> answer.put("jar", jar());
                default -> throw new IllegalArgumentException("unknown method " + method);
            }
        } catch (ApiException refusal) {
            answer.put("error", Errors.forException(refusal).name());
        }
        answer.put("group", manager == null || log.isEmpty() ? null : described(group()));
        return answer;
    }

    private static String jar() {
        return new File(GroupMetadataManager.class.getProtectionDomain().getCodeSource().getLocation().getPath()).getName();
    }

    private void begin(int count, boolean mayWait) {
        partitions = count;
        waits = mayWait;
        now = 1;
        log.clear();
        open();
    }

    private void open() {
        timeouts.clear();
        LogContext logs = new LogContext();
        SnapshotRegistry snapshots = new SnapshotRegistry(logs);
        Map<String, Object> properties = new HashMap<>();
        properties.put(GroupCoordinatorConfig.CONSUMER_GROUP_ASSIGNORS_CONFIG, List.of(Told.class.getName()));
        properties.put(GroupCoordinatorConfig.CONSUMER_GROUP_ASSIGNMENT_INTERVAL_MS_CONFIG, waits ? INTERVAL_MS : 0);
        GroupCoordinatorConfig config = GroupCoordinatorConfig.fromProps(properties);
        ConfigDef both = Utils.mergeConfigs(List.of(GroupCoordinatorConfig.CONFIG_DEF, ShareGroupConfig.CONFIG_DEF));
        ShareGroupConfig shares = new ShareGroupConfig(new AbstractConfig(both, Map.of()));
        manager = new GroupMetadataManager.Builder()
            .withLogContext(logs)
            .withSnapshotRegistry(snapshots)
            .withTime(new Clock())
            .withTimer(new Timer())
            .withExecutor(new NoExecutor())
            .withConfig(config)
            .withGroupConfigManager(new GroupConfigManager(Map.of(), config, shares))
            .withMetadataImage(new Image())
            .withGroupCoordinatorMetricsShard(new GroupCoordinatorMetricsShard(snapshots, Map.of(), new TopicPartition("offsets", 0)))
            .build();
    }

    private void load() {
        open();
        log.values().forEach(this::replay);
        manager.onLoaded();
    }

    private void heartbeat(JsonNode arguments, Map<String, Object> answer) {
        Told.targets = targets(arguments.get(5));
        now = log.isEmpty() ? 1 : group().assignmentTimestamp() + (arguments.get(6).asBoolean() ? 0 : INTERVAL_MS);
        ConsumerGroupHeartbeatRequestData request = new ConsumerGroupHeartbeatRequestData()
            .setGroupId(GROUP)
            .setMemberId(arguments.get(0).asText())
            .setInstanceId(arguments.get(1).isNull() ? null : arguments.get(1).asText())
            .setMemberEpoch(arguments.get(2).asInt());
        if (!arguments.get(3).isNull()) {
            Set<Integer> owned = numbers(arguments.get(3));
            request.setTopicPartitions(owned.isEmpty() ? List.of() : List.of(
                new ConsumerGroupHeartbeatRequestData.TopicPartitions().setTopicId(TOPIC_ID).setPartitions(List.copyOf(owned))));
        }
        if (arguments.get(4).asBoolean()) {
            request.setRebalanceTimeoutMs(60_000).setSubscribedTopicNames(List.of(TOPIC));
        }
        CoordinatorResult<ConsumerGroupHeartbeatResponseData, CoordinatorRecord> result =
            manager.consumerGroupHeartbeat(new Context(), request);
        append(result.records());
        ConsumerGroupHeartbeatResponseData response = result.response();
        answer.put("memberEpoch", response.memberEpoch());
        if (response.assignment() != null) {
            List<Integer> assigned = new ArrayList<>();
            response.assignment().topicPartitions().forEach(topic -> assigned.addAll(topic.partitions()));
            answer.put("assignment", assigned.stream().sorted().toList());
        }
    }

    private void time(String key) {
        CoordinatorTimer.TimeoutOperation<CoordinatorRecord> operation = timeouts.remove(key);
        if (operation == null) {
            throw new IllegalStateException("nothing is scheduled as " + key);
        }
        append(operation.generateRecords().records());
    }

    private void append(List<CoordinatorRecord> records) {
        for (CoordinatorRecord record : records) {
            replay(record);
            log.remove(record.key());
            if (record.value() != null) {
                log.put(record.key(), record);
            }
        }
    }

    private void replay(CoordinatorRecord record) {
        ApiMessage value = record.value() == null ? null : record.value().message();
        if (record.key() instanceof ConsumerGroupMetadataKey key) {
            manager.replay(key, (ConsumerGroupMetadataValue) value);
        } else if (record.key() instanceof ConsumerGroupMemberMetadataKey key) {
            manager.replay(key, (ConsumerGroupMemberMetadataValue) value);
        } else if (record.key() instanceof ConsumerGroupTargetAssignmentMetadataKey key) {
            manager.replay(key, (ConsumerGroupTargetAssignmentMetadataValue) value);
        } else if (record.key() instanceof ConsumerGroupTargetAssignmentMemberKey key) {
            manager.replay(key, (ConsumerGroupTargetAssignmentMemberValue) value);
        } else if (record.key() instanceof ConsumerGroupCurrentMemberAssignmentKey key) {
            manager.replay(key, (ConsumerGroupCurrentMemberAssignmentValue) value);
        } else {
            throw new IllegalStateException("a record that no consumer group writes: " + record);
        }
    }

    private ConsumerGroup group() {
        return manager.consumerGroup(GROUP);
    }

    // -- groups as answers have them --

    private Map<String, Object> described(ConsumerGroup group) {
        Map<String, Object> members = new TreeMap<>();
        group.members().forEach((id, member) -> members.put(id, described(member)));
        Map<String, Object> targets = new TreeMap<>();
        group.targetAssignment().forEach((id, target) -> {
            Set<Integer> meant = target.partitions().getOrDefault(TOPIC_ID, Set.of());
            if (!meant.isEmpty()) {
                targets.put(id, meant.stream().sorted().toList());
            }
        });
        int[] epochs = new int[partitions];
        Arrays.setAll(epochs, partition -> group.currentPartitionEpoch(TOPIC_ID, partition));
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("groupEpoch", group.groupEpoch());
        described.put("assignmentEpoch", group.assignmentEpoch());
        described.put("members", members);
        described.put("targets", targets);
        described.put("partitionEpochs", epochs);
        return described;
    }

    private Map<String, Object> described(ConsumerGroupMember member) {
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("memberEpoch", member.memberEpoch());
        described.put("previousMemberEpoch", member.previousMemberEpoch());
        described.put("state", member.state().name());
        described.put("assigned", entries(member.assignedPartitions()));
        described.put("pendingRevocation", entries(member.partitionsPendingRevocation()));
        return described;
    }

    private int[] entries(Map<Uuid, Map<Integer, Integer>> held) {
        int[] entries = new int[partitions];
        Arrays.setAll(entries, partition -> held.getOrDefault(TOPIC_ID, Map.of()).getOrDefault(partition, -1));
        return entries;
    }

    private static Set<Integer> numbers(JsonNode said) {
        Set<Integer> numbers = new HashSet<>();
        said.forEach(number -> numbers.add(number.asInt()));
        return numbers;
    }

    private static Map<String, MemberAssignment> targets(JsonNode said) {
        Map<String, MemberAssignment> targets = new HashMap<>();
        said.properties().forEach(entry -> {
            Set<Integer> meant = numbers(entry.getValue());
            Map<Uuid, Set<Integer>> assignment = meant.isEmpty() ? Map.of() : Map.of(TOPIC_ID, meant);
            targets.put(entry.getKey(), () -> assignment);
        });
        return targets;
    }

    /** An assignor that comes to what it is told. */
    public static final class Told implements ConsumerGroupPartitionAssignor {
        private static Map<String, MemberAssignment> targets = Map.of();

        @Override
        public String name() {
            return "told";
        }

        @Override
        public GroupAssignment assign(GroupSpec group, SubscribedTopicDescriber topics) {
            if (!Set.copyOf(group.memberIds()).equals(targets.keySet())) {
                throw new IllegalStateException("asked for " + group.memberIds() + ", told for " + targets.keySet());
            }
            return new GroupAssignment(targets);
        }
    }

    // -- what surrounds a coordinator --

    private final class Clock implements Time {
        @Override
        public long milliseconds() {
            return now;
        }

        @Override
        public long nanoseconds() {
            return TimeUnit.MILLISECONDS.toNanos(now);
        }

        @Override
        public void sleep(long ms) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
            throw new UnsupportedOperationException();
        }
    }

    private final class Timer implements CoordinatorTimer<CoordinatorRecord> {
        @Override
        public void schedule(String key, long delay, TimeUnit unit, boolean retry, TimeoutOperation<CoordinatorRecord> operation) {
            timeouts.put(key, operation);
        }

        @Override
        public void schedule(
            String key, long delay, TimeUnit unit, boolean retry, long retryBackoff, TimeoutOperation<CoordinatorRecord> operation) {
            timeouts.put(key, operation);
        }

        @Override
        public void scheduleIfAbsent(String key, long delay, TimeUnit unit, boolean retry, TimeoutOperation<CoordinatorRecord> operation) {
            timeouts.putIfAbsent(key, operation);
        }

        @Override
        public void cancel(String key) {
            timeouts.remove(key);
        }

        @Override
        public boolean isScheduled(String key) {
            return timeouts.containsKey(key);
        }
    }

    private static final class NoExecutor implements CoordinatorExecutor<CoordinatorRecord> {
        @Override
        public <R> boolean schedule(String key, TaskRunnable<R> task, TaskOperation<CoordinatorRecord, R> operation) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isScheduled(String key) {
            return false;
        }

        @Override
        public void cancel(String key) {}
    }

    private static final class Context implements AuthorizableRequestContext {
        @Override
        public String listenerName() {
            return "";
        }

        @Override
        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.PLAINTEXT;
        }

        @Override
        public KafkaPrincipal principal() {
            return KafkaPrincipal.ANONYMOUS;
        }

        @Override
        public InetAddress clientAddress() {
            return InetAddress.getLoopbackAddress();
        }

        @Override
        public int requestType() {
            return ApiKeys.CONSUMER_GROUP_HEARTBEAT.id;
        }

        @Override
        public int requestVersion() {
            return 1;
        }

        @Override
        public String clientId() {
            return "client";
        }

        @Override
        public int correlationId() {
            return 0;
        }
    }

    private final class Image implements CoordinatorMetadataImage {
        private final TopicMetadata topic = new TopicMetadata() {
            @Override
            public String name() {
                return TOPIC;
            }

            @Override
            public Uuid id() {
                return TOPIC_ID;
            }

            @Override
            public int partitionCount() {
                return partitions;
            }

            @Override
            public List<String> partitionRacks(int partition) {
                return new ArrayList<>(); // Kafka sorts it in place
            }
        };

        @Override
        public Set<Uuid> topicIds() {
            return Set.of(TOPIC_ID);
        }

        @Override
        public Set<String> topicNames() {
            return Set.of(TOPIC);
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(String name) {
            return TOPIC.equals(name) ? Optional.of(topic) : Optional.empty();
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(Uuid id) {
            return TOPIC_ID.equals(id) ? Optional.of(topic) : Optional.empty();
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
