#!/usr/bin/env bash
# Apache Cassandra 5.0.9 on this machine: one node, or three of one cluster, on loopback.
#
#   engines/cassandra.sh install                 fetch the jars (once; 67 MB)
#   engines/cassandra.sh start [FOLDER]          start a node that keeps all it has in FOLDER (default: $ENGINES/run/cassandra)
#   engines/cassandra.sh stop  [FOLDER]          end it; what is stored stays in FOLDER for the next start
#   engines/cassandra.sh start-node N [FOLDER]   start one node again, after it was stopped or killed; N is 1, 2, 3
#   engines/cassandra.sh tool N ARGUMENT...      nodetool for a node of the cluster in $FOLDER (default as above)
#
# NODES=3 engines/cassandra.sh start       three nodes on 127.0.0.1, 127.0.0.2 and 127.0.0.3
# COMMITLOG=periodic                       acknowledge writes before they are on disk (default: batch, after)
# HEAP=1g                                  memory of a node (default: 1g for one, 512m each for three)
# SHORT=1                                  for minutes rather than hours: only the quick compiler, which costs less than it could win
# LOGIN=1                                  require a user and a password: the first user is cassandra, with the password cassandra
# TLS=1                                    talk with clients by TLS only; FOLDER/ca.pem says whom they may believe
# TLS=both                                 ask clients for a certificate, too: that of FOLDER/client.pem, with its key in FOLDER/client.key
# MASTER=PID                               the cluster ends when that process is gone: nothing outlives a test that was killed
#
# The pid of each node is in FOLDER/node-N/pid, what it said in FOLDER/node-N/logs. docs/how-to/engines.md says how to use it.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cassandra="$ENGINES/cassandra"
action="${1:-}"

install() {
  find_java
  fetch_jars cassandra
}

# What Cassandra reaches into on Java 17 (upstream's jvm17-server.options).
jvm_options() {
  local package
  for package in java.base/jdk.internal.misc java.management.rmi/com.sun.jmx.remote.internal.rmi java.rmi/sun.rmi.registry \
    java.rmi/sun.rmi.server java.sql/java.sql java.base/java.lang.ref jdk.unsupported/sun.misc jdk.attach/sun.tools.attach \
    jdk.compiler/com.sun.tools.javac.file; do
    printf -- '--add-exports=%s=ALL-UNNAMED ' "$package"
  done
  for package in java.base/java.lang.module java.base/jdk.internal.loader java.base/jdk.internal.ref java.base/jdk.internal.reflect \
    java.base/jdk.internal.math java.base/jdk.internal.module java.base/jdk.internal.util.jar jdk.management/com.sun.management.internal \
    java.base/sun.nio.ch java.base/java.io java.base/java.lang.reflect jdk.compiler/com.sun.tools.javac java.base/java.lang \
    java.base/java.util; do
    printf -- '--add-opens=%s=ALL-UNNAMED ' "$package"
  done
}

# write_conf: what the nodes need, on ports that are free; a cluster that was stopped keeps its own.
write_conf() {
  local number node ports tokens=("" -9223372036854775808 -3074457345618258603 3074457345618258602) sync
  case "${COMMITLOG:-batch}" in
    batch) sync="commitlog_sync: batch" ;;
    periodic) sync="commitlog_sync: periodic\ncommitlog_sync_period: 10000ms" ;;
    *) fail "COMMITLOG=$COMMITLOG: give batch or periodic" ;;
  esac
  if [ ! -f "$run/ports" ]; then free_ports 5 > "$run/ports"; fi
  read -ra ports < "$run/ports"
  echo "$nodes" > "$run/nodes"
  for number in $(seq "$nodes"); do
    node="$run/node-$number"
    mkdir -p "$node/conf" "$node/logs" "$node/tmp" "$node/triggers"
    for name in cassandra.yaml logback.xml logback-tools.xml; do
      sed -e "s|@NODE@|$node|g; s|@TOKEN@|${tokens[$number]}|; s|@ADDRESS@|127.0.0.$number|; s|@STORAGE@|${ports[0]}|" \
        -e "s|@NATIVE@|${ports[1]}|; s|@SYNC@|$sync|; s|@MEMTABLE@|$([ "$nodes" = 1 ] && echo 256MiB || echo 96MiB)|" \
        "$scripts/cassandra/conf/$name" > "$node/conf/$name"
    done
    echo "${ports[$((number + 1))]}" > "$node/jmx"
    echo "-Xmx${HEAP:-$([ "$nodes" = 1 ] && echo 1g || echo 512m)} ${SHORT:+-XX:TieredStopAtLevel=1}" > "$node/options"
  done
  cat > "$run/env" <<ENV
