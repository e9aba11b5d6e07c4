package arclink;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants.StartupOption;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.nodemanager.NodeManager;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;

/**
 * A cluster in one JVM: NameNode, DataNodes, ResourceManager, NodeManagers and JobHistoryServer, as they run anywhere. No
 * HDFS where the settings name another file system.
 *
 * <p>Arguments: folder of the cluster, number of nodes, and perhaps a process without which the cluster ends. {@code FOLDER/ready} appears when jobs are taken. A file {@code
 * FOLDER/halt-datanode-N}, {@code halt-nodemanager-N} or {@code halt-namenode-0} stops that part; {@code halted-…} answers. A
 * file {@code resume-namenode-0} starts the NameNode again, in safe mode until its DataNodes report; all three files are
 * removed then.
 */
public final class Cluster {
  private static final long STARTED = System.currentTimeMillis();

  private final Path folder;
  private NameNode nameNode;
  private final List<DataNode> dataNodes = new ArrayList<>();
  private final List<NodeManager> nodeManagers = new ArrayList<>();

  private Cluster(Path folder) {
    this.folder = folder;
  }

  public static void main(String[] arguments) throws Exception {
    DefaultMetricsSystem.setMiniClusterMode(true); // several daemons of one kind, one register of metrics
    Cluster cluster = new Cluster(Path.of(arguments[0]));
    int nodes = Integer.parseInt(arguments[1]);
    Thread storage = begin(() -> cluster.startStorage(nodes));
    Thread computing = begin(() -> cluster.startComputing(nodes));
    storage.join();
    computing.join();
    JobHistoryServer history = new JobHistoryServer();
    history.init(new JobConf(new YarnConfiguration()));
    history.start();
    Files.createFile(cluster.folder.resolve("ready"));
    say("ready");
    cluster.obey(arguments.length > 2 ? Long.parseLong(arguments[2]) : -1);
  }

  private void startStorage(int nodes) throws Exception {
    Configuration conf = new HdfsConfiguration();
    if (!FileSystem.getDefaultUri(conf).getScheme().equals("hdfs")) {
      return;
    }
    if (!new File(conf.get("hadoop.tmp.dir"), "dfs/name").exists()) {
      StartupOption.FORMAT.setClusterId("arclink");
      NameNode.format(conf);
    }
    nameNode = NameNode.createNameNode(new String[0], conf);
    say("NameNode");
    for (int number = 0; number < nodes; number++) {
      Configuration own = new HdfsConfiguration(conf);
      own.set("dfs.datanode.data.dir", folder.resolve("data/datanode-" + number).toString());
      dataNodes.add(DataNode.createDataNode(new String[0], own));
    }
    while (nameNode.isInSafeMode() || !dataNodes.stream().allMatch(DataNode::isDatanodeFullyStarted)) {
      Thread.sleep(20);
    }
    say("HDFS");
  }

  private void startComputing(int nodes) throws Exception {
    ResourceManager resourceManager = new ResourceManager();
    resourceManager.init(new YarnConfiguration());
    resourceManager.start();
    say("ResourceManager");
    for (int number = 0; number < nodes; number++) {
      YarnConfiguration own = new YarnConfiguration();
      own.set("yarn.nodemanager.local-dirs", folder.resolve("data/local-" + number).toString());
      // mrjob looks for the logs of a task in userlogs/.
      own.set("yarn.nodemanager.log-dirs", folder.resolve("logs/node-" + number + "/userlogs").toString());
      NodeManager nodeManager = new NodeManager();
      nodeManager.init(own);
      nodeManager.start();
      nodeManagers.add(nodeManager);
    }
    while (resourceManager.getResourceScheduler().getNumClusterNodes() < nodes) {
      Thread.sleep(20);
    }
    say("YARN");
  }

  /** Stop the parts that files ask to stop, until the process ends, or its master does. */
  private void obey(long master) throws Exception {
    while (master < 0 || ProcessHandle.of(master).isPresent()) {
      Thread.sleep(100);
      if (nameNode != null && isAsked("namenode-0")) {
        nameNode.stop();
        nameNode.join();
        answer("namenode-0");
      }
      if (Files.exists(folder.resolve("resume-namenode-0")) && Files.exists(folder.resolve("halted-namenode-0"))) {
        nameNode = NameNode.createNameNode(new String[0], new HdfsConfiguration());
        say("NameNode again");
        for (String file : List.of("resume", "halt", "halted")) {
          Files.delete(folder.resolve(file + "-namenode-0"));
        }
      }
      for (int number = 0; number < dataNodes.size(); number++) {
        if (isAsked("datanode-" + number)) {
          dataNodes.get(number).shutdown();
          answer("datanode-" + number);
        }
        if (isAsked("nodemanager-" + number)) {
          nodeManagers.get(number).stop();
          answer("nodemanager-" + number);
        }
      }
    }
    killContainers();
    Runtime.getRuntime().halt(0);
  }

  /** End what containers of this cluster run: they would ask for their masters for minutes. */
  private void killContainers() {
    String place = folder.resolve("data/local").toString();
    ProcessHandle.allProcesses()
        .filter(process -> process.info().commandLine().orElse("").contains(place))
        .forEach(ProcessHandle::destroyForcibly);
  }

  private boolean isAsked(String part) {
    return Files.exists(folder.resolve("halt-" + part)) && !Files.exists(folder.resolve("halted-" + part));
  }

  private void answer(String part) throws Exception {
    Files.createFile(folder.resolve("halted-" + part));
    say("stopped " + part);
  }

  private interface Work {
    void run() throws Exception;
  }

  private static Thread begin(Work work) {
    Thread thread = new Thread(() -> {
      try {
        work.run();
      } catch (Throwable error) {
        error.printStackTrace();
        Runtime.getRuntime().halt(1);
      }
    });
    thread.start();
    return thread;
  }

  private static void say(String what) {
    System.out.println((System.currentTimeMillis() - STARTED) + " ms " + what);
    System.out.flush();
  }
}
