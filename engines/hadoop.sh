#!/usr/bin/env bash
# Hadoop 3.4.2 on this machine: real HDFS, YARN, MapReduce and streaming on loopback.
#
#   engines/hadoop.sh install          fetch the jars (once; 93 MB)
#   engines/hadoop.sh start [FOLDER]   start a cluster that keeps all it has in FOLDER (default: $ENGINES/run/hadoop)
#   engines/hadoop.sh stop  [FOLDER]   end it; what is in HDFS stays in FOLDER for the next start
#   engines/hadoop.sh halt  WHAT N [FOLDER]   stop one part: WHAT is datanode, nodemanager or namenode, N is 0, 1, …
#   engines/hadoop.sh resume namenode 0 [FOLDER]   start the halted NameNode again; it is in safe mode for some seconds
#
# NODES=2 engines/hadoop.sh start      two DataNodes and two NodeManagers (default 1), replication 2
# BLOCK=128m engines/hadoop.sh start   blocks of HDFS, and so inputs of map tasks, as large as on a cluster (default 1m,
#                                      so that small tests have several tasks)
# DEAD=630 engines/hadoop.sh start     seconds after which a DataNode that is gone counts as dead, as on a cluster (default 12)
# S3=http://HOST:PORT/BUCKET engines/hadoop.sh start   no HDFS: all files are in that bucket, which AWS_ACCESS_KEY_ID and
#                                      AWS_SECRET_ACCESS_KEY open (engines/s3.sh starts such a server)
# S3=http://HOST:PORT/BUCKET engines/hadoop.sh local [FOLDER]   start nothing: settings in FOLDER with which each job runs
#                                      in one process
# SECURED=1 engines/hadoop.sh start    Kerberos, with its server in the same JVM, and HTTPS; the settings name a ticket of its
#                                      one user
# MASTER=PID engines/hadoop.sh start   the cluster ends when that process is gone: nothing outlives a test that was killed
#
# All daemons share one JVM (Cluster.java): 5 s and 370 MB instead of 15 s and 1.1 GB for five processes. Tasks are
# containers of YARN as anywhere, each a process of its own. docs/how-to/engines.md says how to use it.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

hadoop="$ENGINES/hadoop"
action="${1:-}"

install() {
  find_java
  fetch_jars hadoop
  fetch_jars s3a
  # The cluster itself, and how jobs write their output (arclink/engines/java).
  compile_jar "$hadoop/cluster.jar" "$hadoop/jars/*" "$scripts/hadoop/Cluster.java"
  compile_jar "$hadoop/relations.jar" "$hadoop/jars/*" "$root/arclink/engines/java/arclink/"*.java
  if [ -n "${SECURED:-}" ]; then "$scripts/kerberos.sh" install; fi
}

