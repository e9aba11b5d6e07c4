package arclink;

import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.lib.MultipleTextOutputFormat;

/**
 * Writes each relation of a job's output to a folder of its own: {@code OUTPUT/relation/part-00000}.
 *
 * <p>What a job writes is "relation TAB row", and several rows that travelled as one line have U+001E between them
 * (arclink/graph/relations.py). Like every output of Hadoop, it appears when its task has succeeded, and once.
 */
public final class RelationOutputFormat extends MultipleTextOutputFormat<Text, Text> {
  private static final byte BETWEEN_ROWS = 0x1e;

  private final Text rows = new Text();

  @Override
  protected String generateFileNameForKeyValue(Text relation, Text rows, String part) {
    return relation + "/" + part;
  }

  @Override
  protected Text generateActualKey(Text relation, Text rows) {
    return null; // the folder says it
  }

  @Override
  protected Text generateActualValue(Text relation, Text block) {
    rows.set(block);
    byte[] bytes = rows.getBytes();
    for (int at = 0; at < rows.getLength(); at++) {
      if (bytes[at] == BETWEEN_ROWS) {
        bytes[at] = '\n';
      }
    }
    return rows;
  }
}
