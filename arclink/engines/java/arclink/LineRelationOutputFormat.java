package arclink;

import java.nio.charset.StandardCharsets;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.lib.MultipleTextOutputFormat;

/**
 * Does on Spark what {@link RelationOutputFormat} does on Hadoop, for whole lines of bytes.
 *
 * <p>A key is a line as Python wrote it, "relation TAB row". The value is ignored: Spark writes
 * pairs only. So no line is decoded on its way from a task's Python process to its file.
 */
public final class LineRelationOutputFormat extends MultipleTextOutputFormat<Object, Object> {
  private final Text rows = new Text();

  @Override
  protected String generateFileNameForKeyValue(Object line, Object ignored, String part) {
    byte[] bytes = (byte[]) line;
    return new String(bytes, 0, relationLength(bytes), StandardCharsets.UTF_8) + "/" + part;
  }

  @Override
  protected Object generateActualKey(Object line, Object ignored) {
    return null; // the folder names the relation
  }

  @Override
  protected Object generateActualValue(Object line, Object ignored) {
    byte[] bytes = (byte[]) line;
    int start = Math.min(relationLength(bytes) + 1, bytes.length);
    rows.set(bytes, start, bytes.length - start);
    RelationOutputFormat.endRows(rows);
    return rows;
  }

  private static int relationLength(byte[] line) {
    int at = 0;
    while (at < line.length && line[at] != '\t') {
      at++;
    }
    return at;
  }
}
