import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.apache.cassandra.io.sstable.CQLSSTableWriter;

/**
 * Writes rows as SSTables, one folder per table, for benchmarks.cassandra_bulk.
 *
 * <p>Arguments: a file of rows, a file of statements, and the folder to write to. The file of
 * statements has three lines per table: its name, CREATE TABLE, and INSERT. A row is a byte with the
 * number of its table, then its values, each with its size as four bytes; a byte 255 ends the rows.
 */
public final class WriteSstables {
    private static final int END = 255;

    public static void main(String[] arguments) {
        int exit = 1;
        try {
            write(arguments);
            exit = 0;
        } catch (Throwable error) {
            error.printStackTrace();
        }
        System.exit(exit); // Cassandra's threads would keep the process alive
    }

    private static void write(String[] arguments) throws IOException {
        List<String> lines = Files.readAllLines(Path.of(arguments[1]), StandardCharsets.UTF_8);
        List<CQLSSTableWriter> writers = new ArrayList<>();
        List<Integer> columns = new ArrayList<>();
        for (int line = 0; line < lines.size(); line += 3) {
            File folder = new File(arguments[2], lines.get(line));
            Files.createDirectories(folder.toPath());
            String insert = lines.get(line + 2);
            writers.add(CQLSSTableWriter.builder().inDirectory(folder.getPath())
                .forTable(lines.get(line + 1)).using(insert).build());
            columns.add((int) insert.chars().filter(character -> character == '?').count());
        }
        try (DataInputStream rows = new DataInputStream(
                new BufferedInputStream(new FileInputStream(arguments[0]), 1 << 20))) {
            for (int table = rows.read(); table != END; table = rows.read()) {
                List<ByteBuffer> values = new ArrayList<>();
                for (int column = 0; column < columns.get(table); column++) {
                    byte[] value = new byte[rows.readInt()];
                    rows.readFully(value);
                    values.add(ByteBuffer.wrap(value));
                }
                writers.get(table).rawAddRow(values);
            }
        }
        for (CQLSSTableWriter writer : writers) {
            writer.close();
        }
    }
}
