// SPDX-License-Identifier: Apache-2.0

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import kafka.cluster.DelayedOperations;
import kafka.cluster.Partition;
import kafka.server.DefaultAlterPartitionManager;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.NodeApiVersions;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionResponseData;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AlterPartitionRequest;
import org.apache.kafka.common.requests.AlterPartitionResponse;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.image.LocalReplicaChanges;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.writer.ImageWriterOptions;
import org.apache.kafka.metadata.KRaftMetadataCache;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.ControllerRequestCompletionHandler;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.common.NodeToControllerChannelManager;
import org.apache.kafka.server.common.RequestLocal;
import org.apache.kafka.server.common.TransactionVersion;
import org.apache.kafka.server.partition.AlterPartitionListener;
import org.apache.kafka.server.replica.Replica;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.storage.log.FetchParams;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.checkpoint.OffsetCheckpoints;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogReadInfo;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import scala.Option;

/**
 * Kafka's own Partition on broker 0, with a log on disk, a metadata cache and a manager of AlterPartition requests that are
 * Kafka's too. Time passes only when it is told to, and what is sent to the controller waits for an answer to be given.
 *
 * <p>Questions and answers are lines. A question begins with a new partition, and its operations follow one another.
 *
 * <pre>
 * question  {"method": "play", "arguments": [{"minIsr": 1, "replicaLagTimeMaxMs": 30000}, [["append", {…}], …]]}
 * answer    {"answers": [{"returned": …, "observed": {"partitionEpoch": 1, "isr": [0, 1], "maximalIsr": [0, 1], …}}, …]}
 * </pre>
 *
 * <p>Operations, with their fields:
 * <ul>
 *   <li>"register" (broker, brokerEpoch, fenced): the metadata say that a broker has registered.
 *   <li>"publish" (partitions): these records of the partition come in one batch. As ReplicaManager.applyDelta does, what
 *       TopicDelta.localChanges finds is passed to makeLeader or makeFollower; returns which, and its result.
 *   <li>"append" (record, acks): a producer's record, which is a number.
 *   <li>"replicate" (record, leaderEpoch, highWatermark): what a follower does with a record that it has fetched.
 *   <li>"fetch" (follower, fetchOffset, leaderEpoch, lastFetchedEpoch or -1, brokerEpoch): returns the error, or where the
 *       logs part, or the record there, if any; and the limits of the log.
 *   <li>"deleteRecords" (offset): moves the start of the log.
 *   <li>"maybeShrinkIsr": looks for followers that lag.
 *   <li>"answer" (error, or leaderEpoch, partitionEpoch, isr): the controller's answer to the request that waits longest.
 *   <li>"isAcknowledged" (offset): whether enough replicas have what is below it, and what is wrong with that.
 *   <li>"sleep" (ms).
 * </ul>
 *
 * <p>An error that is Kafka's is an answer; whatever else goes wrong ends the program. "jar" returns the jar of the class.
 */
public final class PartitionWitness {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int BROKER = 0;
    private static final Uuid TOPIC = new Uuid(1, 1);
    private static final TopicPartition NAME = new TopicPartition("topic", 0);
    private static final int NO_EPOCH = -1;
    private static final OffsetCheckpoints NO_CHECKPOINTS = (directory, partition) -> Optional.empty();
    private static final ImageWriterOptions OPTIONS =
        new ImageWriterOptions.Builder(MetadataVersion.latestProduction()).setEligibleLeaderReplicasEnabled(true).build();

    private final StoppedClock clock = new StoppedClock();
    private final Controller controller = new Controller();
    private final KRaftMetadataCache metadata = new KRaftMetadataCache(BROKER, () -> KRaftVersion.LATEST_PRODUCTION);
    private final UnifiedLog log;
    private final Partition partition;
    private boolean isKnown = false;

