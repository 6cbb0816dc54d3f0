/* fuzz/fuzz_sql — any text as SQL over a small recording: it is answered or refused with a sentence, soon, and leaves nothing behind. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "model/pair.h"
#include "model/timeline.h"
#include "sql/sql.h"

#define MAX_NS     50000000ULL
#define MAX_MEMORY ((uint64_t)16 << 20)

struct machine {
	struct tasks *tasks;
	struct pair *pair;
	struct timeline *timeline;
	struct source_facts facts;
	struct source source;
};

static void put(const struct machine *m, const void *rec)
{
	struct ev_sink sink = pair_sink(m->pair);

	fuzz_check(sink.push(sink.ctx, rec) == 0);
}

static void put_events(const struct machine *m)
{
	for (uint32_t i = 1; i < 60; i++) {
		struct ev_switch sw = { .hdr = { sizeof(sw), EV_SWITCH, 0, i % 3, 100ULL * i },
			                .prev_tid = (i - 1) % 5,
			                .next_tid = (i + 2) % 5,
			                .prev_state = i % 4 ? EV_STATE_S : EV_STATE_RUNNABLE,
			                .prev_prio = 120,
			                .next_prio = (int16_t)(i % 140) };
		struct ev_wake wake = { .hdr = { sizeof(wake), EV_WAKING, 0, i % 3,
			                         100ULL * i + 50 },
			                .tid = i % 7,
			                .waker_tid = 1,
			                .prio = -1 };
		struct ev_fork fork = { .hdr = { sizeof(fork), EV_FORK, 0, 0, 100ULL * i + 60 },
			                .tid = 50 + i,
			                .tgid = 50,
			                .comm = "child" };
		struct ev_softirq soft = { .hdr = { sizeof(soft), EV_SOFTIRQ_ENTRY, 0, i % 3,
			                            100ULL * i + 70 },
			                   .vector = i % 12 };

		put(m, &sw);
		put(m, &wake);
		put(m, &fork);
		put(m, &soft);
		soft.hdr.kind = EV_SOFTIRQ_EXIT;
		soft.hdr.ts_ns += 5;
		put(m, &soft);
	}
}

static void open_machine(struct machine *m)
{
	struct pair_out rows;

	fuzz_check(tasks_new(&(struct tasks_cfg){ .keep_dead_ns = UINT64_MAX }, &m->tasks) == 0);
	fuzz_check(pair_new(&(struct pair_cfg){ .tasks = m->tasks, .nr_cpus = 3 }, &m->pair) == 0);
	fuzz_check(timeline_new(&(struct timeline_cfg){ .cap_bytes = 64 << 20 }, &m->timeline) ==
	           0);
	rows = timeline_out(m->timeline);
	fuzz_check(pair_add_out(m->pair, &rows) == 0);
	put_events(m);
	pair_finish(m->pair, 7000);
	m->facts = (struct source_facts){ .name = "fuzz", .producer = "fuzz", .nr_cpus = 3 };
	m->source = (struct source){ .timeline = m->timeline,
		                     .tasks = m->tasks,
		                     .pair = m->pair,
		                     .facts = &m->facts,
		                     .end_ns = 7000 };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct sql_query q = { .text = text,
		               .max_rows = 100,
		               .max_bytes = 10000,
		               .max_ns = MAX_NS,
		               .max_memory = MAX_MEMORY,
		               .shape = size % 2 ? SQL_ARRAYS : SQL_OBJECTS };
	struct report *r = report_new(1 << 20);
	struct machine m = { 0 };
	struct sql_result result;
	struct diag d = { 0 };
	int err;

	open_machine(&m);
	report_begin_object(r, NULL);
	err = sql_run(&m.source, &q, r, &result, &d);
	fuzz_check(!err || (d.code == err && d.what[0]));
	if (!err) {
		report_end_object(r);
		fuzz_check(result.nr_rows <= q.max_rows);
		fuzz_check(report_error(r) ||
		           report_u64_at(report_root(r), "row_count") == result.nr_rows);
	}
	report_free(r);
	timeline_free(m.timeline);
	pair_free(m.pair);
	tasks_free(m.tasks);
	free(text);
	return 0;
}
