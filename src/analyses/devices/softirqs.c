#include "analyses/devices/softirqs.h"

#include "analyze/walk.h"
#include "model/interrupt.h"

void softirqs_done(void *softirqs)
{
	struct softirqs *x = softirqs;

	buckets_done(&x->vectors);
	buckets_done(&x->cpus);
	buckets_done(&x->tasks);
}

int softirqs_collect(void *softirqs)
{
	struct softirqs *x = softirqs;
	struct walk w = { .sc = &x->sc, .table = TIMELINE_SPAN, .kinds = 1ULL << PAIR_SOFTIRQ };
	const union timeline_row *row;
	int err;

	while ((row = walk_next(&w))) {
		uint64_t ns = row->span.end_ns - row->span.start_ns;
		uint32_t vector = (uint32_t)row->span.id;

		x->total++;
		x->total_ns += ns;
		buckets_add(&x->vectors, vector, ns);
		buckets_add(&x->cpus, bucket_pair(row->span.cpu, vector), ns);
		buckets_add(&x->tasks, bucket_pair(row->span.task, vector), ns);
	}
	err = buckets_order(&x->vectors);
	if (!err)
		err = buckets_order(&x->cpus);
	return err ? err : buckets_order(&x->tasks);
}

void softirqs_report_vector(struct report *r, uint32_t vector)
{
	report_u64(r, "softirq_nr", vector);
	report_string(r, "softirq_name", softirq_name(vector));
}