# . $run/env   makes this shell know the cluster
export CASSANDRA=$(seq -s, -f "127.0.0.%g:${ports[1]}" "$nodes")
ENV
}

# write_access: in the settings of all nodes, who may ask and how; what certificates they show.
write_access() {
  local text="" number names clients=""
  rm -f "$run/keys.p12" "$run/trusted.p12" "$run/ca.pem" "$run/client.pem" "$run/client.key"
  if [ -n "${LOGIN:-}" ]; then
    text+="authenticator: PasswordAuthenticator\\nauthorizer: CassandraAuthorizer\\nrole_manager: CassandraRoleManager\\n"
  fi
  if [ -n "${TLS:-}" ]; then
    names="san=$(seq -s, -f "ip:127.0.0.%g" "$nodes")"
    "$JAVA_HOME/bin/keytool" -genkeypair -alias arclink -keyalg RSA -keysize 2048 -validity 3650 -dname CN=arclink -ext "$names" \
      -keystore "$run/keys.p12" -storetype PKCS12 -storepass arclink -keypass arclink 2> /dev/null
    "$JAVA_HOME/bin/keytool" -exportcert -rfc -alias arclink -keystore "$run/keys.p12" -storepass arclink > "$run/ca.pem" 2> /dev/null
    if [ "$TLS" = both ]; then
      openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=client -out "$run/client.pem" -keyout "$run/client.key" 2> /dev/null
      "$JAVA_HOME/bin/keytool" -importcert -noprompt -alias client -file "$run/client.pem" -keystore "$run/trusted.p12" -storetype PKCS12 \
        -storepass arclink 2> /dev/null
      clients=", require_client_auth: true, truststore: $run/trusted.p12, truststore_password: arclink"
    fi
    text+="client_encryption_options: {enabled: true, optional: false, keystore: $run/keys.p12, keystore_password: arclink, store_type: PKCS12$clients}\\n"
  fi
  for number in $(seq "$nodes"); do sed -i "s|@ACCESS@|$text|" "$run/node-$number/conf/cassandra.yaml"; done
}

# launch N: start the JVM of a node.
launch() {
  local node="$run/node-$1" options
  read -ra options <<< "$(cat "$node/options") $(jvm_options)"
  if is_running "$node/pid"; then fail "node $1 runs already (pid $(cat "$node/pid"))"; fi
  setsid "$JAVA_HOME/bin/java" -Xms256m -Xss512k -XX:+UseG1GC -XX:+PerfDisableSharedMem -XX:+ExitOnOutOfMemoryError \
    -Djava.net.preferIPv4Stack=true -Djdk.attach.allowAttachSelf=true "${options[@]}" \
    -Dio.netty.tryReflectionSetAccessible=true -Dio.netty.allocator.useCacheForAllThreads=true -Dio.netty.allocator.maxOrder=11 \
    -Dlogback.configurationFile="$node/conf/logback.xml" -Dcassandra.config="file://$node/conf/cassandra.yaml" \
    -Dcassandra.storagedir="$node" -Dcassandra.logdir="$node/logs" -Dcassandra.triggers_dir="$node/triggers" \
    -Djava.io.tmpdir="$node/tmp" -Djna.tmpdir="$node/tmp" -Dcassandra.jmx.local.port="$(cat "$node/jmx")" \
    -Dcassandra.ring_delay_ms=1000 -Dcassandra.skip_wait_for_gossip_to_settle=0 -Dcassandra.superuser_setup_delay_ms=0 \
    -cp "$cassandra/jars/*" org.apache.cassandra.service.CassandraDaemon > "$node/logs/out" 2>&1 < /dev/null &
  echo $! > "$node/pid"
}

