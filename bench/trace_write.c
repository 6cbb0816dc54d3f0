/*
 * bench/trace_write — what it costs to write a scheduling event into a trace: time and bytes.
 *
 * A million switches and wakings of a busy machine, made beforehand, go through the writer in rounds; the
 * fastest round counts. Each result is a line "name value bar pass|fail".
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../tests/trace/records.h"
#include "trace/perfetto/write/writer.h"

#define NR_RECORDS 1000000U
#define NR_ROUNDS  7
#define BAR_NS     100.0
#define BAR_BYTES  12.0

union record {
	struct ev_switch sw;
	struct ev_wake wake;
};

struct result {
	double ns;
	double bytes;
};

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static union record *make_records(void)
{
	struct busy b = { .seed = 1, .now_ns = 1000000000, .step_ns = 1000 };
	union record *records = malloc(NR_RECORDS * sizeof(*records));

	for (uint32_t i = 0; records && i < NR_RECORDS; i++)
		memcpy(&records[i], busy_step(&b), sizeof(*records));
	return records;
}

/* One round into nowhere; negative time if it fails. */
static struct result run(const union record *records, bool is_compressed)
{
	struct trace_writer_cfg cfg = { .tool = "bench", .is_compressed = is_compressed };
	struct result result = { .ns = -1 };
	struct trace_writer_stats stats;
	struct trace_writer *w;
	struct ev_sink sink;
	struct diag d = { 0 };
	double start = cpu_ns();
	int err;

	if (trace_writer_create("/dev/null", &cfg, &d, &w) < 0)
		return result;
	sink = trace_writer_sink(w);
	err = busy_introduce(sink, false);
	for (uint32_t i = 0; i < NR_RECORDS && !err; i++)
		err = sink.push(sink.ctx, &records[i].sw.hdr);
	if (!err)
		err = trace_writer_flush(w, &d);
	trace_writer_stats(w, &stats);
	if (trace_writer_close(w, &d) == 0 && !err) {
		result.ns = (cpu_ns() - start) / NR_RECORDS;
		result.bytes = (double)stats.nr_bytes / NR_RECORDS;
	}
	return result;
}

static int show(const char *name, double value, double bar)
{
	bool is_good = value >= 0 && value <= bar;

	printf("%s %.2f %.2f %s\n", name, value, bar, is_good ? "pass" : "fail");
	return is_good ? 0 : 1;
}

int main(void)
{
	union record *records = make_records();
	struct result best[2] = { 0 }, r;
	int failed;

	if (!records)
		return 1;
	for (int round = 0; round < NR_ROUNDS; round++)
		for (int is_compressed = 0; is_compressed < 2; is_compressed++) {
			r = run(records, is_compressed);
			if (round == 0 || r.ns < best[is_compressed].ns)
				best[is_compressed] = r;
		}
	printf("compressed: %.1f ns, %.2f bytes per event\n", best[1].ns, best[1].bytes);
	failed = show("trace-write-ns", best[0].ns, BAR_NS);
	failed |= show("trace-write-bytes", best[0].bytes, BAR_BYTES);
	free(records);
	return failed;
}
