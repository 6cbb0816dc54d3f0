/* What perf says about the machine, itself and its events: sections behind the data, or records in a pipe. */
#include "trace/perfdata/perfdata.h"

#include <stdio.h>

#include "trace/perfetto/meta_in.h"

#define ARGUMENTS_MAX 4096U

static const char *text_of(struct perfdata *d, struct bytes_in in)
{
	size_t len;
	const char *s = pd_in_text(&in, &len);

	if (in.is_bad)
		pd_damage(d, DAMAGE_SECTION_BAD);
	return info_text(d->r, s, len);
}

/* Options of perf record by which it records a few tasks, and not the machine. */
static bool is_filter(const char *s, size_t len)
{
	static const char *const options[] = { "--pid", "--tid", "--uid" };

	if (len >= 2 && s[0] == '-' && (s[1] == 'p' || s[1] == 't' || s[1] == 'u'))
		return true;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (len >= strlen(options[i]) && memcmp(s, options[i], strlen(options[i])) == 0)
			return true;
	return false;
}

static void read_cmdline(struct perfdata *d, struct bytes_in in)
{
	uint32_t nr = bytes_u32(&in);
	size_t len;

	for (uint32_t i = 0; i < nr && i < ARGUMENTS_MAX && !in.is_bad; i++) {
		const char *s = pd_in_text(&in, &len);

		if (len == 2 && memcmp(s, "--", 2) == 0)
			return;
		d->is_filtered |= i > 0 && is_filter(s, len);
	}
}

/* The number of an event's name is that of its first id. */
static void read_event_desc(struct perfdata *d, struct bytes_in in)
{
	uint32_t nr = bytes_u32(&in), attr_bytes = bytes_u32(&in);

	for (uint32_t i = 0; i < nr && !in.is_bad; i++) {
		struct pd_attr *a = NULL;
		uint32_t nr_ids;
		const char *name;
		size_t len;

		(void)bytes_take(&in, attr_bytes);
		nr_ids = bytes_u32(&in);
		name = pd_in_text(&in, &len);
		for (uint32_t k = 0; k < nr_ids && !in.is_bad; k++) {
			uint64_t id = bytes_u64(&in);

			a = a ? a : pd_attr_of_id(d, id);
		}
		if (!a && nr == d->nr_attrs)
			a = &d->attrs[i];
		if (a)
			pd_attr_name(d, a, name, len);
	}
	if (in.is_bad)
		pd_damage(d, DAMAGE_SECTION_BAD);
}

/* Two clocks at the same moment. */
static void read_clock_data(struct perfdata *d, struct bytes_in in)
{
	struct clocks *c = &d->r->clocks;
	uint32_t version = bytes_u32(&in);
	uint64_t wall_ns, clock_ns;

	(void)bytes_u32(&in); /* the clock, as attributes have it */
	wall_ns = bytes_u64(&in);
	clock_ns = bytes_u64(&in);
	if (in.is_bad || version != 1 || !c->primary || c->primary == CLOCK_ID_REALTIME)
		return;
	pd_fail(d, clocks_pair(c, clocks_get(c, c->primary, 0), clock_ns,
	                       clocks_get(c, CLOCK_ID_REALTIME, 0), wall_ns));
}

void pd_feature(struct perfdata *d, uint32_t nr, struct bytes_in in)
{
	struct trace_info *info = &d->r->info;

	switch (nr) {
	case PD_FEATURE_TRACING_DATA:
		pd_tracing_data(d, in);
		break;
	case PD_FEATURE_BUILD_ID:
		pd_build_ids(d, in);
		break;
	case PD_FEATURE_HOSTNAME:
		info->machine_name = text_of(d, in);
		break;
	case PD_FEATURE_OSRELEASE:
		info->release = text_of(d, in);
		break;
	case PD_FEATURE_VERSION:
		info->producer_version = text_of(d, in);
		break;
	case PD_FEATURE_ARCH:
		info->machine = text_of(d, in);
		break;
	case PD_FEATURE_NRCPUS:
		(void)bytes_u32(&in); /* those that could be */
		info->nr_cpus_reported = bytes_u32(&in);
		break;
	case PD_FEATURE_CMDLINE:
		read_cmdline(d, in);
		break;
	case PD_FEATURE_EVENT_DESC:
		read_event_desc(d, in);
		break;
	case PD_FEATURE_CPU_TOPOLOGY:
		pd_cpu_topology(d, in);
		break;
	case PD_FEATURE_NUMA_TOPOLOGY:
		pd_numa_topology(d, in);
		break;
	case PD_FEATURE_CACHE:
		pd_caches(d, in);
		break;
	case PD_FEATURE_FOLDER:
		d->is_of_folder = true;
		break;
	case PD_FEATURE_CLOCK_DATA:
		read_clock_data(d, in);
		break;
	default:
		break;
	}
}

/* "sched:sched_switch" as others call it: "sched/sched_switch". */
static void add_enabled(struct perfdata *d, const struct pd_attr *a)
{
	size_t len;
	const char *s = intern_string(d->r->texts, a->name, &len);
	char name[128];
	char *colon;

	if (a->type != PD_TYPE_TRACEPOINT || !s || !len || len >= sizeof(name))
		return;
	memcpy(name, s, len);
	colon = memchr(name, ':', len);
	if (colon)
		*colon = '/';
	pd_fail(d, meta_enabled(d->r, name, len));
}

void pd_features_link(struct perfdata *d)
{
	struct trace_info *info = &d->r->info;

	info->producer = TRACE_BY_OTHER;
	info->producer_name = "perf";
	info->sysname = "Linux";
	if (d->is_filtered) {
		info->filter = "the tasks that perf was asked for";
		d->r->fix.hides_others = true;
	}
	d->r->fix.state_dialect = ftrace_state_dialect(info);
	for (size_t i = 0; i < d->nr_attrs; i++)
		add_enabled(d, &d->attrs[i]);
}
