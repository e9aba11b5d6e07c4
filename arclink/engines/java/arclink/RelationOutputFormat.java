package arclink;

import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.lib.MultipleTextOutputFormat;

/**
 * Writes each relation of a job's output to its own folder: {@code OUTPUT/relation/part-00000}.
 *
 * <p>A job writes lines "relation TAB row"; several rows passed on as one line have U+001E between
 * them (arclink/rows/relations.py). As in every output of Hadoop, a task's files appear once, after
 * it succeeded.
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
    return null; // the folder names the relation
  }

  @Override
  protected Text generateActualValue(Text relation, Text block) {
    rows.set(block);
    endRows(rows);
    return rows;
  }

  /** Turns a block of rows into lines. */
  static void endRows(Text block) {
    byte[] bytes = block.getBytes();
    for (int at = 0; at < block.getLength(); at++) {
      if (bytes[at] == BETWEEN_ROWS) {
        bytes[at] = '\n';
      }
    }
  }
}