# await N: wait until a node answers on its port; fail if it ends, or says nothing for three minutes.
await() {
  local node="$run/node-$1" ports
  read -ra ports < "$run/ports"
  for _ in $(seq 900); do
    is_running "$node/pid" || { tail -n 20 "$node/logs/system.log" "$node/logs/out" >&2; fail "node $1 ended; see $node/logs"; }
    # An OPTIONS frame of the protocol, and the opcode of the answer: 6 is SUPPORTED.
    if python3 - "127.0.0.$1" "${ports[1]}" "$(ls "$run/ca.pem" 2> /dev/null)" "$(ls "$run/client.pem" 2> /dev/null)" 2> /dev/null <<'PYTHON'; then return; fi
import socket
import ssl
import sys

with socket.create_connection((sys.argv[1], int(sys.argv[2])), 2) as one:
    if sys.argv[3]:
        context = ssl.create_default_context(cafile=sys.argv[3])
        if sys.argv[4]:
            context.load_cert_chain(sys.argv[4], sys.argv[4].removesuffix("pem") + "key")
        one = context.wrap_socket(one, server_hostname=sys.argv[1])
    one.sendall(bytes.fromhex("040000000500000000"))
    sys.exit(one.recv(9)[4] != 6)
PYTHON
    sleep 0.2
  done
  fail "node $1 does not answer; see $node/logs"
}

start() {
  local number
  for number in 1 2 3; do
    if is_running "$run/node-$number/pid"; then fail "a cluster runs in $run already (pid $(cat "$run/node-$number/pid"))"; fi
  done
  install
  mkdir -p "$run"
  run="$(cd "$run" && pwd)"
  nodes="${NODES:-$(cat "$run/nodes" 2> /dev/null || echo 1)}"
  write_conf
  write_access
  end_with_master
  # The first node is the seed of the others.
  launch 1
  await 1
  for number in $(seq 2 "$nodes"); do launch "$number"; done
  for number in $(seq 2 "$nodes"); do await "$number"; done
  . "$run/env"
  echo "Cassandra runs in $run; stop it: engines/cassandra.sh stop $run"
  echo "use it: arclink schema apply --store cassandra://$CASSANDRA/arclink"
}

# stop: drain and end all nodes at once.
stop() {
  local pid
  for pid in "$run"/node-*/pid; do
    if is_running "$pid"; then kill "$(cat "$pid")" 2> /dev/null || true; fi
  done
  for pid in "$run"/node-*/pid; do
    for _ in $(seq 200); do is_running "$pid" || break; sleep 0.1; done
    stop_process "$pid"
  done
}

case "$action" in
  install) install ;;
  start | stop) run="${2:-$ENGINES/run/cassandra}"; "$action" ;;
  start-node)
    run="${3:-$ENGINES/run/cassandra}"
    find_java
    launch "$2"
    await "$2"
    ;;
  watch)
    run="$3"
    wait_for_master "$2"
    stop
    ;;
  tool)
    run="${FOLDER:-$ENGINES/run/cassandra}" node="${FOLDER:-$ENGINES/run/cassandra}/node-$2"
    find_java
    read -ra options <<< "$(jvm_options)"
    shift 2
    exec "$JAVA_HOME/bin/java" -Xmx128m "${options[@]}" -Dlogback.configurationFile="$node/conf/logback-tools.xml" \
      -Dcassandra.config="file://$node/conf/cassandra.yaml" -Dcassandra.storagedir="$node" -cp "$cassandra/jars/*" \
      org.apache.cassandra.tools.NodeTool -h 127.0.0.1 -p "$(cat "$node/jmx")" "$@"
    ;;
  *) sed -n '2,/^source/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
