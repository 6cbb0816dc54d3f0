/*
 * make_trace OUT EVENTS [CPUS [THREADS]] — a Perfetto trace of a made-up machine for the benchmarks: verbose
 * sched_switch and sched_waking events in bundles per CPU, as Perfetto's recorder writes them. The same arguments give
 * the same bytes. Threads wake each other, wait, run, are preempted and sleep; every switch follows from the one
 * before it on its CPU.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pb_write.h"

#define MAX_CPUS     512
#define MAX_THREADS  20000
#define BUNDLE       256 /* events */
#define FIRST_TID    1000
#define FIRST_NS     1000000000000ULL
#define TICK_NS      700 /* mean time between events of all CPUs */
#define S_SLEEPING   1
#define S_PREEMPTED  256
#define PRIO_DEFAULT 120

struct machine {
	uint64_t seed, now_ns;
	uint32_t nr_cpus, nr_threads;
	uint32_t on_cpu[MAX_CPUS];                         /* thread + 1; 0 = idle */
	uint32_t queue[MAX_CPUS][64], nr_queued[MAX_CPUS]; /* threads */
	uint8_t is_asleep[MAX_THREADS];
	struct pb bundles[MAX_CPUS];
	uint32_t nr_in_bundle[MAX_CPUS];
	FILE *out;
};

static uint32_t roll(struct machine *m, uint32_t n)
{
	m->seed = m->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(m->seed >> 33) % n;
}

static uint32_t tid_of(uint32_t thread_plus_1)
{
	return thread_plus_1 ? FIRST_TID + thread_plus_1 - 1 : 0;
}

static void comm_of(uint32_t thread_plus_1, uint32_t cpu, char buf[32])
{
	if (thread_plus_1)
		snprintf(buf, 32, "worker-%u", (thread_plus_1 - 1) / 8);
	else
		snprintf(buf, 32, "swapper/%u", cpu);
}

static void write_packet(struct machine *m, const struct pb *body)
{
	struct pb packet = { .cap = (size_t)64 << 20 };
	struct pb_mark mark = pb_begin_large(&packet, 1);

	pb_raw(&packet, body->buf, body->len);
	pb_end(&packet, mark);
	if (packet.error || fwrite(packet.buf, 1, packet.len, m->out) != packet.len) {
		perror("cannot write");
		exit(1);
	}
	pb_done(&packet);
}

static void flush_bundle(struct machine *m, uint32_t cpu)
{
	struct pb body = { .cap = (size_t)64 << 20 };
	struct pb_mark mark;

	if (!m->nr_in_bundle[cpu])
		return;
	pb_uint(&body, 10, 2);
	mark = pb_begin_large(&body, 1);
	pb_uint(&body, 1, cpu);
	pb_raw(&body, m->bundles[cpu].buf, m->bundles[cpu].len);
	pb_end(&body, mark);
	write_packet(m, &body);
	pb_done(&body);
	pb_clear(&m->bundles[cpu]);
	m->nr_in_bundle[cpu] = 0;
}

static void end_event(struct machine *m, uint32_t cpu, struct pb_mark mark)
{
	pb_end(&m->bundles[cpu], mark);
	if (++m->nr_in_bundle[cpu] == BUNDLE)
		flush_bundle(m, cpu);
}

static void write_switch(struct machine *m, uint32_t cpu, uint32_t prev, uint32_t state,
                         uint32_t next)
{
	struct pb *b = &m->bundles[cpu];
	struct pb_mark event = pb_begin(b, 2), body;
	char comm[32];

	pb_uint(b, 1, m->now_ns);
	pb_uint(b, 2, tid_of(prev));
	body = pb_begin(b, 4);
	comm_of(prev, cpu, comm);
	pb_string(b, 1, comm);
	pb_uint(b, 2, tid_of(prev));
	pb_uint(b, 3, PRIO_DEFAULT);
	pb_uint(b, 4, state);
	comm_of(next, cpu, comm);
	pb_string(b, 5, comm);
	pb_uint(b, 6, tid_of(next));
	pb_uint(b, 7, PRIO_DEFAULT);
	pb_end(b, body);
	end_event(m, cpu, event);
}

