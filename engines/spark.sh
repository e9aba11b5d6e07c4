#!/usr/bin/env bash
# Spark 3.5 on this machine: two workers of one core and 1024 MB each, processes of their own.
#
#   engines/spark.sh install          check what is needed; `make engines` installs pyspark in .venv
#   engines/spark.sh start [FOLDER]   write FOLDER/mrjob.conf and FOLDER/env (default: $ENGINES/run/spark)
#   engines/spark.sh stop  [FOLDER]   remove them
#
# Nothing keeps running: each build or single job starts its workers, and ends them.
#
# HADOOP=1 engines/spark.sh start      with the classes of engines/hadoop.sh in place of those of the package, which has none for
#                                      S3 (Spark's documentation calls this a Hadoop-free build)
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

run="${2:-$ENGINES/run/spark}"

install() {
  find_java
  [ -x "$root/.venv/bin/spark-submit" ] || fail "pyspark is not installed in .venv; run: make engines"
}

# hadoop_free: link Spark in a folder of its own, without its classes of Hadoop; print its home and the classes to use.
hadoop_free() {
  local package=("$root"/.venv/lib/python3*/site-packages/pyspark) file
  rm -rf "$run/home"
  mkdir -p "$run/home/jars"
  for file in "${package[0]}"/*; do if [ "${file##*/}" != jars ]; then ln -s "$file" "$run/home/"; fi; done
  for file in "${package[0]}"/jars/*; do case "${file##*/}" in hadoop-*) ;; *) ln -s "$file" "$run/home/jars/" ;; esac; done
  echo "export SPARK_HOME=\"$run/home\" SPARK_DIST_CLASSPATH=\"$ENGINES/hadoop/jars/*:$ENGINES/s3a/jars/*\""
}

start() {
  install
  mkdir -p "$run"
  run="$(cd "$run" && pwd)"
  local submit="$root/.venv/bin/spark-submit" other="" jar=""
  if [ -n "${HADOOP:-}" ]; then other="$(hadoop_free)" submit="$run/home/bin/spark-submit"; fi
  if [ -f "$ENGINES/hadoop/relations.jar" ]; then jar="libjars: [$ENGINES/hadoop/relations.jar]"; fi
  cat > "$run/mrjob.conf" <<CONF
# mrjob settings for Spark on this machine, on top of those for any.
include: $root/conf/spark.conf

runners:
  spark:
    spark_submit_bin: $submit
    $jar
    python_bin: $root/.venv/bin/python
    jobconf:
      # For jobs of seconds: the quick compiler and the small collector start fastest, and small inputs need few tasks.
      spark.driver.extraJavaOptions: -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
      spark.executor.extraJavaOptions: -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
      spark.default.parallelism: 2
CONF
  # pyspark from a package does not know which Scala it was built for, and local-cluster asks. SPARK_LOCAL_IP: no guessing.
  cat > "$run/env" <<ENV
# . $run/env   makes this shell use Spark
export JAVA_HOME="$JAVA_HOME" MRJOB_CONF="$run/mrjob.conf" SPARK_LOCAL_IP=127.0.0.1 SPARK_SCALA_VERSION=2.12
$other
ENV
  echo "use it: . $run/env"
}

stop() { rm -rf "$run/mrjob.conf" "$run/env" "$run/home"; }

case "${1:-}" in
  install | start | stop) "$1" ;;
  *) sed -n '2,/^source/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
