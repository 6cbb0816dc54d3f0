/*
 * flight_demo FILE [killed]: 20 s of records through a flight recorder, for test_flight_dump.py to read the dump.
 *
 * Every 10 ms, task 100 is woken on CPU 0 and runs for 1 ms after 0.1 ms; at 15 s after 20 ms, which fires.
 * CPU 1 gets 200 at 12.5 s and keeps it. Thread 101 runs on CPU 0 at each full second, and changes its name at
 * 5 s and at 15.5 s. 300 lives from 6 to 7 s, and another 300 from 14.2 s on. 2 s before and 1 s after are kept.
 * Prints the stats. With "killed" it ends in the middle of the dump, without a word.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../trace/records.h"
#include "record/flight_box.h"

#define US     1000ULL
#define MS     1000000ULL
#define SECOND (1000 * MS)

struct demo {
	const char *path;
	struct flight_box *box;
	struct ev_sink sink;
};

static int open_trace(void *ctx, const struct trigger_hit *hit, const struct trace_attr *attrs,
                      size_t nr_attrs, struct diag *d, struct trace_writer **out)
{
	const struct demo *demo = ctx;
	struct trace_writer_cfg cfg = { .tool = "schedscope",
		                        .attrs = attrs,
		                        .nr_attrs = nr_attrs };

	(void)hit;
	return trace_writer_create(demo->path, &cfg, d, out);
}

static void ended(void *ctx, const struct flight_dump *dump)
{
	(void)ctx;
	printf("{\"value\": %llu, \"before_ns\": %llu, \"after_ns\": %llu, \"code\": %d, ",
	       (unsigned long long)dump->hit.value, (unsigned long long)dump->before_ns,
	       (unsigned long long)dump->after_ns, dump->diag.code);
}

static void push(const struct demo *d, const struct ev_hdr *rec)
{
	if (d->sink.push(d->sink.ctx, rec))
		exit(1);
}

static void run_task(const struct demo *d, uint32_t tid, uint64_t ts, uint64_t latency_ns)
{
	push(d, rec_waking(1, ts, 200, tid, 0));
	push(d, rec_switch(0, ts + latency_ns, 0, 0, tid));
	push(d, rec_switch(0, ts + latency_ns + MS, tid, EV_STATE_S, 0));
}

static void live(const struct demo *d, uint64_t ts, uint32_t tid, const char *comm)
{
	struct ev_fork rec = { .hdr = HDR(ev_fork, EV_FORK, 0, ts),
		               .parent_tid = 100,
		               .parent_tgid = 100,
		               .tid = tid,
		               .tgid = tid };

	memcpy(rec.comm, comm, strlen(comm));
	push(d, &rec.hdr);
}

static void change_name(const struct demo *d, uint64_t ts, const char *comm)
{
	struct ev_rename rec = { .hdr = HDR(ev_rename, EV_RENAME, 0, ts), .tid = 101, .tgid = 100 };

	memcpy(rec.comm, comm, strlen(comm));
	push(d, &rec.hdr);
}

/* What happens besides, in the 10 ms that begin at ts. */
static void write_more(const struct demo *d, uint64_t ts)
{
	if (ts == 5 * SECOND)
		change_name(d, ts, "second");
	if (ts == 15 * SECOND + 500 * MS)
		change_name(d, ts, "third");
	if (ts == 6 * SECOND)
		live(d, ts, 300, "shortlived");
	if (ts == 7 * SECOND) {
		push(d,
		     REC(ev_exit, EV_EXIT, 0, ts, .tid = 300, .tgid = 300, .comm = "shortlived"));
		push(d, REC(ev_free, EV_FREE, 0, ts, .tid = 300, .comm = "shortlived"));
	}
	if (ts == 12 * SECOND + 500 * MS)
		push(d, rec_switch(1, ts, 0, 0, 200));
	if (ts == 14 * SECOND + 200 * MS)
		live(d, ts, 300, "another");
}

static void losses(void *ctx, struct losses *out)
{
	(void)ctx;
	out->nr[LOSS_searches_aborted] = 3;
}

static void write_all(const struct demo *d, bool is_killed)
{
	push(d, rec_task_info(100, 100, 1, "server"));
	push(d, rec_task_info(101, 100, 1, "first"));
	push(d, rec_task_info(200, 200, 1, "hog"));
	for (uint64_t ts = 10 * MS; ts <= 20 * SECOND; ts += 10 * MS) {
		bool is_slow = ts == 15 * SECOND - 30 * MS;

		write_more(d, ts);
		if (is_slow)
			run_task(d, 100, ts, 20 * MS);
		else if (ts < 15 * SECOND - 30 * MS || ts > 15 * SECOND)
			run_task(d, 100, ts + 100 * US, 100 * US);
		if (ts % SECOND == 0)
			run_task(d, 101, ts + 5 * MS, 100 * US);
		if (d->sink.advance(d->sink.ctx, ts + 9 * MS))
			exit(1);
		(void)flight_box_pump(d->box);
		if (is_killed && ts == 15 * SECOND + 700 * MS)
			_exit(0);
	}
}

int main(int argc, char **argv)
{
	static const char *const text[] = { "wakeup-latency>10ms" };
	struct demo d = { .path = argv[1] };
	struct trigger trigger;
	struct flight_box_cfg cfg = {
		.keep_ns = 2 * SECOND,
		.after_ns = SECOND,
		.cooldown_ns = 10 * SECOND,
		.keep_bytes = 4 << 20,
		.nr_cpus = 2,
		.triggers = &trigger,
		.trigger_texts = text,
		.nr_triggers = 1,
		.calls = { .ctx = &d, .open = open_trace, .losses = losses, .ended = ended },
	};
	struct flight_box_stats stats;

	if (argc < 2 || trigger_parse(text[0], NULL, &trigger) ||
	    flight_box_new(&cfg, NULL, &d.box))
		return 1;
	d.sink = flight_box_sink(d.box);
	write_all(&d, argc > 2);
	flight_box_finish(d.box);
	flight_box_stats(d.box, &stats);
	printf("\"dumps\": %llu, \"fired\": %llu}\n", (unsigned long long)stats.dumps,
	       (unsigned long long)stats.fired);
	flight_box_free(d.box);
	return 0;
}
