#!/usr/bin/env bash
# Apache Pig 0.18.0 on Hadoop's jars: pig/*.pig on this machine (-x local) or on a cluster of engines/hadoop.sh.
#
#   engines/pig.sh install                fetch the jars (once; 9 MB, and Hadoop's)
#   engines/pig.sh run PIG-OPTION...      run Pig; -x local needs no cluster, -x mapreduce the one of HADOOP_CONF_DIR
#
# Pig has nothing to start and stop.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

pig="$ENGINES/pig"

install() {
  "$scripts/hadoop.sh" install
  find_java
  fetch_jars pig
  # Pig's jar refers to a class that it does not hold, but in Bloom joins never uses: an empty one is enough.
  compile_jar "$pig/jars/missing-class.jar" "$pig/jars/*" "$scripts/pig/RoaringBitmap.java"
  mkdir -p "$pig/conf-local"
  cp "$scripts/hadoop/conf/log4j.properties" "$pig/conf-local/"
}

run() {
  local conf="${HADOOP_CONF_DIR:-$pig/conf-local}" word opens programs=.
  for word in "$@"; do
    if [ "$word" = local ]; then
      conf="$pig/conf-local"
      # What a script ships is put into the current folder, and removed by the first job that ends: it is run where it is.
      programs="$root/pig"
    fi
  done
  find_java
  read -ra opens <<< "$(java_opens)"
  # Pig names a garbage collector for its tasks; a second one in the cluster's own options would stop them. YARN checks
  # memory: without these numbers, a task gets 256 MB, and is killed for the virtual memory that Java sets aside.
  exec "$JAVA_HOME/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "-Xmx${PIG_HEAP:-768m}" -Djava.net.preferIPv4Stack=true \
    "-Dmapred.child.java.opts=-Xmx200m -XX:CompressedClassSpaceSize=64m -XX:TieredStopAtLevel=1 -Djava.net.preferIPv4Stack=true" \
    -Dmapreduce.map.env=MALLOC_ARENA_MAX=2 -Dmapreduce.reduce.env=MALLOC_ARENA_MAX=2 \
    -Dmapreduce.map.memory.mb=512 -Dmapreduce.reduce.memory.mb=512 "${opens[@]}" \
    -cp "$conf:$pig/jars/*:$ENGINES/hadoop/jars/*" org.apache.pig.Main -param "PROGRAMS=$programs" "$@"
}

case "${1:-}" in
  install) install ;;
  run) shift; run "$@" ;;
  start | stop) ;;
  *) sed -n '2,/^source/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
