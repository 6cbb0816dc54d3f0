#include "stat/tally/outliers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void copy_name(char to[STAT_COMM_LEN], const char from[STAT_COMM_LEN])
{
	size_t len = strnlen(from, STAT_COMM_LEN - 1);

	memset(to, 0, STAT_COMM_LEN);
	memcpy(to, from, len);
}

static void add_slice(struct outlier *o, const struct stat_slice *slice, uint64_t ns)
{
	struct outlier_holder *h = o->holders;

	o->unexplained_ns -= ns;
	if (slice->tid == 0) {
		o->idle_ns += ns;
		return;
	}
	while (h < o->holders + o->nr_holders && h->tid != slice->tid)
		h++;
	if (h == o->holders + o->nr_holders) {
		o->nr_holders++;
		h->tid = slice->tid;
		h->tgid = slice->tgid;
		copy_name(h->comm, slice->comm);
	}
	h->nr_slices++;
	h->ns += ns;
}

/* The part of a slice that lies in [since, *until); *until moves back to where it began. */
static void add_part(struct outlier *o, const struct stat_slice *s, uint64_t slice_end,
                     uint64_t *until_ns)
{
	uint64_t since_ns = o->at_ns - o->wait_ns;
	uint64_t first = s->start_ns > since_ns ? s->start_ns : since_ns;
	uint64_t end = slice_end < *until_ns ? slice_end : *until_ns;

	if (s->start_ns >= slice_end)
		return;
	if (first < end)
		add_slice(o, s, end - first);
	if (s->start_ns < *until_ns)
		*until_ns = s->start_ns;
}

/*
 * From the latest slice back: each ends where the one after it began at the latest, so that no moment is
 * explained twice. A ring that was never full holds empty slices, which are passed over. The one that still
 * runs matters where the waiting task was taken to another CPU.
 */
static void add_history(struct outlier *o, const struct stat_history *history)
{
	uint64_t until_ns = o->at_ns;

	if (history->running.start_ns)
		add_part(o, &history->running, o->at_ns, &until_ns);
	for (uint32_t i = 1; i <= STAT_HISTORY; i++) {
		const struct stat_slice *s = &history->slices[(history->next - i) % STAT_HISTORY];

		add_part(o, s, s->end_ns, &until_ns);
	}
}

static int longest_first(const void *a, const void *b)
{
	const struct outlier_holder *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

int outlier_read(const void *rec, size_t len, struct outlier *out)
{
	struct stat_outlier in;

	if (len != sizeof(in))
		return -EBADMSG;
	memcpy(&in, rec, sizeof(in));
	if (in.rec.size != sizeof(in) || in.rec.kind != STAT_REC_OUTLIER || in.tid == 0 ||
	    in.wait_ns > in.at_ns || in.cause > STAT_CAUSE_NEW)
		return -EBADMSG;
	*out = (struct outlier){
		.at_ns = in.at_ns,
		.wait_ns = in.wait_ns,
		.cause = (enum stat_cause)in.cause,
		.cpu = in.cpu,
		.wait_cpu = in.wait_cpu,
		.tid = in.tid,
		.tgid = in.tgid,
		.cgroup_id = in.cgroup_id,
		.unexplained_ns = in.wait_ns,
	};
	copy_name(out->comm, in.comm);
	add_history(out, &in.history);
	qsort(out->holders, out->nr_holders, sizeof(out->holders[0]), longest_first);
	return 0;
}
