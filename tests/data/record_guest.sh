#!/bin/sh
# tests/data/record_guest.sh WORKLOAD [NAME...]: makes the recordings of a guest, or some of them, in /run/out. Run by tools/vm/run:
#   tools/vm/run --kernel 7.2 --cpus 2 --out /tmp/7.2 sh tests/data/record_guest.sh build/tests/live/workload
# Files are left as they were written; README.md of each folder says which were taken from which kernel.
set -u
workload=$1
shift
data=$(cd "$(dirname "$0")" && pwd)
out=/run/out
work=/run/mix
tracing=/sys/kernel/tracing
mkdir -p $work
cp "$workload" $work/workload
cp "$data/mix.sh" $work/mix.sh
cd $work || exit 1
# What has been read once is in memory: the first run of each program would wait for the host's files.
sh mix.sh ./workload
for words in "perf record -q -o /dev/null true" "trace-cmd record -q -o /run/warm.dat -e sched:sched_switch true"; do
	$words >/dev/null 2>&1
done
rm -f /run/warm.dat
# trace-cmd stores all of /proc/kallsyms: megabytes that no test reads.
grep -E ' (schedule|try_to_wake_up|do_nanosleep|pipe_read|pipe_write)$' /proc/kallsyms >kallsyms
mount --bind $work/kallsyms /proc/kallsyms
mkdir -p $out
{
	uname -srm
	perf --version
	trace-cmd list -t | tr '\n' ' '
	cat $tracing/trace_clock
	trace-cmd list -c
} >$out/facts.txt 2>&1

# is_wanted NAME
is_wanted() { [ -z "$names" ] || case " $names " in *" $1 "*) ;; *) return 1 ;; esac; }
names=$*
# perf_file NAME WORDS...: runs perf with these words; its file is perf.data of this folder.
perf_file() {
	name=$1
	shift
	is_wanted "$name" || return 0
	"$@" >$out/"$name".log 2>&1
	mv perf.data $out/"$name".data || echo "no $name: $(tail -n 3 $out/"$name".log)"
}
mix="sh mix.sh ./workload"
some="-e sched:sched_switch -e sched:sched_waking -e sched:sched_wakeup -e sched:sched_wakeup_new -e sched:sched_migrate_task"
some="$some -e sched:sched_process_fork -e sched:sched_process_exec -e sched:sched_process_exit"
# shellcheck disable=SC2086  # lists of words
{
	perf_file sched perf sched record -o perf.data $mix
	perf_file all perf record -a -o perf.data -m 1024 -e 'sched:*,irq:*,power:*,task:*,workqueue:*,block:block_rq*' $mix
	perf_file syscalls perf record -a -o perf.data -m 1024 -e raw_syscalls:sys_enter --exclude-perf -e raw_syscalls:sys_exit --exclude-perf -e sched:sched_switch,sched:sched_waking ./workload pingpong rounds=40
	perf_file callgraph perf record -a -o perf.data -F 999 -g -e cpu-clock $mix
	perf_file zstd perf record -a -z -o perf.data -m 1024 $some $mix
	perf_file cgroups perf record -a --all-cgroups -o perf.data -m 1024 $some sh -c "mkdir -p /sys/fs/cgroup/red /sys/fs/cgroup/blue
		(echo 0 >/sys/fs/cgroup/red/cgroup.procs; ./workload sleep nr=2 rounds=10 us=1000 >/dev/null) &
		(echo 0 >/sys/fs/cgroup/blue/cgroup.procs; ./workload pingpong rounds=40 >/dev/null) & wait"
}

