package arclink;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.FileOutputCommitter;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobContext;
import org.apache.hadoop.mapred.JobStatus;
import org.apache.hadoop.mapred.TaskAttemptContext;
import org.apache.hadoop.mapred.TaskAttemptContextImpl;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.JobStatus.State;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitter;
import org.apache.hadoop.mapreduce.lib.output.PathOutputCommitterFactory;

/**
 * Commits the output of streaming jobs with the committer of its file system.
 *
 * <p>Streaming uses Hadoop's older interface, whose committer renames files. An object store has no
 * renames. The committers for object stores, such as S3A's, are written for the newer interface:
 * this class passes every call on to them.
 *
 * <p>It must be a {@code FileOutputCommitter}, because {@code FileOutputFormat} asks only such a
 * class where a task writes.
 */
@SuppressWarnings("deprecation") // older callers still call what is deprecated
public final class ObjectCommitter extends FileOutputCommitter {
  private PathOutputCommitter committer;

  @Override
  public Path getTaskAttemptPath(TaskAttemptContext task) throws IOException {
    return of(task).getWorkPath();
  }

  @Override
  public Path getWorkPath(TaskAttemptContext task, Path output) throws IOException {
    return of(task).getWorkPath();
  }

  @Override
  public void setupJob(JobContext job) throws IOException {
    of(job).setupJob(job);
  }

  @Override
  public void commitJob(JobContext job) throws IOException {
    of(job).commitJob(job);
  }

  @Override
  public void cleanupJob(JobContext job) {
    // Committing or aborting the job does it.
  }

  @Override
  public void abortJob(JobContext job, int state) throws IOException {
    of(job).abortJob(job, state == JobStatus.KILLED ? State.KILLED : State.FAILED);
  }

  @Override
  public void setupTask(TaskAttemptContext task) throws IOException {
    of(task).setupTask(task);
  }

  @Override
  public boolean needsTaskCommit(TaskAttemptContext task) throws IOException {
    return of(task).needsTaskCommit(task);
  }

  @Override
  public void commitTask(TaskAttemptContext task) throws IOException {
    of(task).commitTask(task);
  }

  @Override
  public void abortTask(TaskAttemptContext task) throws IOException {
    of(task).abortTask(task);
  }

  @Override
  public boolean isRecoverySupported() {
    return false; // an application master that starts again runs the job again
  }

  @Override
  public boolean isRecoverySupported(JobContext job) {
    return false;
  }

  @Override
  public boolean isCommitJobRepeatable(JobContext job) throws IOException {
    return of(job).isCommitJobRepeatable(job);
  }

  private PathOutputCommitter of(JobContext job) throws IOException {
    String cluster = job.getJobID().getJtIdentifier();
    TaskAttemptID any =
        new TaskAttemptID(cluster, job.getJobID().getId(), TaskType.MAP, 0, 0);
    return of(job.getJobConf(), new TaskAttemptContextImpl(job.getJobConf(), any));
  }

  private PathOutputCommitter of(TaskAttemptContext task) throws IOException {
    return of(task.getJobConf(), task);
  }

  private PathOutputCommitter of(JobConf conf, TaskAttemptContext task) throws IOException {
    if (committer == null) {
      Path output = FileOutputFormat.getOutputPath(conf);
      committer = PathOutputCommitterFactory.createCommitter(output, task);
    }
    return committer;
  }
}
