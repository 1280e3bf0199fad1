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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.message.AlterPartitionReassignmentsRequestData.ReassignablePartition;
import org.apache.kafka.common.message.AlterPartitionRequestData;
import org.apache.kafka.common.message.AlterPartitionRequestData.BrokerState;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.image.writer.ImageWriterOptions;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.VersionRange;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.EligibleLeaderReplicasVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * Kafka's own ReplicationControlManager, over managers of features, brokers and configurations that are Kafka's too.
 *
 * <p>Questions and answers are lines as in PartitionChangeWitness, where a partition is described too. A question begins
 * with an empty controller, which then learns of brokers, topic and partition from records, as it would from its log.
 *
 * <pre>
 * question  {"method": "alterPartition", "arguments": [PARTITION, SETTINGS, {"sender": 0, "brokerEpoch": 7, …}]}
 * answer    {"error": "NONE", "partition": PARTITION}
 * SETTINGS  {"brokers": [[0, 7, false, false]], "minIsr": 2, "uncleanElection": false, "elrEnabled": true}
 * </pre>
 *
 * <p>A broker is its id, its epoch, whether it is fenced, and whether it is in controlled shutdown; one that is not named
 * is not registered. Methods are alterPartition, handleBrokerFenced, handleBrokerUnfenced, handleBrokerUnregistered,
 * handleBrokerInControlledShutdown, handleBrokerShutdown (of "broker", "clean" or not), electLeader ("type"), and
 * alterPartitionReassignment ("replicas", null to cancel). "partition" is the partition once the records that the method
 * makes are replayed, or null if it makes none for it. "error" is Kafka's, or IllegalArgumentException where Kafka does not
 * expect what it finds; whatever else goes wrong ends the program. "jar" returns the name of the jar that has the class.
 */
public final class ReplicationControlWitness {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Uuid TOPIC = new Uuid(1, 1);
    private static final String NAME = "topic";
    private static final ImageWriterOptions OPTIONS =
        new ImageWriterOptions.Builder(MetadataVersion.latestProduction()).setEligibleLeaderReplicasEnabled(true).build();

    private final FeatureControlManager features;
    private final ConfigurationControlManager configurations;
    private final ClusterControlManager cluster;
    private final ReplicationControlManager replication;