# dat_file NAME WORDS...: runs trace-cmd record with these words.
dat_file() {
	name=$1
	shift
	is_wanted "$name" || return 0
	# shellcheck disable=SC2086
	trace-cmd record -o trace.dat "$@" $mix >$out/"$name".log 2>&1
	mv trace.dat $out/"$name".dat || echo "no $name: $(tail -n 3 $out/"$name".log)"
}
# shellcheck disable=SC2086
{
	dat_file v7-zstd $some -e irq -e task
	dat_file v7-none --compression none $some
	dat_file v6 --file-version 6 $some
	dat_file v7-buffers $some -B irqs -e irq -B tasks -e task
	dat_file v6-buffers --file-version 6 $some -B irqs -e irq
	dat_file v7-mono -C mono $some
	dat_file v7-boot -C boot $some
	dat_file v6-mono --file-version 6 -C mono $some
	dat_file v7-tsc -C x86-tsc $some
}
if is_wanted killed; then
	# shellcheck disable=SC2086
	trace-cmd record -o trace.dat $some sh -c "$mix; sleep 100" >$out/killed.log 2>&1 &
	sleep 0.2
	kill -9 $! # it would join the files of its children, which read the buffers of CPUs and go on
	sleep 1
	for pid in $(pidof trace-cmd) $(pidof sleep); do kill -9 "$pid"; done
	echo 0 >$tracing/events/enable
	for file in trace.dat*; do cp "$file" "$out/killed.$file"; done
	rm -f trace.dat*
	trace-cmd restore -c -o $out/killed.partial.dat >>$out/killed.log 2>&1
fi
if is_wanted v7-gap; then # nothing is read for a while
	# shellcheck disable=SC2086,SC2016  # a list of words; the inner shell expands the rest
	trace-cmd record -b 16 -o $out/v7-gap.dat $some sh -c './workload pingpong rounds=30
		kill -STOP $(pidof trace-cmd); sh mix.sh ./workload; kill -CONT $(pidof trace-cmd)
		./workload pingpong rounds=30' >$out/v7-gap.log 2>&1
fi
if is_wanted v7-lost; then # the kernel overwrites the oldest, and says how many of each CPU
	trace-cmd start -b 16 -e sched >$out/v7-lost.log 2>&1
	sh mix.sh ./workload
	trace-cmd stop
	trace-cmd extract -o $out/v7-lost.dat >>$out/v7-lost.log 2>&1
	trace-cmd reset
fi

# text_file NAME CLOCK OPTIONS FILE: what FILE of tracefs shows.
text_file() {
	is_wanted "$1" || return 0
	echo nop >$tracing/current_tracer
	echo "$2" >$tracing/trace_clock || return 0
	for option in $3; do echo "$option" >$tracing/trace_options; done
	echo 4096 >$tracing/buffer_size_kb
	for event in sched_switch sched_waking sched_wakeup sched_wakeup_new sched_migrate_task sched_process_fork sched_process_exec sched_process_exit; do
		echo 1 >$tracing/events/sched/$event/enable
	done
	for event in irq task; do echo 1 >$tracing/events/$event/enable; done
	echo >$tracing/trace
	echo 1 >$tracing/tracing_on
	sh mix.sh ./workload
	echo 0 >$tracing/tracing_on
	cat $tracing/trace >$out/"$1".txt
	echo 0 >$tracing/events/enable
	for option in $3; do
		case $option in no*) echo "${option#no}" ;; *) echo "no$option" ;; esac >$tracing/trace_options
	done
}
text_file text-local local "" trace
text_file text-mono mono "record-tgid" trace
text_file text-boot boot "" trace
text_file text-global global "noirq-info" trace
text_file text-counter counter "" trace
text_file text-latency local "latency-format" trace
# By all at the same time; where SCHEDSCOPE names the program.
if [ -n "${SCHEDSCOPE:-}" ] && is_wanted together; then
	cp "$SCHEDSCOPE" ./schedscope
	./schedscope record --events default,wakeup --duration 100 -o together.pftrace >$out/together.log 2>&1 &
	ours=$!
	while [ "$(stat -c %s together.pftrace 2>/dev/null || echo 0)" -lt 4096 ]; do sleep 0.2; done
	sleep 1
	# shellcheck disable=SC2086
	trace-cmd start -C mono -b 4096 $some >>$out/together.log 2>&1
	# shellcheck disable=SC2086
	perf record -a -k CLOCK_MONOTONIC -m 1024 $some -o together.data $mix >>$out/together.log 2>&1
	trace-cmd stop
	cat $tracing/trace >$out/together.txt
	trace-cmd extract -o $out/together.dat >>$out/together.log 2>&1
	trace-cmd reset
	kill -INT $ours
	wait $ours
	cp together.pftrace together.data $out/
fi
umount /proc/kallsyms
echo "all done"
