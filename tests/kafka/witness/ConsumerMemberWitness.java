// SPDX-License-Identifier: Apache-2.0
package org.apache.kafka.clients.consumer.internals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.internals.events.BackgroundEvent;
import org.apache.kafka.clients.consumer.internals.events.BackgroundEventHandler;
import org.apache.kafka.clients.consumer.internals.events.PartitionsAssignedEvent;
import org.apache.kafka.clients.consumer.internals.metrics.AsyncConsumerMetrics;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ConsumerGroupHeartbeatRequest;
import org.apache.kafka.common.requests.ConsumerGroupHeartbeatResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;

/**
 * Kafka's own consumer as a member of a group, asked one question a line.
 *
 * <p>Standard input has questions, standard output has as many answers, in order, both as JSON, one a line. The program
 * ends with its input. The consumer subscribes to one topic, commits nothing by itself, and has no rebalance listener;
 * partitions are numbers.
 *
 * <pre>
 * question  {"method": "new", "arguments": ["i0"]}        a process starts, with an instance id or null, and subscribes
 * question  {"method": "subscribe", "arguments": []}      one that left subscribes again
 * question  {"method": "send", "arguments": []}           it is time for a heartbeat: ConsumerHeartbeatRequestManager.poll
 * question  {"method": "receive", "arguments": ["NONE", 3, [0, 1]]}   the answer: an error, an epoch, an assignment or null
 * question  {"method": "lose", "arguments": []}           the heartbeat times out
 * question  {"method": "reconcile", "arguments": []}      ConsumerMembershipManager.maybeReconcile, with the application's part
 * question  {"method": "leave", "arguments": []}          ConsumerMembershipManager.leaveGroup, and the heartbeat that says so
 * </pre>
 *
 * <p>Answers are {"state": "STABLE", "memberEpoch": 3, "owned": [0], "consumed": [0], "request": …}: the member as it is now,
 * what it fetches from, and the heartbeat that it sends, if it does: {"memberEpoch": 3, "owned": [0] or null, "isFull": true}.
 */
public final class ConsumerMemberWitness {
    private static final String TOPIC = "topic";
    private static final Uuid TOPIC_ID = new Uuid(0, 2);
    private static final int INTERVAL_MS = 5000;
    private static final Node COORDINATOR = new Node(1, "localhost", 1);

    private final BlockingQueue<BackgroundEvent> events = new LinkedBlockingQueue<>();
    private long now = 1;
    private SubscriptionState subscriptions;
    private ConsumerMembershipManager member;
    private ConsumerHeartbeatRequestManager heartbeats;
    private NetworkClientDelegate.UnsentRequest inFlight;

