#include "session/machine_dist.h"

#include "base/hist.h"

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
