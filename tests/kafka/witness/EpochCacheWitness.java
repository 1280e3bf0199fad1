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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ScheduledFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile;
import org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;

/**
 * Kafka's own cache of leader epochs, asked one question a line.
 *
 * <p>Standard input has questions, standard output has as many answers, in order, both as JSON, one a line. The program
 * ends with its input. Its one argument is a folder, where the cache has its checkpoint.
 *
 * <pre>
 * question  {"method": "assign", "arguments": [3, 7]}
 * answer    {"returned": null, "refused": null, "epochEntries": [[1, 0], [3, 7]], "latestEpoch": 3}
 * </pre>
 *
 * <p>Methods are those of LeaderEpochFileCache, arguments in their order: assign, truncateFromEndAsyncFlush,
 * truncateFromStartAsyncFlush, clearAndFlush, endOffsetFor (returns an epoch and an offset), epochForOffset (returns an
 * epoch or null). Besides: "new" begins an empty cache with no checkpoint, which comes first; "reopen" reads the
 * cache anew from its checkpoint; "jar" returns the file name of the jar that has the class.
 *
 * <p>"refused" names the class of the exception by which Kafka refuses an argument; entries and latest epoch are those
 * after the method, whether refused or not. Whatever else goes wrong ends the program.
 */
public final class EpochCacheWitness {
    private static final TopicPartition PARTITION = new TopicPartition("topic", 0);

    private final File checkpoint;
    private LeaderEpochFileCache cache;

    private EpochCacheWitness(File folder) {
        checkpoint = LeaderEpochCheckpointFile.newFile(folder);
    }

    public static void main(String[] arguments) throws IOException {
        ObjectMapper json = new ObjectMapper();
        EpochCacheWitness witness = new EpochCacheWitness(new File(arguments[0]).getAbsoluteFile());
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            JsonNode question = json.readTree(line);
            long[] values = json.convertValue(question.required("arguments"), long[].class);
            answers.println(json.writeValueAsString(witness.answer(question.required("method").asText(), values)));
        }
    }

    private Map<String, Object> answer(String method, long[] arguments) throws IOException {
        Object returned = null;
        String refused = null;
        try {
            returned = call(method, arguments);
        } catch (IllegalArgumentException refusal) {
            refused = refusal.getClass().getSimpleName();
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("returned", returned);
        answer.put("refused", refused);
        answer.put("epochEntries", cache.epochEntries().stream().map(one -> List.of(one.epoch(), one.startOffset())).toList());
        answer.put("latestEpoch", cache.latestEpoch().orElse(null));
        return answer;
    }

    private Object call(String method, long[] arguments) throws IOException {
        switch (method) {
            case "new" -> {
                Files.deleteIfExists(checkpoint.toPath());
                cache = open();
            }
            case "reopen" -> cache = open();
            case "assign" -> cache.assign(Math.toIntExact(arguments[0]), arguments[1]);
            case "truncateFromEndAsyncFlush" -> cache.truncateFromEndAsyncFlush(arguments[0]);
            case "truncateFromStartAsyncFlush" -> cache.truncateFromStartAsyncFlush(arguments[0]);
            case "clearAndFlush" -> cache.clearAndFlush();
            case "endOffsetFor" -> {
                Map.Entry<Integer, Long> end = cache.endOffsetFor(Math.toIntExact(arguments[0]), arguments[1]);
                return List.of(end.getKey(), end.getValue());
            }
            case "epochForOffset" -> {
                OptionalInt epoch = cache.epochForOffset(arguments[0]);
                return epoch.isPresent() ? epoch.getAsInt() : null;
            }
            case "jar" -> {
                return new File(LeaderEpochFileCache.class.getProtectionDomain().getCodeSource().getLocation().getPath()).getName();
            }
            default -> throw new IllegalStateException("unknown method " + method);
        }
        return null;
    }

    private LeaderEpochFileCache open() throws IOException {
        return new LeaderEpochFileCache(PARTITION, new LeaderEpochCheckpointFile(checkpoint, new LogDirFailureChannel(1)), new AtOnce());
    }

    /** Writes the checkpoint at once where Kafka writes it a little later, so that answers do not depend on time. */
    private static final class AtOnce implements Scheduler {
        @Override
        public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
            task.run();
            return null;
        }

        @Override
        public void startup() {}

        @Override
        public void shutdown() {}

        @Override
        public void resizeThreadPool(int newSize) {}
    }
}
