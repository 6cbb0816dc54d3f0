#!/bin/sh
# tests/data/record_host.sh WORKLOAD OUT [NAME...]: makes the recordings of this machine, or some of them, in the folder OUT. As root:
#   unshare -m sh tests/data/record_host.sh build/tests/live/workload /tmp/host
# Files are left as they were written; README.md of each folder says what was done with them then.
set -u
workload=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
shift 2
names=$*
data=$(cd "$(dirname "$0")" && pwd)
work=/var/tmp/mix
tracing=/sys/kernel/tracing
mkdir -p $work
cp "$workload" $work/workload
cp "$data/mix.sh" $work/mix.sh
cd $work || exit 1
mount --make-rprivate /
[ -d $tracing/events ] || mount -t tracefs tracefs $tracing
grep -E ' (schedule|try_to_wake_up|do_nanosleep|pipe_read|pipe_write)$' /proc/kallsyms >kallsyms
sh mix.sh ./workload # what has been read once is in memory
{
	uname -srm
	perf --version
	cat $tracing/trace_clock
} >"$out"/facts.txt 2>&1

is_wanted() { [ -z "$names" ] || case " $names " in *" $1 "*) ;; *) return 1 ;; esac; }
# perf_file NAME WORDS...: runs perf with these words; its file is perf.data of this folder.
perf_file() {
	name=$1
	shift
	is_wanted "$name" || return 0
	rm -f perf.data
	"$@" >"$out"/"$name".log 2>&1
	mv perf.data "$out"/"$name".data || echo "no $name: $(tail -n 3 "$out"/"$name".log)"
}
mix="sh mix.sh ./workload"
some="-e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup -e sched:sched_wakeup_new -e sched:sched_migrate_task"
some="$some -e sched:sched_process_fork -e sched:sched_process_exec -e sched:sched_process_exit"
# Of tasks that are there before, names alone: what they have mapped is of no use here.
opt="-N --synth task -m 1024"
# shellcheck disable=SC2086  # lists of words
{
	perf_file sched perf sched record $opt -o perf.data $mix
	perf_file sched-g perf sched record $opt --call-graph fp -o perf.data $mix
	perf_file callgraph perf record -a $opt --call-graph fp -F 999 -e cpu-clock -o perf.data $mix
	perf_file switches perf record -a $opt --switch-events -F 499 -e cpu-clock -o perf.data $mix
	perf_file all perf record -a $opt -e 'sched:*,irq:*,power:*,task:*,workqueue:*,block:block_rq*' -o perf.data sh -c "$mix; dd if=/dev/zero of=disk bs=64k count=2 oflag=direct; sync -d disk"
	perf_file syscalls perf record -a $opt -e raw_syscalls:sys_enter --exclude-perf -e raw_syscalls:sys_exit --exclude-perf -e sched:sched_switch,sched:sched_waking -o perf.data ./workload pingpong rounds=40
	perf_file several perf record -a $opt -e cpu-clock/freq=499/ -e page-faults/period=1/ $some -o perf.data $mix
	perf_file mono perf record -a $opt -k CLOCK_MONOTONIC $some -o perf.data $mix
	perf_file mono-raw perf record -a $opt -k CLOCK_MONOTONIC_RAW $some -o perf.data $mix
	perf_file zstd perf record -a $opt -z $some -o perf.data $mix
	perf_file cgroups perf record -a $opt --all-cgroups $some -o perf.data $mix
	perf_file build-id perf record -a $opt --buildid-mmap --call-graph fp -F 499 -e cpu-clock -o perf.data ./workload hogs nr=3 ms=100
	# shellcheck disable=SC2016  # the inner shell expands it
	perf_file lost perf record -a -N --synth task -m 4 $some -o perf.data sh -c 'kill -STOP $PPID; ./workload pingpong rounds=300; kill -CONT $PPID; ./workload pingpong rounds=30'
	if is_wanted pipe; then
		perf record -a $opt $some -o - -- sh -c "$mix >&2" 2>"$out"/pipe.log | cat >"$out"/pipe.data
	fi
	if is_wanted killed; then
		perf record -a -N --synth task -m 8 $some -o perf.data -- sh -c "$mix; sleep 30" >"$out"/killed.log 2>&1 &
		perf=$!
		sleep 0.5
		kill -9 $perf
		mv perf.data "$out"/killed.data
	fi
}

# begin CLOCK OPTION...: ftrace records the same events, from now on.
begin() {
	echo nop >$tracing/current_tracer
	echo "$1" >$tracing/trace_clock
	shift
	for option in "$@"; do echo "$option" >$tracing/trace_options; done
	echo "$buffer_kb" >$tracing/buffer_size_kb
	for event in sched_switch sched_waking sched_wakeup sched_wakeup_new sched_migrate_task sched_process_fork sched_process_exec sched_process_exit; do
		echo 1 >$tracing/events/sched/$event/enable
	done
	for event in irq task; do echo 1 >$tracing/events/$event/enable; done
	echo >$tracing/trace
	echo 1 >$tracing/tracing_on
}
# end OPTION...: after it nothing is left of what begin changed.
end() {
	echo 0 >$tracing/events/enable
	for option in "$@"; do
		case $option in no*) echo "${option#no}" ;; *) echo "no$option" ;; esac >$tracing/trace_options
	done
	echo >$tracing/trace
	echo local >$tracing/trace_clock
	echo 1408 >$tracing/buffer_size_kb
	echo 1 >$tracing/tracing_on
}
# extract FILE
extract() {
	mount --bind $work/kallsyms /proc/kallsyms
	trace-cmd extract -o "$1" >"$1".log 2>&1
	umount /proc/kallsyms
}
buffer_kb=4096
# text_file NAME CLOCK OPTION...
text_file() {
	name=$1
	shift
	is_wanted "$name" || return 0
	begin "$@"
	shift
	$mix
	echo 0 >$tracing/tracing_on
	cat $tracing/trace >"$out"/"$name".txt
	[ "$name" != text-local ] || extract "$out"/extract.dat
	end "$@"
}
text_file text-local local
text_file text-mono mono
text_file text-boot boot record-tgid
text_file text-global global noirq-info
text_file text-counter counter
text_file text-uptime uptime
text_file text-tsc x86-tsc
text_file text-latency local latency-format
text_file text-latency-tgid local latency-format record-tgid
if is_wanted text-overwritten; then # the oldest are gone
	buffer_kb=16
	begin mono
	$mix
	echo 0 >$tracing/tracing_on
	cat $tracing/trace >"$out"/text-overwritten.txt
	end
fi
if is_wanted pipe-lost; then # the reader is too slow for so small a buffer
	buffer_kb=16
	begin mono
	timeout 3 sh -c "while dd bs=4096 count=1 2>/dev/null; do sleep 0.02; done" <$tracing/trace_pipe >"$out"/pipe-lost.txt &
	reader=$!
	$mix
	echo 0 >$tracing/tracing_on
	wait $reader
	end
fi
echo "all done"
