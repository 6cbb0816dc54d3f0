#!/bin/sh
# tests/data/mix.sh WORKLOAD [TIMES]: what the recordings in perf/, tracecmd/ and ftrace/ show: processes that pass a byte to and fro, compete for
# a CPU, sleep, are short-lived, and move between CPUs. They begin and end here, so a recording of it has all of their lives.
set -eu
w=$1
times=${2:-1}
"$w" pingpong rounds=$((60 * times)) >/dev/null &
"$w" hogs nr=3 ms=$((40 * times)) >/dev/null &
"$w" sleep nr=2 rounds=$((15 * times)) us=1000 >/dev/null &
"$w" storm nr=$((8 * times)) us=100 name=burst >/dev/null &
"$w" migrate rounds=$((8 * times)) >/dev/null &
wait
