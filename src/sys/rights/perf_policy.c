#include "sys/rights/perf_policy.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "sys/pmu/pmu_internal.h"

#define DEPTH_MAX 127U /* frames, the kernel's own default */
#define SAMPLES   (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN)
#define FORMATS   (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* They do not count: they take addresses from the one who opens them, or write down where a CPU goes. */
static const char *const refused_pmus[] = { "kprobe",    "uprobe", "breakpoint", "intel_pt",
	                                    "intel_bts", "cs_etm", "arm_spe",    "hisi_ptt" };

/* All that is set beside what is known here is refused, also what later kernels bring. */
static bool has_only_known(const struct perf_event_attr *attr)
{
	static const struct perf_event_attr nothing;
	struct perf_event_attr rest;

	memcpy(&rest, attr, sizeof(rest));
	rest.type = rest.size = rest.wakeup_watermark = 0;
	rest.sample_type = rest.read_format = 0;
	rest.config = rest.config1 = rest.config2 = rest.sample_period = 0;
	rest.disabled = rest.inherit = rest.inherit_thread = 0;
	rest.exclude_user = rest.exclude_kernel = rest.exclude_hv = rest.exclude_idle = 0;
	rest.exclude_callchain_user = rest.freq = rest.sample_id_all = 0;
	rest.mmap = rest.mmap2 = rest.comm = rest.comm_exec = rest.task = 0;
	rest.watermark = rest.use_clockid = 0;
	rest.clockid = 0;
	rest.sample_max_stack = 0;
	return memcmp(&rest, &nothing, sizeof(rest)) == 0;
}

static bool has_allowed_samples(const struct perf_event_attr *attr)
{
	if (attr->sample_type & ~(uint64_t)SAMPLES || attr->read_format & ~(uint64_t)FORMATS ||
	    attr->sample_max_stack > DEPTH_MAX)
		return false;
	return !(attr->sample_type & PERF_SAMPLE_CALLCHAIN) || attr->exclude_callchain_user;
}

/* Those of cores may be sampled, others only counted. */
static bool is_allowed_pmu(const struct perf_event_attr *attr, const char *devices)
{
	SCOPED(pmu_sys_close) struct pmu_sys sys = { .fd = -1 };
	const struct pmu_dev *dev = NULL;

	if (pmu_sys_open(devices, NULL, &sys))
		return false;
	for (size_t i = 0; i < sys.nr && !dev; i++)
		dev = sys.devs[i].type == attr->type ? &sys.devs[i] : NULL;
	if (!dev)
		return false;
	for (size_t i = 0; i < sizeof(refused_pmus) / sizeof(refused_pmus[0]); i++)
		if (strncmp(dev->name, refused_pmus[i], strlen(refused_pmus[i])) == 0)
			return false;
	return dev->is_core || !attr->sample_period;
}

bool perf_policy_allows(const struct perf_event_attr *attr, const char *devices)
{
	if (attr->size != sizeof(*attr) || !has_only_known(attr) || !has_allowed_samples(attr))
		return false;
	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		return true;
	case PERF_TYPE_BREAKPOINT:
		return false;
	default:
		return is_allowed_pmu(attr, devices);
	}
}
