#include <errno.h>

#include "stat/report/stat_build.h"

static bool is_hidden(const struct stat_build *b, const struct stat_table *t,
                      const struct tally_cpu *cpu)
{
	const struct hist *delay = &cpu->delay[TALLY_TOTAL];

	return t->id == STAT_TABLE_CPU_LATENCY && b->in->min_latency_us &&
	       stat_is_below(&delay, 1, b->in->min_latency_us);
}

static const struct hist *hist_of(const struct stat_build *b, const struct stat_table *t,
                                  const struct tally_cpu *cpu)
{
	if (t->id == STAT_TABLE_CPU_IDLE)
		return &cpu->idle[b->in->view];
	return &cpu->delay[b->in->view];
}

/* The rows in order of CPUs; a CPU that is idle all the time has one without samples. */
static void list_cpus(struct stat_build *b, struct stat_table *t, const struct stat_band_set *set,
                      size_t *nr_total)
{
	for (uint32_t i = 0; i < b->in->nr_cpus; i++) {
		const struct tally_cpu *cpu = b->in->cpus[i];
		struct stat_row *row = &t->rows[t->nr_rows];
		uint64_t open_ns;

		if (!cpu || !cpu->is_known || is_hidden(b, t, cpu))
			continue;
		open_ns = t->id == STAT_TABLE_CPU_IDLE ? cpu->open_idle_ns : 0;
		if (!hist_of(b, t, cpu)->count && !open_ns)
			continue;
		row->cpu = (struct stat_cpu_row){ .cpu = i, .open_ns = open_ns };
		stat_dist_of(hist_of(b, t, cpu), &row->cpu.dist);
		row->band = STAT_NO_BAND;
		if (row->cpu.dist.count) {
			row->band = stat_band_of(set, row->cpu.dist.p90_ns);
			nr_total[row->band]++;
		}
		t->nr_rows++;
	}
	t->nr_total = t->nr_rows;
}

/* The distribution of the CPUs of one band, or of all CPUs. */
static void merge(const struct stat_build *b, const struct stat_table *t, uint32_t band,
                  struct hist *out)
{
	for (size_t i = 0; i < t->nr_rows; i++)
		if (band == STAT_NO_BAND || t->rows[i].band == band)
			hist_merge(out, hist_of(b, t, b->in->cpus[t->rows[i].cpu.cpu]));
}

int stat_build_cpus(struct stat_build *b, struct stat_table *t)
{
	const struct stat_band_set *set = t->id == STAT_TABLE_CPU_IDLE ? &stat_idle_bands
	                                                               : &stat_latency_bands;
	size_t nr_total[STAT_BANDS] = { 0 };
	uint32_t slot[STAT_BANDS] = { 0 };
	struct hist all = { 0 };

	t->rows = ARENA_ARRAY(b->mem, struct stat_row, b->in->nr_cpus);
	if (!t->rows)
		return -ENOMEM;
	list_cpus(b, t, set, nr_total);
	if (stat_bands_build(b->mem, set, nr_total, t, slot) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++)
		if (t->rows[i].band != STAT_NO_BAND)
			t->rows[i].band = slot[t->rows[i].band];
	for (uint32_t i = 0; i < t->nr_bands; i++) {
		struct hist one = { 0 };

		merge(b, t, i, &one);
		stat_dist_of(&one, &t->bands[i].dist);
		t->bands[i].nr_rows = t->bands[i].nr_total;
	}
	merge(b, t, STAT_NO_BAND, &all);
	stat_dist_of(&all, &t->global);
	t->is_flat = b->in->is_detailed;
	return b->in->has_bins ? stat_bins_of_hist(b->mem, &all, &t->bins) : 0;
}
