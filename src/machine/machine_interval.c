#include "machine/machine_interval.h"

#include <math.h>
#include <string.h>

#include "base/hist.h"

void machine_interval_show(const struct machine_interval *x, double seconds,
                           struct machine_task *row)
{
	memcpy(row->dists, x->dists, sizeof(row->dists));
	row->stall_ns = x->stall_ns;
	if (seconds <= 0)
		return;
	for (int i = 0; i < INTERVAL_COUNTS; i++)
		row->rates[i] = (double)x->counts[i] / seconds;
	row->wait = (double)x->wait_ns / 1e9 / seconds;
	if (!x->lacks_run)
		row->run = (double)x->run_ns / 1e9 / seconds;
}

static double per_second(uint64_t count, bool is_counted, double seconds)
{
	return is_counted && seconds > 0 ? (double)count / seconds : NAN;
}

void machine_cpu_interval_show(const struct machine_cpu_interval *x, double seconds,
                               struct machine_cpu *row)
{
	row->switches_per_s = per_second(x->switches, true, seconds);
	row->wakeups_per_s = per_second(x->wakeups, !x->lacks_wakeups, seconds);
	row->migrations_per_s = per_second(x->arrivals, !x->lacks_arrivals, seconds);
}

struct machine_dist machine_dist_of(const struct hist *h)
{
	struct machine_dist d = { 0 };

	if (!h || !h->count)
		return d;
	d.count = h->count;
	d.p50_ns = hist_percentile_ns(h, HIST_P(50));
	d.p90_ns = hist_percentile_ns(h, HIST_P(90));
	d.p99_ns = hist_percentile_ns(h, HIST_P(99));
	d.max_ns = h->max_ns;
	d.mean_ns = hist_mean_ns(h);
	return d;
}