    public static void main(String[] arguments) throws IOException {
        ObjectMapper json = new ObjectMapper();
        ConsumerMemberWitness witness = new ConsumerMemberWitness();
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            JsonNode question = json.readTree(line);
            answers.println(json.writeValueAsString(witness.answer(question.required("method").asText(), question.required("arguments"))));
        }
    }

    private Map<String, Object> answer(String method, JsonNode arguments) {
        Map<String, Object> request = null;
        switch (method) {
            case "new" -> {
                begin(arguments.get(0).isNull() ? null : arguments.get(0).asText());
                subscribe();
            }
            case "subscribe" -> subscribe();
            case "send" -> request = send();
            case "receive" -> receive(arguments);
            case "lose" -> inFlight.handler().onFailure(now, null);
            case "reconcile" -> reconcile();
            case "leave" -> {
                member.leaveGroup();
                request = send();
            }
            case "jar" -> {
                return Map.of("jar", jar());
            }
            default -> throw new IllegalArgumentException("unknown method " + method);
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("state", member.state().name());
        answer.put("memberEpoch", member.memberEpoch());
        answer.put("owned", member.currentAssignment().partitions.getOrDefault(TOPIC_ID, Collections.emptySortedSet()));
        answer.put("consumed", subscriptions.assignedPartitions().stream().map(one -> one.partition()).sorted().toList());
        answer.put("request", request);
        return answer;
    }

    private static String jar() {
        return new File(ConsumerMembershipManager.class.getProtectionDomain().getCodeSource().getLocation().getPath()).getName();
    }

    private void begin(String instanceId) {
        events.clear();
        inFlight = null;
        LogContext logs = new LogContext();
        Time time = new Clock();
        Metrics metrics = new Metrics();
        ConsumerConfig config = config(instanceId);
        subscriptions = new SubscriptionState(logs, AutoOffsetResetStrategy.EARLIEST);
        ConsumerMetadata metadata = new ConsumerMetadata(config, subscriptions, logs, new ClusterResourceListeners()) {
            @Override
            public Map<Uuid, String> topicNames() {
                return Map.of(TOPIC_ID, TOPIC);
            }
        };
        CoordinatorRequestManager coordinator = new CoordinatorRequestManager(logs, 1, 1, "group") {
            @Override
            public Optional<Node> coordinator() {
                return Optional.of(COORDINATOR);
            }
        };
        BackgroundEventHandler handler = new BackgroundEventHandler(events, time, new AsyncConsumerMetrics(metrics, "group"));
        CommitRequestManager commits = new CommitRequestManager(time, logs, subscriptions, config, coordinator,
            new OffsetCommitCallbackInvoker(null), "group", Optional.ofNullable(instanceId), metrics, metadata);
        member = new ConsumerMembershipManager("group", Optional.ofNullable(instanceId), Optional.empty(), 60_000, Optional.empty(),
            subscriptions, commits, metadata, logs, handler, time, metrics, false);
        heartbeats = new ConsumerHeartbeatRequestManager(logs, time, config, coordinator, subscriptions, member, handler, metrics);
    }

    private static ConsumerConfig config(String instanceId) {
        Map<String, Object> properties = new HashMap<>();
        properties.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1");
        properties.put(ConsumerConfig.GROUP_ID_CONFIG, "group");
        properties.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "consumer");
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        properties.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        properties.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        if (instanceId != null) {
            properties.put(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, instanceId);
        }
        return new ConsumerConfig(properties);
    }

    private void subscribe() {
        subscriptions.subscribe(Set.of(TOPIC), Optional.empty());
        member.onSubscriptionUpdated();
        member.onConsumerPoll();
    }

    private Map<String, Object> send() {
        now += INTERVAL_MS;
        heartbeats.resetPollTimer(now);
        List<NetworkClientDelegate.UnsentRequest> sent = heartbeats.poll(now).unsentRequests;
        if (sent.isEmpty()) {
            return null;
        }
        inFlight = sent.get(0);
        ConsumerGroupHeartbeatRequestData data = ((ConsumerGroupHeartbeatRequest) inFlight.requestBuilder().build()).data();
        List<Integer> owned = null;
        if (data.topicPartitions() != null) {
            owned = new ArrayList<>();
            for (ConsumerGroupHeartbeatRequestData.TopicPartitions topic : data.topicPartitions()) {
                owned.addAll(topic.partitions());
            }
            owned.sort(null);
        }
        boolean isFull = data.rebalanceTimeoutMs() != -1 && data.subscribedTopicNames() != null && owned != null;
        Map<String, Object> written = new LinkedHashMap<>();
        written.put("memberEpoch", data.memberEpoch());
        written.put("owned", owned);
        written.put("isFull", isFull);
        return written;
    }

    private void receive(JsonNode arguments) {
        ConsumerGroupHeartbeatResponseData data = new ConsumerGroupHeartbeatResponseData()
            .setErrorCode(Errors.valueOf(arguments.get(0).asText()).code())
            .setMemberId(member.memberId())
            .setMemberEpoch(arguments.get(1).asInt())
            .setHeartbeatIntervalMs(INTERVAL_MS);
        if (!arguments.get(2).isNull()) {
            List<Integer> partitions = new ArrayList<>();
            arguments.get(2).forEach(partition -> partitions.add(partition.asInt()));
            List<ConsumerGroupHeartbeatResponseData.TopicPartitions> topics = partitions.isEmpty() ? List.of() : List.of(
                new ConsumerGroupHeartbeatResponseData.TopicPartitions().setTopicId(TOPIC_ID).setPartitions(partitions));
            data.setAssignment(new ConsumerGroupHeartbeatResponseData.Assignment().setTopicPartitions(topics));
        }
        RequestHeader header = new RequestHeader(ApiKeys.CONSUMER_GROUP_HEARTBEAT, (short) 1, "client", 0);
        inFlight.handler().onComplete(new ClientResponse(header, inFlight.handler(), "1", now, now, false, null, null,
            new ConsumerGroupHeartbeatResponse(data)));
    }

    private void reconcile() {
        member.maybeReconcile(true);
        for (BackgroundEvent event = events.poll(); event != null; event = events.poll()) {
            if (event instanceof PartitionsAssignedEvent assigned) {
                member.applyAssignment(assigned.assignedPartitions(), assigned.addedPartitions());
                assigned.future().complete(null);
            }
        }
    }

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
}
