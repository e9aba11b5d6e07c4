#!/usr/bin/env bash
# What reads exports for tests: WebGraph, and Gephi's importer. Nothing of it is started or stopped.
#
#   engines/readers.sh install                 fetch the jars (once; 75 MB)
#   engines/readers.sh gexf FILE               what Gephi makes of a GEXF file (engines/readers/ReadGexf.java)
#   engines/readers.sh webgraph ARCS BASENAME  arcs to a compressed WebGraph, and back to BASENAME.arcs
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

readers="$ENGINES/readers"

install() {
  find_java
  fetch_jars readers
  compile_jar "$readers/jars/read-gexf.jar" "$readers/jars/*" "$scripts/readers/ReadGexf.java"
}

java_with() {
  find_java
  "$JAVA_HOME/bin/java" -Xmx512m -cp "$readers/jars/*" "$@"
}

case "${1:-}" in
  install) install ;;
  gexf) java_with ReadGexf "$2" ;;
  webgraph)
    java_with it.unimi.dsi.webgraph.BVGraph -g ArcListASCIIGraph "$2" "$3"
    java_with it.unimi.dsi.webgraph.ArcListASCIIGraph -g BVGraph "$3" "$3.arcs"
    ;;
  *) fail "use: readers.sh install | gexf FILE | webgraph ARCS BASENAME" ;;
esac
