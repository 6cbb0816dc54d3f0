#include <string.h>

#include "trace/ftrace/events.h"
#include "trace/perfetto/meta_in.h"
#include "trace/perfetto/schema.h"

#define OUR_NAME "schedscope"

static bool has_word(const struct reader *r, const char *word)
{
	uint32_t id;

	return intern_find(r->texts, word, strlen(word), &id);
}

/* The first evidence counts. */
static enum trace_producer find(const struct reader *r)
{
	const struct reader_meta *m = r->meta;
	const char *tool = meta_attr_text(r, "tool");

	if (tool && strcmp(tool, OUR_NAME) == 0)
		return TRACE_BY_US;
	if ((has_word(r, "ONCPU") && has_word(r, "WAKER")) || m->has_idle_process)
		return TRACE_BY_WPROF;
	if (m->has_scxtop_track || (m->has_pid_bundle && !m->has_seq_bundle))
		return TRACE_BY_SCXTOP;
	if (m->has_systing_track || (m->has_systing_process && m->has_bundle && !m->has_seq_bundle))
		return TRACE_BY_SYSTING;
	if (m->has_uid && (m->has_ftrace_source || m->has_ftrace_stats || m->has_service_event))
		return TRACE_BY_PERFETTO;
	return TRACE_BY_OTHER;
}

static void fix_scxtop(struct reader *r)
{
	uint32_t mono = clocks_get(&r->clocks, CLOCK_ID_MONOTONIC, 0);

	r->fix.has_raw_states = true;
	r->fix.infers_waker = true;
	r->fix.has_ipi_number = true;
	r->fix.is_mono = true;
	if (mono != CLOCK_NONE && mono != r->clocks.trace)
		r->default_clock = mono;
}

/* Its versions have no number: words that only later ones use identify them. */
static void fix_wprof(struct reader *r)
{
	bool is_new = has_word(r, "interruptible_sleep") || has_word(r, "uninterruptible_sleep") ||
	              has_word(r, "runnable");

	r->fix.has_raw_states = !is_new;
	r->fix.uses_track_sched = !r->meta->has_bundle;
	r->fix.drops_ftrace_wakes = !is_new && r->meta->has_bundle;
}

void producer_find(struct reader *r)
{
	static const char *const names[] = {
		[TRACE_BY_OTHER] = "",          [TRACE_BY_US] = OUR_NAME,
		[TRACE_BY_WPROF] = "wprof",     [TRACE_BY_SCXTOP] = "scxtop",
		[TRACE_BY_SYSTING] = "systing", [TRACE_BY_PERFETTO] = "perfetto",
	};
	struct trace_info *info = &r->info;
	const char *version = meta_attr_text(r, "tool_version");
	const char *scheduler = meta_attr_text(r, "scheduler");
	const char *from = meta_attr_text(r, "converted_from");

	info->producer = find(r);
	info->producer_name = names[info->producer];
	if (info->producer == TRACE_BY_US && version)
		info->producer_version = version;
	if (info->producer == TRACE_BY_US && from) {
		r->is_converted = true; /* read as ours, recorded by another */
		info->producer_name = from;
		version = meta_attr_text(r, "converted_from_version");
		info->producer_version = version ? version : "";
	}
	if (scheduler)
		info->scheduler = scheduler;
	if (info->producer == TRACE_BY_US)
		info->filter = meta_attr_text(r, "filter");
	r->fix.hides_others = info->filter != NULL;
	r->fix.state_dialect = r->is_converted ? 0 : ftrace_state_dialect(info);
	r->fix.are_flags_partial = info->producer == TRACE_BY_US;
	if (info->producer == TRACE_BY_SCXTOP)
		fix_scxtop(r);
	else if (info->producer == TRACE_BY_WPROF)
		fix_wprof(r);
	/* Its old writer had process trees, and wakings where they happened. */
	else if (info->producer == TRACE_BY_SYSTING)
		r->fix.is_waker_unknown = !r->meta->has_tree;
}
