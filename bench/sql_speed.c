/*
 * sql_speed FILE — how long SQL over the slices of a trace takes: one key, two keys and a filter, a join, a range of time. Beside each the
 * time of a plain walk over the same rows, so that a slow machine shows in both. CPU time of the best of several rounds counts, as others use the machine.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "record/recording.h"
#include "sql/sql.h"

#define ROUNDS 9

static const struct {
	const char *name;
	double bar_ms; /* 0 = none */
	const char *text;
} queries[] = {
	{ "sql-one-key", 150, "SELECT utid, count(*), sum(dur) FROM sched_slice GROUP BY utid" },
	{ "sql-one-text-key", 150,
	  "SELECT comm, count(*), sum(dur) FROM sched_slice GROUP BY comm" },
	{ "sql-two-keys", 250,
	  "SELECT comm, cpu, count(*), sum(dur) FROM sched_slice WHERE dur > 1000 GROUP BY comm, cpu" },
	{ "sql-join", 250,
	  "SELECT t.name, count(*), sum(s.dur) FROM thread t JOIN sched_slice s USING (utid) GROUP BY t.utid" },
	{ "sql-range", 10,
	  "SELECT count(*), sum(dur) FROM sched_slice WHERE ts >= (SELECT start_ts + dur / 2 FROM trace) AND "
	  "ts < (SELECT start_ts + dur / 2 + dur / 100 FROM trace)" },
};

static int ask(const struct source *s, const char *text, uint64_t *ns, uint64_t *rows)
{
	struct sql_query q = { .text = text, .shape = SQL_ARRAYS };
	struct report *r = report_new(0);
	struct sql_result result;
	struct diag d = { 0 };
	uint64_t start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	int err;

	report_begin_object(r, NULL);
	err = sql_run(s, &q, r, &result, &d);
	*ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
	*rows = result.nr_rows;
	report_free(r);
	if (err)
		fprintf(stderr, "%s: %s\n", text, d.what);
	return err;
}

static uint64_t walk(const struct source *s)
{
	struct timeline_query q = { TIMELINE_SLICE, TASKS_NONE, TIMELINE_ANY_CPU, 0, UINT64_MAX };
	uint64_t start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	struct timeline_iter it;
	union timeline_row row;
	uint64_t sum = 0;

	if (timeline_find(s->timeline, &q, &it))
		return 0;
	while (timeline_next(&it, NULL, &row))
		sum += row.slice.end_ns - row.slice.start_ns;
	/* The sum is used, so that the walk is not left out. */
	return sum ? clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns : 0;
}

int main(int argc, char **argv)
{
	struct recording_cfg cfg = { .name = argc > 1 ? argv[1] : NULL };
	struct recording *rec = NULL;
	const struct source *s;
	struct diag d = { 0 };
	int failed = 0;

	if (argc != 2 || recording_open(argv[1], &cfg, &d, &rec)) {
		fprintf(stderr, "sql_speed FILE: %s\n", d.what);
		return 2;
	}
	s = recording_source(rec);
	printf("%llu slices\n", (unsigned long long)(timeline_end(s->timeline, TIMELINE_SLICE) -
	                                             timeline_first(s->timeline, TIMELINE_SLICE)));
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		uint64_t best_ns = UINT64_MAX, walk_ns = UINT64_MAX, ns, rows = 0;

		for (int round = 0; round < ROUNDS; round++) {
			if (ask(s, queries[i].text, &ns, &rows))
				return 2;
			best_ns = ns < best_ns ? ns : best_ns;
			ns = walk(s);
			walk_ns = ns < walk_ns ? ns : walk_ns;
		}
		failed |= (double)best_ns / 1e6 > queries[i].bar_ms;
		printf("%-17s %6llu rows, %5.1f times a plain walk\n", queries[i].name,
		       (unsigned long long)rows, (double)best_ns / (double)walk_ns);
		printf("%s %.1f %.1f %s\n", queries[i].name, (double)best_ns / 1e6,
		       queries[i].bar_ms,
		       (double)best_ns / 1e6 <= queries[i].bar_ms ? "pass" : "fail");
	}
	recording_close(rec);
	return failed;
}