    private ReplicationControlWitness(JsonNode partition, JsonNode settings) {
        LogContext context = new LogContext();
        SnapshotRegistry snapshots = new SnapshotRegistry(context);
        short latest = MetadataVersion.latestProduction().featureLevel();
        Map<String, VersionRange> supported = Map.of(
            MetadataVersion.FEATURE_NAME, VersionRange.of(latest, latest),
            EligibleLeaderReplicasVersion.FEATURE_NAME, VersionRange.of((short) 0, (short) 1));
        features = new FeatureControlManager.Builder()
            .setSnapshotRegistry(snapshots)
            .setQuorumFeatures(new QuorumFeatures(0, supported, List.of(0)))
            .build();
        features.replay(new FeatureLevelRecord().setName(MetadataVersion.FEATURE_NAME).setFeatureLevel(latest));
        features.replay(new FeatureLevelRecord()
            .setName(EligibleLeaderReplicasVersion.FEATURE_NAME)
            .setFeatureLevel((short) (settings.required("elrEnabled").asBoolean() ? 1 : 0)));
        ConfigDef topic = new ConfigDef()
            .define(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG, ConfigDef.Type.INT, 1, ConfigDef.Importance.LOW, "")
            .define(TopicConfig.UNCLEAN_LEADER_ELECTION_ENABLE_CONFIG, ConfigDef.Type.BOOLEAN, false, ConfigDef.Importance.LOW, "");
        configurations = new ConfigurationControlManager.Builder()
            .setSnapshotRegistry(snapshots)
            .setFeatureControl(features)
            .setKafkaConfigSchema(new KafkaConfigSchema(Map.of(ConfigResource.Type.TOPIC, topic), Map.of()))
            .build();
        configure(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG, settings.required("minIsr").asText());
        configure(TopicConfig.UNCLEAN_LEADER_ELECTION_ENABLE_CONFIG, settings.required("uncleanElection").asText());
        cluster = new ClusterControlManager.Builder()
            .setSnapshotRegistry(snapshots)
            .setFeatureControlManager(features)
            .setBrokerShutdownHandler((broker, clean, records) -> { })
            .build();
        replication = new ReplicationControlManager.Builder()
            .setSnapshotRegistry(snapshots)
            .setConfigurationControl(configurations)
            .setClusterControl(cluster)
            .setFeatureControl(features)
            .build();
        settings.required("brokers").forEach(this::register);
        replication.replay(new TopicRecord().setName(NAME).setTopicId(TOPIC));
        PartitionRegistration registration = PartitionChangeWitness.partition(partition);
        PartitionRecord record = (PartitionRecord) registration.toRecord(TOPIC, 0, OPTIONS).message();
        replication.replay(record.setDirectories(registrationDirectories(registration)));
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            JsonNode question = JSON.readTree(line);
            String method = question.required("method").asText();
            JsonNode given = question.required("arguments");
            answers.println(JSON.writeValueAsString(method.equals("jar") ? jar()
                : new ReplicationControlWitness(given.required(0), given.required(1)).answer(method, given.required(2))));
        }
    }

    private static Map<String, Object> jar() {
        String path = ReplicationControlManager.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        return Map.of("returned", new File(path).getName());
    }

    private Map<String, Object> answer(String method, JsonNode asked) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        String error;
        try {
            error = call(method, asked, records).name();
        } catch (ApiException refusal) {
            error = Errors.forException(refusal).name();
        } catch (IllegalArgumentException failure) {
            error = failure.getClass().getSimpleName();
        }
        boolean changed = false;
        for (ApiMessageAndVersion record : records) {
            if (record.message() instanceof PartitionChangeRecord change) {
                replication.replay(change);
                changed = true;
            }
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("error", error);
        answer.put("partition", changed ? PartitionChangeWitness.described(replication.getPartition(TOPIC, 0)) : null);
        return answer;
    }

    private Errors call(String method, JsonNode asked, List<ApiMessageAndVersion> records) {
        int broker = asked.path("broker").asInt();
        switch (method) {
            case "alterPartition" -> {
                return alterPartition(asked, records);
            }
            case "handleBrokerFenced" -> replication.handleBrokerFenced(broker, records);
            case "handleBrokerUnfenced" -> replication.handleBrokerUnfenced(broker, 0, records);
            case "handleBrokerUnregistered" -> replication.handleBrokerUnregistered(broker, 0, records);
            case "handleBrokerInControlledShutdown" -> replication.handleBrokerInControlledShutdown(broker, 0, records);
            case "handleBrokerShutdown" -> replication.handleBrokerShutdown(broker, asked.required("clean").asBoolean(), records);
            case "electLeader" -> {
                return replication.electLeader(NAME, 0, ElectionType.valueOf(asked.required("type").asText()), records).error();
            }
            case "alterPartitionReassignment" -> {
                List<Integer> replicas = asked.required("replicas").isNull() ? null : PartitionChangeWitness.brokers(asked, "replicas");
                replication.alterPartitionReassignment(NAME, new ReassignablePartition().setReplicas(replicas), records, true);
            }
            default -> throw new IllegalStateException("unknown method " + method);
        }
        return Errors.NONE;
    }

    private Errors alterPartition(JsonNode asked, List<ApiMessageAndVersion> records) {
        List<BrokerState> members = new ArrayList<>();
        for (JsonNode member : asked.required("newIsr")) {
            members.add(new BrokerState().setBrokerId(member.required(0).asInt()).setBrokerEpoch(member.required(1).asLong()));
        }
        AlterPartitionRequestData request = new AlterPartitionRequestData()
            .setBrokerId(asked.required("sender").asInt())
            .setBrokerEpoch(asked.required("brokerEpoch").asLong());
        request.topics().add(new AlterPartitionRequestData.TopicData().setTopicId(TOPIC).setPartitions(List.of(
            new AlterPartitionRequestData.PartitionData()
                .setLeaderEpoch(asked.required("leaderEpoch").asInt())
                .setPartitionEpoch(asked.required("partitionEpoch").asInt())
                .setNewIsrWithEpochs(members)
                .setLeaderRecoveryState(LeaderRecoveryState.valueOf(asked.required("leaderRecoveryState").asText()).value()))));
        ControllerRequestContext context = new ControllerRequestContext(
            new RequestHeaderData().setRequestApiVersion((short) 3), KafkaPrincipal.ANONYMOUS, OptionalLong.empty());
        var result = replication.alterPartition(context, request);
        records.addAll(result.records());
        return Errors.forCode(result.response().topics().get(0).partitions().get(0).errorCode());
    }

    private void configure(String name, String value) {
        configurations.replay(new ConfigRecord()
            .setResourceType(ConfigResource.Type.TOPIC.id()).setResourceName(NAME).setName(name).setValue(value));
    }

    private void register(JsonNode broker) {
        cluster.replay(new RegisterBrokerRecord()
            .setBrokerId(broker.required(0).asInt())
            .setBrokerEpoch(broker.required(1).asLong())
            .setFenced(broker.required(2).asBoolean())
            .setInControlledShutdown(broker.required(3).asBoolean())
            .setIncarnationId(new Uuid(2, broker.required(0).asInt()))
            .setLogDirs(List.of(directory(broker.required(0).asInt()))), 0);
    }

    private static List<Uuid> registrationDirectories(PartitionRegistration partition) {
        List<Uuid> directories = new ArrayList<>();
        for (int replica : partition.replicas) {
            directories.add(directory(replica));
        }
        return directories;
    }

    /** The only directory of a broker, which is always online. */
    private static Uuid directory(int broker) {
        return new Uuid(3, broker + 1);
    }
}
