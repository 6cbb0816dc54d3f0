/* How far a file reaches: whether its recorder finished it, and until when each CPU is recorded. */
#include <stdio.h>
#include <string.h>

#include "trace/merge.h"
#include "trace/perfetto/meta_in.h"
#include "trace/perfetto/schema.h"

#define KILLED "the recorder did not finish the file: it was killed, or the disk was full"

/* Only recorders that say how they end can be caught: of the others nothing is claimed. */
static const char *find_reason(const struct reader *r)
{
	const struct reader_meta *m = r->meta;
	uint64_t records;

	if (r->is_converted && meta_attr_text(r, "incomplete"))
		return meta_attr_text(r, "incomplete");
	if (r->info.producer == TRACE_BY_US && !meta_attr_number(r, "records", &records))
		return KILLED;
	if (m->final_flush == FINAL_FLUSH_FAILED)
		return "the recorder's last flush failed";
	if (m->has_trace_stats && !m->is_stats_last && !m->has_disabled)
		return KILLED;
	if (r->tally.damage[DAMAGE_TRUNCATED_BYTES])
		return "the file ends within a packet";
	return NULL;
}

/* What was converted is a finished file, though the one that it was made from may not be. */
static bool is_cut(const struct reader *r)
{
	uint64_t records;

	return r->info.incomplete && !(r->is_converted && meta_attr_number(r, "records", &records));
}

/* When the records of a CPU end in a finished file; 0 = at the end of the file. */
static uint64_t said_end(const struct reader *r, uint32_t cpu)
{
	uint64_t end_ns = 0;
	char key[32];

	(void)snprintf(key, sizeof(key), "end_ns.cpu%u", cpu);
	return r->info.producer == TRACE_BY_US && meta_attr_number(r, key, &end_ns) ? end_ns : 0;
}

void reach_find(struct reader *r, struct rec_out *out)
{
	struct read_counts *t = &r->tally;
	uint64_t start_ns, end_ns;

	r->info.incomplete = find_reason(r);
	if (t->min_ts_ns > t->max_ts_ns)
		return;
	/* Nothing happened from the last event to the end, and that is known. */
	if (r->info.producer == TRACE_BY_US && meta_attr_number(r, "end_ns", &end_ns))
		tally_time(t, end_ns);
	/* What was converted has the extent that it had, though tasks and stacks may lie outside of it. */
	if (r->is_converted && meta_attr_number(r, "start_ns", &start_ns) &&
	    meta_attr_number(r, "end_ns", &end_ns) && start_ns <= end_ns) {
		t->min_ts_ns = start_ns;
		t->max_ts_ns = end_ns;
	}
	for (size_t i = 0; i < t->nr_cpus; i++)
		t->cpus[i].until_ns = is_cut(r) ? t->cpus[i].last_ts_ns
		                                : said_end(r, t->cpus[i].cpu);
	reach_end_cpus(r, out);
}