static void write_waking(struct machine *m, uint32_t cpu, uint32_t wakee, uint32_t target)
{
	struct pb *b = &m->bundles[cpu];
	struct pb_mark event = pb_begin(b, 2), body;
	char comm[32];

	pb_uint(b, 1, m->now_ns);
	pb_uint(b, 2, tid_of(m->on_cpu[cpu]));
	body = pb_begin(b, 20);
	comm_of(wakee, cpu, comm);
	pb_string(b, 1, comm);
	pb_uint(b, 2, tid_of(wakee));
	pb_uint(b, 3, PRIO_DEFAULT);
	pb_uint(b, 4, 1);
	pb_uint(b, 5, target);
	pb_end(b, body);
	end_event(m, cpu, event);
}

/* The thread on the CPU, or the idle task, gives way. */
static int do_switch(struct machine *m, uint32_t cpu)
{
	uint32_t prev = m->on_cpu[cpu], next = 0, state = 0;

	if (m->nr_queued[cpu]) {
		next = m->queue[cpu][0] + 1;
		memmove(m->queue[cpu], m->queue[cpu] + 1, --m->nr_queued[cpu] * sizeof(uint32_t));
	}
	if (prev && next && roll(m, 4) == 0) {
		state = S_PREEMPTED;
		m->queue[cpu][m->nr_queued[cpu]++] = prev - 1;
	} else if (prev) {
		state = S_SLEEPING;
		m->is_asleep[prev - 1] = 1;
	}
	if (prev == next)
		return 0;
	m->on_cpu[cpu] = next;
	write_switch(m, cpu, prev, state, next);
	return 1;
}

static int do_waking(struct machine *m, uint32_t cpu)
{
	uint32_t thread = roll(m, m->nr_threads), target = roll(m, m->nr_cpus);

	if (!m->is_asleep[thread] || m->nr_queued[target] == 60)
		return 0;
	m->is_asleep[thread] = 0;
	m->queue[target][m->nr_queued[target]++] = thread;
	write_waking(m, cpu, thread + 1, target);
	return 1;
}

/* So that the trace has a clock, and a kernel that reports states as current ones do. */
static void write_header(struct machine *m)
{
	struct pb body = { .cap = 4096 };
	struct pb_mark outer = pb_begin(&body, 45), inner = pb_begin(&body, 1);

	pb_string(&body, 1, "Linux");
	pb_string(&body, 3, "6.12.0");
	pb_end(&body, inner);
	pb_uint(&body, 8, m->nr_cpus);
	pb_end(&body, outer);
	write_packet(m, &body);
	pb_done(&body);
}

static uint32_t number(const char *text, uint32_t fallback, uint32_t max)
{
	unsigned long value = text ? strtoul(text, NULL, 10) : fallback;

	return value > max ? max : (uint32_t)value;
}

int main(int argc, char **argv)
{
	struct machine *m = calloc(1, sizeof(*m));
	uint64_t wanted, done = 0;

	if (!m || argc < 3 || argc > 5) {
		fprintf(stderr, "make_trace OUT EVENTS [CPUS [THREADS]]\n");
		return 2;
	}
	wanted = strtoull(argv[2], NULL, 10);
	m->nr_cpus = number(argc > 3 ? argv[3] : NULL, 8, MAX_CPUS);
	m->nr_threads = number(argc > 4 ? argv[4] : NULL, 200, MAX_THREADS);
	m->seed = 42;
	m->now_ns = FIRST_NS;
	m->out = fopen(argv[1], "wb");
	if (!m->out) {
		perror(argv[1]);
		return 1;
	}
	for (uint32_t i = 0; i < MAX_CPUS; i++)
		m->bundles[i].cap = (size_t)1 << 20;
	memset(m->is_asleep, 1, sizeof(m->is_asleep));
	write_header(m);
	while (done < wanted) {
		uint32_t cpu = roll(m, m->nr_cpus);

		m->now_ns += 1 + roll(m, 2 * TICK_NS);
		done += (uint64_t)(roll(m, 2) ? do_switch(m, cpu) : do_waking(m, cpu));
	}
	for (uint32_t cpu = 0; cpu < m->nr_cpus; cpu++) {
		flush_bundle(m, cpu);
		pb_done(&m->bundles[cpu]);
	}
	if (fclose(m->out)) {
		perror(argv[1]);
		return 1;
	}
	free(m);
	return 0;
}
