/*
 * fuzz/fuzz_tally — feeds records to the tally and the outliers: raw bytes, and sound headers with patched contents, which
 * reach deeper. Aborts when a view contradicts itself.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "stat/tally/outliers.h"
#include "stat/tally/tally.h"

#define NR_CPUS 2

union record {
	struct stat_rec rec;
	struct stat_task task;
	struct stat_waking waking;
	struct stat_outlier outlier;
	struct stat_cpu cpu;
	uint8_t bytes[sizeof(struct stat_task) + STAT_STORED_METRICS * sizeof(struct abi_hist)];
};

/* Overwrites some words, so that few bytes of input make a large record. */
static void patch(struct fuzz_input *in, uint8_t *bytes, size_t len)
{
	for (uint64_t n = fuzz_take(in, 1) % 16; n; n--) {
		size_t at = (fuzz_take(in, 2) * 4) % (len - 8);
		uint64_t v = fuzz_take(in, 1 + fuzz_take(in, 1) % 8);

		memcpy(bytes + at, &v, sizeof(v));
	}
}

static size_t make_task(struct fuzz_input *in, union record *r)
{
	uint8_t mask = fuzz_take(in, 1) % (1U << STAT_STORED_METRICS);
	size_t len = sizeof(r->task) + (size_t)__builtin_popcount(mask) * sizeof(struct abi_hist);

	patch(in, r->bytes, len);
	r->rec = (struct stat_rec){ (uint32_t)len, STAT_REC_TASK, fuzz_take(in, 1) & 1, mask };
	r->task.id.tid = (uint32_t)fuzz_take(in, 1) % 8;
	return len;
}

static size_t make_waking(struct fuzz_input *in, union record *r)
{
	patch(in, r->bytes, sizeof(r->waking));
	r->rec = (struct stat_rec){ sizeof(r->waking), STAT_REC_WAKING, fuzz_take(in, 1) & 1, 0 };
	r->waking.id.tid = (uint32_t)fuzz_take(in, 1) % 8;
	return sizeof(r->waking);
}

static void feed_raw(struct tally *t, struct fuzz_input *in)
{
	size_t len = fuzz_take(in, 2);
	struct outlier o;

	if (len > in->left)
		len = in->left;
	(void)!tally_record(t, in->at, len, 1000);
	(void)!outlier_read(in->at, len, &o);
	in->at += len;
	in->left -= len;
}

static void feed_outlier(struct fuzz_input *in, union record *r)
{
	struct outlier o;
	uint64_t sum;

	patch(in, r->bytes, sizeof(r->outlier));
	r->rec = (struct stat_rec){ sizeof(r->outlier), STAT_REC_OUTLIER, 0, 0 };
	if (outlier_read(r, sizeof(r->outlier), &o) < 0)
		return;
	sum = o.idle_ns + o.unexplained_ns;
	for (uint32_t i = 0; i < o.nr_holders; i++)
		sum += o.holders[i].ns;
	if (sum != o.wait_ns)
		abort();
}

static void check_hist(const struct hist *h)
{
	uint64_t sum = 0;

	if (!h)
		return;
	for (uint32_t i = 0; i < HIST_SLOTS; i++)
		sum += h->slots[i];
	if (sum != h->count || h->min_ns > h->max_ns)
		abort();
}

static void check(const struct tally *t)
{
	for (size_t i = 0; i < tally_nr_rows(t); i++)
		for (int v = 0; v < TALLY_VIEWS; v++)
			for (uint32_t m = 0; m < TALLY_METRICS; m++)
				check_hist(tally_row_at(t, i)->view[v].hist[m]);
	for (uint32_t i = 0; i < NR_CPUS; i++)
		for (int v = 0; v < TALLY_VIEWS; v++)
			check_hist(&tally_cpu_at(t, i)->delay[v]);
}

static void step(struct tally *t, struct fuzz_input *in)
{
	union record r = { 0 };

	switch (fuzz_take(in, 1) % 8) {
	case 0:
		feed_raw(t, in);
		break;
	case 1:
		feed_outlier(in, &r);
		break;
	case 2:
		tally_begin_interval(t);
		break;
	case 3:
		tally_end_tick(t, fuzz_take(in, 4));
		break;
	case 4:
		patch(in, r.bytes, sizeof(r.cpu));
		tally_cpu_update(t, (uint32_t)fuzz_take(in, 1), &r.cpu, fuzz_take(in, 2));
		break;
	case 5:
		(void)!tally_record(t, &r, make_waking(in, &r), 0);
		break;
	default:
		(void)!tally_record(t, &r, make_task(in, &r), fuzz_take(in, 2));
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct tally_cfg cfg = {
		.by = (enum tally_by)(fuzz_take(&in, 1) % 4),
		.nr_cpus = NR_CPUS,
		.max_rows = 4,
	};
	struct tally *t = NULL;

	if (tally_new(&cfg, &t) < 0)
		return 0;
	while (in.left)
		step(t, &in);
	check(t);
	tally_free(t);
	return 0;
}
