/*
 * fuzz/fuzz_query — any words as a query, run over a few events. Lines of the input are words; the first letter says
 * what a word is: w condition, s fields, o order, f function, g group, e event.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "model/event_log.h"
#include "model/pair.h"
#include "query/event_fields.h"
#include "query/query.h"

struct machine {
	struct tasks *tasks;
	struct pair *pair;
	struct event_log *log;
	struct source_facts facts;
	struct source source;
};

static void put(const struct machine *m, const void *rec)
{
	struct ev_sink pair = pair_sink(m->pair), log = event_log_sink(m->log);

	fuzz_check(pair.push(pair.ctx, rec) == 0);
	fuzz_check(log.push(log.ctx, rec) == 0);
}

static void put_events(const struct machine *m)
{
	for (uint32_t i = 1; i < 40; i++) {
		struct ev_switch sw = { .hdr = { sizeof(sw), EV_SWITCH, 0, i % 3, 100ULL * i },
			                .prev_tid = i % 5,
			                .next_tid = (i + 1) % 5 };
		struct ev_wake wake = { .hdr = { sizeof(wake), EV_WAKING, 0, i % 3,
			                         100ULL * i + 50 },
			                .tid = i % 7,
			                .waker_tid = 1,
			                .prio = -1 };
		struct ev_fork fork = { .hdr = { sizeof(fork), EV_FORK, 0, 0, 100ULL * i + 60 },
			                .tid = 50 + i,
			                .tgid = 50,
			                .comm = "child" };

		put(m, &sw);
		put(m, &wake);
		put(m, &fork);
	}
}

static void open_machine(struct machine *m)
{
	fuzz_check(tasks_new(&(struct tasks_cfg){ .keep_dead_ns = UINT64_MAX }, &m->tasks) == 0);
	fuzz_check(pair_new(&(struct pair_cfg){ .tasks = m->tasks }, &m->pair) == 0);
	fuzz_check(event_log_new(&(struct event_log_cfg){ .cap_bytes = 1 << 20 }, &m->log) == 0);
	put_events(m);
	m->source = (struct source){ .tasks = m->tasks,
		                     .pair = m->pair,
		                     .log = m->log,
		                     .facts = &m->facts,
		                     .end_ns = 5000 };
}

static int parse_word(const char *word, struct query *q, struct diag *d)
{
	switch (word[0]) {
	case 'w':
		return query_parse_where(word + 1, q, d);
	case 's':
		return query_parse_select(word + 1, q, d);
	case 'o':
		return query_parse_sort(word + 1, q, d);
	case 'f':
		return query_parse_fn(word + 1, q, d);
	case 'g':
		return query_set_group(word + 1, q, d);
	case 'e':
		q->kinds |= event_kinds_by_name(word + 1);
		return 0;
	default:
		return 0;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct query q = { .cpu = EVENT_LOG_ANY, .tid = EVENT_LOG_ANY, .limit = 20 };
	char *text = fuzz_text(data, size), *rest = text, *word;
	struct report *r = report_new(1 << 20);
	struct machine m = { 0 };
	struct diag d;

	while ((word = strsep(&rest, "\n"))) {
		int err;

		d = (struct diag){ 0 };
		err = parse_word(word, &q, &d);
		fuzz_check(!err || (d.code == err && d.what[0]));
	}
	open_machine(&m);
	d = (struct diag){ 0 };
	report_begin_object(r, NULL);
	if (query_run(&m.source, &q, r, &d) == 0) {
		report_end_object(r);
		fuzz_check(report_error(r) == 0 && report_at(report_root(r), "total_matched"));
	}
	report_free(r);
	event_log_free(m.log);
	pair_free(m.pair);
	tasks_free(m.tasks);
	free(text);
	return 0;
}