    private PartitionWitness(Path folder, JsonNode settings) throws IOException {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        delta.replay(new FeatureLevelRecord()
            .setName(MetadataVersion.FEATURE_NAME)
            .setFeatureLevel(MetadataVersion.latestProduction().featureLevel()));
        metadata.setImage(delta.apply(MetadataProvenance.EMPTY));
        Properties properties = new Properties();
        properties.setProperty(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG, settings.required("minIsr").asText());
        properties.setProperty(TopicConfig.SEGMENT_INDEX_BYTES_CONFIG, "1024");
        log = UnifiedLog.create(
            folder.resolve(NAME.toString()).toFile(),
            new LogConfig(properties),
            0,
            0,
            new Unscheduled(),
            new BrokerTopicStats(),
            clock,
            60_000,
            new ProducerStateManagerConfig(60_000, false),
            60_000,
            new LogDirFailureChannel(1),
            true,
            Optional.of(TOPIC));
        partition = new Partition(
            NAME,
            settings.required("replicaLagTimeMaxMs").asLong(),
            BROKER,
            this::brokerEpoch,
            clock,
            new NoListener(),
            new NothingDelayed(),
            metadata,
            null,
            new DefaultAlterPartitionManager(controller, new Unscheduled(), clock, BROKER, this::brokerEpoch),
            Option.apply(TOPIC));
        partition.setLog(log, false);
    }

    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            JsonNode question = JSON.readTree(line);
            String method = question.required("method").asText();
            answers.println(JSON.writeValueAsString(switch (method) {
                case "play" -> Map.of("answers", play(folder, question.required("arguments")));
                case "jar" -> jar();
                default -> throw new IllegalStateException("unknown method " + method);
            }));
        }
    }

    private static Map<String, Object> jar() {
        String path = Partition.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        return Map.of("returned", new File(path).getName());
    }

    private static List<Map<String, Object>> play(Path parent, JsonNode arguments) throws IOException {
        Path folder = Files.createTempDirectory(parent, "play");
        PartitionWitness witness = new PartitionWitness(folder, arguments.required(0));
        List<Map<String, Object>> answers = new ArrayList<>();
        try {
            for (JsonNode operation : arguments.required(1)) {
                Map<String, Object> answer = new LinkedHashMap<>();
                answer.put("returned", witness.call(operation.required(0).asText(), operation.path(1)));
                answer.put("observed", witness.observed());
                answers.add(answer);
            }
        } finally {
            witness.partition.delete();
            witness.log.close();
            Utils.delete(folder.toFile());
        }
        return answers;
    }

    private Object call(String operation, JsonNode given) throws IOException {
        try {
            switch (operation) {
                case "register" -> register(given);
                case "publish" -> {
                    return publish(given.required("partitions"));
                }
                case "append" -> {
                    return partition.appendRecordsToLeader(
                        record(given),
                        AppendOrigin.CLIENT,
                        given.required("acks").asInt(),
                        RequestLocal.noCaching(),
                        VerificationGuard.SENTINEL,
                        TransactionVersion.TV_UNKNOWN).firstOffset();
                }
                case "replicate" -> replicate(given);
                case "fetch" -> {
                    return fetch(given);
                }
                case "deleteRecords" -> partition.deleteRecordsOnLeader(given.required("offset").asLong());
                case "maybeShrinkIsr" -> partition.maybeShrinkIsr();
                case "answer" -> {
                    return controller.answer(given);
                }
                case "isAcknowledged" -> {
                    var said = partition.checkEnoughReplicasReachOffset(given.required("offset").asLong());
                    return List.of(said._1(), said._2().name());
                }
                case "sleep" -> clock.sleep(given.required("ms").asLong());
                default -> throw new IllegalStateException("unknown operation " + operation);
            }
        } catch (ApiException refusal) {
            return Map.of("error", Errors.forException(refusal).name());
        }
        return null;
    }

    // -- what the partition is told --

    private void register(JsonNode given) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(metadata.getImage()).build();
        int broker = given.required("broker").asInt();
        delta.replay(new RegisterBrokerRecord()
            .setBrokerId(broker)
            .setBrokerEpoch(given.required("brokerEpoch").asLong())
            .setFenced(given.required("fenced").asBoolean())
            .setIncarnationId(new Uuid(2, broker))
            .setLogDirs(List.of(new Uuid(3, broker))));
        metadata.setImage(delta.apply(MetadataProvenance.EMPTY));
    }

    private Map<String, Object> publish(JsonNode partitions) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(metadata.getImage()).build();
        if (!isKnown) {
            delta.replay(new TopicRecord().setName(NAME.topic()).setTopicId(TOPIC));
            isKnown = true;
        }
        for (JsonNode written : partitions) {
            PartitionRegistration registration = registration(written);
            PartitionRecord record = (PartitionRecord) registration.toRecord(TOPIC, NAME.partition(), OPTIONS).message();
            delta.replay(record.setDirectories(List.of(registration.directories)));
        }
        metadata.setImage(delta.apply(MetadataProvenance.EMPTY));
        LocalReplicaChanges changes = delta.topicsDelta().localChanges(BROKER);
        Map<String, Object> called = new LinkedHashMap<>();
        Option<Uuid> topic = Option.apply(TOPIC);
        changes.leaders().values().forEach(info -> called.put(
            "makeLeader", partition.makeLeader(info.partition(), false, NO_CHECKPOINTS, topic, Option.empty())));
        changes.followers().values().forEach(info -> called.put(
            "makeFollower", partition.makeFollower(info.partition(), false, NO_CHECKPOINTS, topic, Option.empty())));
        return called;
    }

    private void replicate(JsonNode given) throws IOException {
        int leaderEpoch = given.required("leaderEpoch").asInt();
        MemoryRecords records = MemoryRecords.withRecords(log.logEndOffset(), Compression.NONE, leaderEpoch, simple(given));
        partition.appendRecordsToFollowerOrFutureReplica(records, false, partition.getLeaderEpoch());
        log.maybeUpdateHighWatermark(given.required("highWatermark").asLong());
    }

    private Map<String, Object> fetch(JsonNode given) {
        int lastFetchedEpoch = given.required("lastFetchedEpoch").asInt();
        FetchParams params = new FetchParams(
            given.required("follower").asInt(),
            given.required("brokerEpoch").asLong(),
            0,
            1,
            1,
            FetchIsolation.LOG_END,
            Optional.empty());
        FetchRequest.PartitionData asked = new FetchRequest.PartitionData(
            TOPIC,
            given.required("fetchOffset").asLong(),
            0,
            1,
            Optional.of(given.required("leaderEpoch").asInt()),
            lastFetchedEpoch == NO_EPOCH ? Optional.empty() : Optional.of(lastFetchedEpoch));
        LogReadInfo read = partition.fetchRecords(params, asked, clock.milliseconds(), 1, true, true);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("diverging", read.divergingEpoch().map(end -> List.of(end.epoch(), end.endOffset())).orElse(null));
        answer.put("record", first(read));
        answer.put("highWatermark", read.highWatermark());
        answer.put("logStartOffset", read.logStartOffset());
        answer.put("logEndOffset", read.logEndOffset());
        return answer;
    }

    private static List<Object> first(LogReadInfo read) {
        for (RecordBatch batch : read.fetchedData().records.batches()) {
            for (Record record : batch) {
                return List.of(Utils.utf8(record.value()), batch.partitionLeaderEpoch(), record.offset());
            }
        }
        return null;
    }

    private static MemoryRecords record(JsonNode given) {
        return MemoryRecords.withRecords(Compression.NONE, simple(given));
    }

    private static SimpleRecord simple(JsonNode given) {
        return new SimpleRecord(given.required("record").asText().getBytes(StandardCharsets.UTF_8));
    }

    private static PartitionRegistration registration(JsonNode written) {
        int[] replicas = array(written, "replicas");
        Uuid[] directories = new Uuid[replicas.length];
        for (int place = 0; place < replicas.length; place++) {
            directories[place] = new Uuid(3, replicas[place]);
        }
        return new PartitionRegistration.Builder()
            .setReplicas(replicas)
            .setDirectories(directories)
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

    private static int[] array(JsonNode written, String field) {
        return JSON.convertValue(written.required(field), int[].class);
    }

    private long brokerEpoch() {
        return metadata.getAliveBrokerEpoch(BROKER).orElse((long) NO_EPOCH);
    }

    // -- what can be seen of it --

    private Map<String, Object> observed() {
        Map<String, Object> observed = new LinkedHashMap<>();
        observed.put("leader", partition.leaderReplicaIdOpt().isDefined() ? partition.leaderReplicaIdOpt().get() : null);
        observed.put("leaderEpoch", partition.getLeaderEpoch());
        observed.put("partitionEpoch", partition.getPartitionEpoch());
        observed.put("epochStart", partition.leaderEpochStartOffsetOpt().isDefined() ? partition.leaderEpochStartOffsetOpt().get() : null);
        observed.put("state", partition.partitionState().getClass().getSimpleName());
        observed.put("isr", partition.partitionState().isr().stream().sorted().toList());
        observed.put("maximalIsr", partition.partitionState().maximalIsr().stream().sorted().toList());
        observed.put("highWatermark", log.highWatermark());
        observed.put("logStartOffset", log.logStartOffset());
        observed.put("logEndOffset", log.logEndOffset());
        List<List<Long>> followers = new ArrayList<>();
        var replicas = partition.remoteReplicas().iterator();
        while (replicas.hasNext()) {
            Replica replica = replicas.next();
            var state = replica.stateSnapshot();
            followers.add(List.of((long) replica.brokerId(), state.logEndOffset(), state.brokerEpoch().orElse((long) NO_EPOCH)));
        }
        followers.sort(Comparator.comparing(follower -> follower.get(0)));
        observed.put("followers", followers);
        observed.put("proposals", controller.sent());
        return observed;
    }

    // -- what is around it --

    /** The way to the controller, on which requests wait until they are answered. */
    private static final class Controller implements NodeToControllerChannelManager {
        private record Sent(AlterPartitionRequestData request, ControllerRequestCompletionHandler handler) {}

        private final Deque<Sent> waiting = new ArrayDeque<>();

        @Override
        public void sendRequest(AbstractRequest.Builder<? extends AbstractRequest> request, ControllerRequestCompletionHandler handler) {
            AlterPartitionRequest built = (AlterPartitionRequest) request.build();
            waiting.add(new Sent(built.data(), handler));
        }

        List<Map<String, Object>> sent() {
            return waiting.stream().map(sent -> {
                var asked = sent.request.topics().get(0).partitions().get(0);
                Map<String, Object> proposal = new LinkedHashMap<>();
                proposal.put("sender", sent.request.brokerId());
                proposal.put("brokerEpoch", sent.request.brokerEpoch());
                proposal.put("leaderEpoch", asked.leaderEpoch());
                proposal.put("partitionEpoch", asked.partitionEpoch());
                proposal.put("newIsr", asked.newIsrWithEpochs().stream()
                    .map(member -> List.of((long) member.brokerId(), member.brokerEpoch()))
                    .sorted(Comparator.comparing(member -> member.get(0)))
                    .toList());
                return proposal;
            }).toList();
        }

        Object answer(JsonNode given) {
            if (waiting.isEmpty()) {
                return Map.of("error", "nothing waits for an answer");
            }
            var answer = new AlterPartitionResponseData.PartitionData().setPartitionIndex(NAME.partition());
            Errors error = Errors.valueOf(given.required("error").asText());
            if (error == Errors.NONE) {
                List<Integer> isr = new ArrayList<>();
                given.required("isr").forEach(member -> isr.add(member.asInt()));
                answer.setLeaderId(BROKER)
                    .setLeaderEpoch(given.required("leaderEpoch").asInt())
                    .setPartitionEpoch(given.required("partitionEpoch").asInt())
                    .setIsr(isr);
            }
            var response = new AlterPartitionResponse(new AlterPartitionResponseData().setTopics(List.of(
                new AlterPartitionResponseData.TopicData().setTopicId(TOPIC).setPartitions(List.of(
                    answer.setErrorCode(error.code()))))));
            Sent sent = waiting.remove();
            sent.handler.onComplete(new ClientResponse(null, sent.handler, "", 0, 0, false, null, null, response));
            return null;
        }

        @Override
        public void start() {}

        @Override
        public void shutdown() {}

        @Override
        public Optional<NodeApiVersions> controllerApiVersions() {
            return Optional.empty();
        }

        @Override
        public long getTimeoutMs() {
            return Long.MAX_VALUE;
        }
    }

    /** A clock that goes on only when somebody sleeps. */
    private static final class StoppedClock implements Time {
        private long now = 1_000_000_000L;

        @Override
        public long milliseconds() {
            return now;
        }

        @Override
        public long nanoseconds() {
            return now * 1_000_000;
        }

        @Override
        public void sleep(long ms) {
            now += ms;
        }

        @Override
        public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
            throw new UnsupportedOperationException("nobody waits");
        }
    }

    /** Tasks in the background never get their turn: they flush, expire and delete what nobody asks about. */
    private static final class Unscheduled implements Scheduler {
        @Override
        public void startup() {}

        @Override
        public void shutdown() {}

        @Override
        public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
            return new NeverRun();
        }

        @Override
        public void resizeThreadPool(int newSize) {}
    }

    /** A task whose turn never comes. */
    private static final class NeverRun extends CompletableFuture<Object> implements ScheduledFuture<Object> {
        @Override
        public long getDelay(TimeUnit unit) {
            return Long.MAX_VALUE;
        }

        @Override
        public int compareTo(Delayed other) {
            return 0;
        }
    }

    /** No requests that wait in this broker. */
    private static final class NothingDelayed extends DelayedOperations {
        NothingDelayed() {
            super(Option.apply(TOPIC), NAME, null, null, null, null);
        }

        @Override
        public void checkAndCompleteAll() {}

        @Override
        public int numDelayedDelete() {
            return 0;
        }
    }

    /** Nobody who counts changes of the ISR. */
    private static final class NoListener implements AlterPartitionListener {
        @Override
        public void markIsrExpand() {}

        @Override
        public void markIsrShrink() {}

        @Override
        public void markFailed() {}
    }
}
