#include "analyze/figures.h"

#include <inttypes.h>

#include "model/tasks.h"

#define NS_PER_SEC 1e9
#define NS_PER_US  1e3
#define MEGA       1e6

/* Ids of sched_ext: bit 63 is the kernel's own, bit 62 the local queue of the CPU in the lower half. */
#define DSQ_BUILTIN  (1ULL << 63)
#define DSQ_LOCAL_ON (DSQ_BUILTIN | 1ULL << 62)
#define DSQ_GLOBAL   (DSQ_BUILTIN | 1)
#define DSQ_LOCAL    (DSQ_BUILTIN | 2)
#define DSQ_BYPASS   (DSQ_BUILTIN | 3) /* Linux 7 */
#define MINOR_BITS   20

void figure_per_sec(struct report *r, const char *key, double count, uint64_t span_ns)
{
	report_double_if(r, key, span_ns, count * NS_PER_SEC / (double)span_ns, 3);
}

void figure_mbps(struct report *r, const char *key, uint64_t bytes, uint64_t span_ns)
{
	figure_per_sec(r, key, (double)bytes * 8 / MEGA, span_ns);
}

void figure_us(struct report *r, const char *key, double ns)
{
	report_double(r, key, ns / NS_PER_US, 3);
}

void figure_us_if(struct report *r, const char *key, bool is_known, double ns)
{
	report_double_if(r, key, is_known, ns / NS_PER_US, 3);
}

void figure_text(struct report *r, const char *key, const struct source *s, uint32_t name_id)
{
	report_string(r, key, name_id ? tasks_string(s->tasks, name_id) : NULL);
}

const char *figure_dsq_name(struct report *r, uint64_t dsq_id)
{
	if (dsq_id == DSQ_GLOBAL)
		return "GLOBAL";
	if (dsq_id == DSQ_LOCAL)
		return "LOCAL";
	if (dsq_id == DSQ_BYPASS)
		return "BYPASS";
	if ((dsq_id & DSQ_LOCAL_ON) == DSQ_LOCAL_ON)
		return report_printf(r, "LOCAL_ON|%" PRIu32, (uint32_t)dsq_id);
	return report_printf(r, "0x%" PRIx64, dsq_id);
}

void figure_dsq(struct report *r, uint64_t dsq_id)
{
	report_id(r, "dsq_id", dsq_id);
	report_string(r, "dsq_name", figure_dsq_name(r, dsq_id));
}

const char *figure_device(struct report *r, uint64_t dev)
{
	return report_printf(r, "%" PRIu64 ":%" PRIu64, dev >> MINOR_BITS,
	                     dev & ((1U << MINOR_BITS) - 1));
}
