/*
 * load FILE [BIG_FILE] — how long loading a trace into tables takes, against a bare walk over the same bytes: one
 * thread that visits every field and keeps nothing. Then the ledger of all waits and all analyses against the load, and queries of 1,000 rows.
 * Rounds are interleaved and the best of each counts, so that others on the machine matter little.
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/batch.h"
#include "analyses/passes.h"
#include "base/clock.h"
#include "model/event_log.h"
#include "query/query.h"
#include "record/recording.h"

#define ROUNDS     5
#define LOAD_BAR   5.0
#define PASSES_BAR 2.0
#define LEDGER_BAR 1.0
#define QUERY_BAR  0.01
#define MEMORY_BAR 3.0
#define GROWTH_BAR 1.25
#define QUERY_ROWS 1000

static const uint8_t *read_varint(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; p < end && shift < 64; shift += 7) {
		value |= (uint64_t)(*p & 0x7f) << shift;
		if (!(*p++ & 0x80))
			break;
	}
	*out = value;
	return p;
}

/* Whether a field of length is a message, in what a benchmark's trace holds: packets, bundles, events, bodies. */
static int is_message(int depth, uint64_t field)
{
	switch (depth) {
	case 0:
	case 1:
		return field == 1;
	case 2:
		return field == 2;
	case 3:
		return field == 4 || field == 20;
	default:
		return 0;
	}
}

static uint64_t walk(const uint8_t *p, const uint8_t *end, int depth)
{
	uint64_t sum = 0, tag, value;

	while (p < end) {
		p = read_varint(p, end, &tag);
		p = read_varint(p, end, &value);
		sum += value;
		if ((tag & 7) != 2)
			continue;
		if (value > (uint64_t)(end - p))
			return sum;
		sum += is_message(depth, tag >> 3) ? walk(p, p + value, depth + 1) : p[0];
		p += value;
	}
	return sum;
}

static uint8_t *read_all(const char *path, size_t *len)
{
	FILE *in = fopen(path, "rb");
	uint8_t *bytes = NULL;
	long size;

	if (!in || fseek(in, 0, SEEK_END) || (size = ftell(in)) <= 0 || fseek(in, 0, SEEK_SET)) {
		perror(path);
		exit(1);
	}
	bytes = malloc((size_t)size);
	*len = bytes ? fread(bytes, 1, (size_t)size, in) : 0;
	fclose(in);
	return bytes;
}

static double min_of(double a, double b)
{
	return a < b ? a : b;
}

static double ms_since(uint64_t start_ns)
{
	return (double)(clock_boot_ns() - start_ns) / 1e6;
}

static struct recording *load(const char *path)
{
	struct recording_cfg cfg = { 0 };
	struct recording *r = NULL;
	struct diag d = { 0 };

	if (recording_open(path, &cfg, &d, &r)) {
		fprintf(stderr, "%s: %s\n", path, d.what);
		exit(1);
	}
	return r;
}

static double time_passes(const struct source *s, int is_reported)
{
	struct pass_args args = { .cpu = PASS_ANY_CPU, .layer = EV_NO_LAYER };
	uint64_t start = clock_boot_ns();
	struct diag d = { 0 };
	struct batch b;
	double ms;

	if (batch_run(s, &args, NULL, &d, &b)) {
		fprintf(stderr, "%s\n", d.what);
		exit(1);
	}
	ms = ms_since(start);
	for (size_t i = 0; i < b.nr; i++) {
		if (!b.results[i].report)
			fprintf(stderr, "%s: %s\n", b.results[i].pass->id, b.results[i].d.what);
		if (is_reported)
			printf("  %-28s %8.2f ms\n", b.results[i].pass->id,
			       (double)b.results[i].ns / 1e6);
	}
	batch_done(&b);
	return ms;
}

/* The parts of all waits, by who waited for whom: alone, with all that has to be built for it. */
static double time_ledger(const struct source *s)
{
	struct pass_args args = { .cpu = PASS_ANY_CPU, .layer = EV_NO_LAYER };
	uint64_t start = clock_boot_ns();
	struct report *r = NULL;
	struct diag d = { 0 };
	double ms;

	if (pass_run(&pass_blame, s, &args, &d, &r)) {
		fprintf(stderr, "blame: %s\n", d.what);
		exit(1);
	}
	ms = ms_since(start);
	report_free(r);
	return ms;
}