# secure: add Kerberos and HTTPS to the configuration of one cluster.
secure() {
  local file own="$run/kerberos" name
  mkdir -p "$own"
  chmod 700 "$own"
  rm -rf "${own:?}"/*
  # Its class in place of Hadoop's: settings come first on the class path, also on that of tasks.
  (cd "$run/conf" && "$JAVA_HOME/bin/jar" --extract --file "$ENGINES/kerberos/cluster.jar" org)
  "$JAVA_HOME/bin/keytool" -genkeypair -alias arclink -keyalg RSA -keysize 2048 -validity 3650 -dname CN=localhost \
    -ext san=dns:localhost,ip:127.0.0.1 -keystore "$own/keys.p12" -storetype PKCS12 -storepass arclink -keypass arclink 2> /dev/null
  "$JAVA_HOME/bin/keytool" -exportcert -rfc -alias arclink -keystore "$own/keys.p12" -storepass arclink > "$run/ca.pem" 2> /dev/null
  for file in "$scripts"/kerberos/conf/*; do
    name="$run/conf/$(basename "$file")"
    # Of two properties with one name, the last one counts.
    { if [ -f "$name" ]; then sed '$d' "$name"; fi; sed -e "s|@RUN@|$run|g; s|@WEBHDFS@|$1|g" "$file"; } > "$name.new"
    if [ -f "$name" ]; then echo '</configuration>' >> "$name.new"; fi
    mv "$name.new" "$name"
  done
}

# write_conf: the configuration of one cluster, from the templates in engines/hadoop/conf.
write_conf() {
  # Hadoop waits for ten heartbeats and two intervals of its check.
  local heartbeat=1 recheck=$(((${DEAD:-12} - 10) * 500))
  if [ "${DEAD:-12}" -gt 60 ]; then heartbeat=3 recheck=$(((DEAD - 30) * 500)); fi
  local nodes="${NODES:-1}" files framework=yarn aws= tasks variable begin= hdfs webhdfs rm scheduler tracker admin web history template
  read -r hdfs webhdfs rm scheduler tracker admin web history < <(free_ports 8)
  files="hdfs://127.0.0.1:$hdfs"
  tasks="ARCLINK_WEBHDFS: http://127.0.0.1:$webhdfs"
  variable="export ARCLINK_WEBHDFS=http://127.0.0.1:$webhdfs"
  if [ -n "${S3:-}" ]; then
    files="s3a://${S3##*/}"
    if [ "$action" = local ]; then
      framework=local
      begin="mkdir -p $run/tasks; cd $run/tasks # tasks run here, too, and link their files"
    fi
    aws="<property><name>fs.s3a.endpoint</name><value>${S3%/*}</value></property>\
  <property><name>fs.s3a.access.key</name><value>$AWS_ACCESS_KEY_ID</value></property>\
  <property><name>fs.s3a.secret.key</name><value>$AWS_SECRET_ACCESS_KEY</value></property>"
    tasks="AWS_ENDPOINT_URL: ${S3%/*}\n      AWS_ACCESS_KEY_ID: $AWS_ACCESS_KEY_ID\n      AWS_SECRET_ACCESS_KEY: $AWS_SECRET_ACCESS_KEY"
    variable="unset ARCLINK_WEBHDFS; export AWS_ENDPOINT_URL=${S3%/*}"
  elif [ -n "${SECURED:-}" ]; then
    tasks="ARCLINK_WEBHDFS: https://localhost:$webhdfs\n      ARCLINK_WEBHDFS_CA: $run/ca.pem"
    begin="export KRB5CCNAME=\"\${KRB5CCNAME:-FILE:$run/kerberos/ticket}\" HADOOP_OPTS=\"-Djava.security.krb5.conf=$run/kerberos/krb5.conf\""
    variable="export ARCLINK_WEBHDFS=https://localhost:$webhdfs ARCLINK_WEBHDFS_CA=$run/ca.pem KRB5_CONFIG=$run/kerberos/krb5.conf"
    variable+=" KRB5CCNAME=FILE:$run/kerberos/ticket"
  fi
  # HDFS looks for its web pages on the class path, and is content with empty folders.
  mkdir -p "$run/conf/webapps/hdfs" "$run/conf/webapps/datanode" "$run/conf/webapps/secondary" "$run/bin" "$run/logs"
  for template in "$scripts"/hadoop/conf/*; do
    sed -e "s|@RUN@|$run|g; s|@HADOOP@|$hadoop|g; s|@NODES@|$nodes|g; s|@HDFS@|$hdfs|g; s|@WEBHDFS@|$webhdfs|g" \
      -e "s|@RM@|$rm|g; s|@SCHEDULER@|$scheduler|g; s|@TRACKER@|$tracker|g; s|@ADMIN@|$admin|g; s|@RMWEB@|$web|g" \
      -e "s|@HISTORY@|$history|g; s|@MEMORY@|${NODE_MEMORY:-6144}|g; s|@JAVA_HOME@|$JAVA_HOME|g; s|@USER@|$(id -un)|g" \
      -e "s|@FILES@|$files|g; s|@FRAMEWORK@|$framework|g; s|@AWS@|$aws|g; s|@S3A@|$ENGINES/s3a|g; s|@HEARTBEAT@|$heartbeat|g; s|@RECHECK@|$recheck|g; s|@BLOCK@|${BLOCK:-1m}|g" \
      "$template" > "$run/conf/$(basename "$template")"
  done
  if [ -n "${SECURED:-}" ]; then secure "$webhdfs"; fi
  sed -e "s|@RUN@|$run|g; s|@HADOOP@|$hadoop|g; s|@JAVA_HOME@|$JAVA_HOME|g; s|@OPENS@|$(java_opens)|g" \
    -e "s|@S3A@|$ENGINES/s3a|g; s|@BEGIN@|$begin|g" "$scripts/hadoop/hadoop.in" > "$run/bin/hadoop"
  chmod +x "$run/bin/hadoop"
  sed -e "s|@RUN@|$run|g; s|@HADOOP@|$hadoop|g; s|@ROOT@|$root|g; s|@TASKS@|$tasks|g" \
    -e "s|@SPLIT@|$(numfmt --from=iec "$(tr '[:lower:]' '[:upper:]' <<< "${BLOCK:-1m}")")|g" \
    "$scripts/hadoop/mrjob.conf.in" > "$run/mrjob.conf"
  cat > "$run/env" <<ENV
# . $run/env   makes this shell use the cluster
export PATH="$run/bin:\$PATH" HADOOP_CONF_DIR="$run/conf" JAVA_HOME="$JAVA_HOME" MRJOB_CONF="$run/mrjob.conf"
$variable
ENV
}

start() {
  if is_running "$run/pid"; then fail "a cluster runs in $run already (pid $(cat "$run/pid"))"; fi
  install
  mkdir -p "$run"
  run="$(cd "$run" && pwd)"
  local attempt
  for attempt in 1 2 3; do
    try_start && return
    stop
    # A port may have been taken since it was found to be free: then others are tried.
    grep -q 'BindException' "$run/logs/cluster.log" || break
  done
  tail -n 30 "$run/logs/cluster.log" >&2
  fail "Hadoop did not start; all it said: $run/logs/cluster.log"
}

# local_settings: write the settings of Hadoop in one process.
local_settings() {
  [ -n "${S3:-}" ] || fail "set S3 to the address of a bucket: http://HOST:PORT/BUCKET"
  install
  mkdir -p "$run"
  run="$(cd "$run" && pwd)"
  write_conf
  echo "use it: . $run/env"
}

# try_start: start the cluster on free ports; fail if it ends, or is not ready after five minutes.
try_start() {
  write_conf
  rm -f "$run/ready" "$run"/halt*-* "$run"/resume-*
  local classpath="$hadoop/cluster.jar" main=arclink.Cluster
  if [ -n "${SECURED:-}" ]; then classpath+=":$ENGINES/kerberos/cluster.jar:$ENGINES/kerberos/jars/*" main=arclink.SecuredCluster; fi
  HADOOP_CLASSPATH="$classpath" HADOOP_HEAP="${CLUSTER_HEAP:-768m}" setsid "$run/bin/hadoop" "$main" "$run" "${NODES:-1}" ${MASTER:-} \
    > "$run/logs/cluster.out" 2> "$run/logs/cluster.log" < /dev/null &
  echo $! > "$run/pid"
  for _ in $(seq 3000); do
    if [ -f "$run/ready" ]; then
      echo "Hadoop runs in $run (pid $(cat "$run/pid")); stop it: engines/hadoop.sh stop $run"
      sed -n 's|.*<name>fs.defaultFS</name><value>\(.*\)</value>.*|files: \1|p' "$run/conf/core-site.xml"
      echo "use it: . $run/env"
      return 0
    fi
    is_running "$run/pid" || return 1
    sleep 0.1
  done
  return 1
}

stop() {
  stop_process "$run/pid"
  # An application master lingers for some seconds after its job, and a container after its killed NodeManager. What
  # works in this cluster's folder belongs to it.
  local process
  for process in /proc/[0-9]*; do
    if { tr '\0' ' ' < "$process/cmdline"; } 2> /dev/null | grep -qF "$run/data/local"; then kill -9 "${process#/proc/}" 2> /dev/null || true; fi
  done
}

case "$action" in
  install) install ;;
  start | stop) run="${2:-$ENGINES/run/hadoop}"; "$action" ;;
  local) run="${2:-$ENGINES/run/hadoop}"; local_settings ;;
  halt)
    run="${4:-$ENGINES/run/hadoop}"
    touch "$run/halt-$2-$3"
    for _ in $(seq 300); do [ -f "$run/halted-$2-$3" ] && exit 0; sleep 0.1; done
    fail "$2 $3 did not stop; see $run/logs/cluster.log"
    ;;
  resume)
    run="${4:-$ENGINES/run/hadoop}"
    [ -f "$run/halted-$2-$3" ] || fail "$2 $3 was not halted"
    touch "$run/resume-$2-$3"
    for _ in $(seq 300); do [ -f "$run/halted-$2-$3" ] || exit 0; sleep 0.1; done
    fail "$2 $3 did not start; see $run/logs/cluster.log"
    ;;
  *) sed -n '2,/^source/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
