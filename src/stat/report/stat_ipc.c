#include <errno.h>

#include "stat/report/stat_build.h"

static void add_entry(const struct stat_report_in *in, const struct stat_entry *e,
                      struct stat_ipc *out)
{
	for (uint32_t i = 0; i < STAT_IPC_COUNTERS; i++) {
		int index = in->ipc[i];

		out->has[i] = index >= 0 && index < STAT_COUNTERS;
		for (size_t k = 0; out->has[i] && k < e->nr_rows; k++)
			out->total[i] += e->rows[k]->view[in->view].counters[index];
	}
}

static bool ratio(const struct stat_ipc *ipc, uint32_t instructions, uint32_t cycles, double *out)
{
	if (!ipc->has[instructions] || !ipc->has[cycles] || !ipc->total[cycles])
		return false;
	*out = (double)ipc->total[instructions] / (double)ipc->total[cycles];
	return true;
}

static void finish(const struct stat_report_in *in, struct stat_ipc *ipc)
{
	double seconds = in->view == TALLY_INTERVAL ? in->interval_s : in->elapsed_s;

	for (uint32_t i = 0; i < STAT_IPC_COUNTERS; i++) {
		ipc->has[i] = ipc->has[i] && seconds > 0.0;
		if (ipc->has[i])
			ipc->per_s[i] = (double)ipc->total[i] / seconds;
	}
	ipc->has_user_ipc = ratio(ipc, STAT_IPC_USER_INSTRUCTIONS, STAT_IPC_USER_CYCLES,
	                          &ipc->user_ipc);
	ipc->has_kernel_ipc = ratio(ipc, STAT_IPC_KERNEL_INSTRUCTIONS, STAT_IPC_KERNEL_CYCLES,
	                            &ipc->kernel_ipc);
}

static double cycles_per_s(const struct stat_ipc *ipc)
{
	return ipc->per_s[STAT_IPC_USER_CYCLES] + ipc->per_s[STAT_IPC_KERNEL_CYCLES];
}

static double sort_key(const struct stat_report_in *in, const struct stat_ipc *ipc, uint64_t count)
{
	return in->sort == STAT_SORT_COUNT ? (double)count : cycles_per_s(ipc);
}

static bool has_any(const struct stat_ipc *ipc)
{
	for (uint32_t i = 0; i < STAT_IPC_COUNTERS; i++)
		if (ipc->total[i])
			return true;
	return false;
}

int stat_build_ipc(struct stat_build *b, struct stat_table *t)
{
	size_t nr = 0;

	for (size_t i = 0; i < b->counted.nr; i++) {
		const struct stat_entry *e = &b->counted.items[i];
		struct stat_ipc ipc = { 0 };
		uint64_t count = 0;

		add_entry(b->in, e, &ipc);
		if (!has_any(&ipc))
			continue;
		add_entry(b->in, e, &t->ipc);
		finish(b->in, &ipc);
		for (size_t k = 0; k < e->nr_rows; k++)
			count += e->rows[k]->view[b->in->view].counter_slices;
		b->cands[nr++] = (struct stat_cand){
			.entry = e,
			.key = sort_key(b->in, &ipc, count),
			.count = count,
			.band = stat_band_of(&stat_cycle_bands, (uint64_t)cycles_per_s(&ipc)),
		};
	}
	finish(b->in, &t->ipc);
	if (stat_rank(b, t, nr, &stat_cycle_bands) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++) {
		add_entry(b->in, b->cands[i].entry, &t->rows[i].ipc);
		finish(b->in, &t->rows[i].ipc);
	}
	return 0;
}