/* By CPU, by task and by time, each of 1,000 rows: the slowest. */
static double time_query(const struct source *s)
{
	struct query base = { .cpu = EVENT_LOG_ANY, .tid = EVENT_LOG_ANY, .limit = QUERY_ROWS };
	struct query queries[3] = { base, base, base };
	uint64_t middle = s->start_ns + (s->end_ns - s->start_ns) / 2;
	double worst = 0;

	queries[0].cpu = 3;
	queries[1].tid = 1042;
	queries[2].from_ns = middle;
	queries[2].to_ns = middle + 700 * QUERY_ROWS;
	queries[0].from_ns = queries[1].from_ns = middle;
	queries[0].to_ns = queries[1].to_ns = middle + (s->end_ns - s->start_ns) / 100;
	for (int i = 0; i < 3; i++) {
		double best = 1e9;

		for (int round = 0; round < ROUNDS; round++) {
			struct report *r = report_new(0);
			uint64_t start = clock_boot_ns();
			struct diag d = { 0 };

			report_begin_object(r, NULL);
			if (query_run(s, &queries[i], r, &d))
				fprintf(stderr, "query: %s\n", d.what);
			report_end_object(r);
			best = min_of(best, ms_since(start));
			report_free(r);
		}
		worst = best > worst ? best : worst;
	}
	return worst;
}

static int verdict(const char *name, double value, double bar)
{
	printf("%s %.4g %.4g %s\n", name, value, bar, value <= bar ? "pass" : "fail");
	return value > bar;
}

struct times {
	double walk, load, ledger, passes, query, bytes_per_byte, bytes_per_event;
};

static struct times measure(const char *path, int is_reported)
{
	struct times t = { .walk = 1e9, .load = 1e9, .ledger = 1e9, .passes = 1e9 };
	size_t len = 0;
	uint8_t *bytes = read_all(path, &len);

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t start = clock_boot_ns();
		struct recording *r;

		if (!walk(bytes, bytes + len, 0)) /* so that it is not optimized away */
			fprintf(stderr, "%s: nothing to walk over\n", path);
		t.walk = min_of(t.walk, ms_since(start));
		start = clock_boot_ns();
		r = load(path);
		t.load = min_of(t.load, ms_since(start));
		t.bytes_per_byte = (double)recording_bytes(r) / (double)len;
		t.bytes_per_event = (double)recording_bytes(r) /
		                    (double)event_log_nr(recording_source(r)->log);
		t.ledger = min_of(t.ledger, time_ledger(recording_source(r)));
		t.passes = min_of(t.passes, time_passes(recording_source(r),
		                                        is_reported && round == ROUNDS - 1));
		t.query = time_query(recording_source(r));
		recording_close(r);
		malloc_trim(0);
	}
	free(bytes);
	printf("%s: walk %.1f ms, load %.1f ms, ledger %.1f ms, all analyses %.1f ms, query %.3f ms, memory %.2f per byte, %.1f per event\n",
	       path, t.walk, t.load, t.ledger, t.passes, t.query, t.bytes_per_byte,
	       t.bytes_per_event);
	return t;
}

int main(int argc, char **argv)
{
	struct times t, big;
	int failed = 0;

	if (argc < 2)
		return 2;
	t = measure(argv[1], 1);
	if (argc > 2) {
		big = measure(argv[2], 0);
		failed |= verdict("load-growth", big.load / big.walk / (t.load / t.walk),
		                  GROWTH_BAR);
	}
	failed |= verdict("load-ratio", t.load / t.walk, LOAD_BAR);
	failed |= verdict("load-memory-per-byte", t.bytes_per_byte, MEMORY_BAR);
	failed |= verdict("ledger-ratio", t.ledger / t.load, LEDGER_BAR);
	failed |= verdict("analyze-ratio", t.passes / t.load, PASSES_BAR);
	failed |= verdict("query-ratio", t.query / t.load, QUERY_BAR);
	return failed;
}
