/* Resources about what the kernel offers to tracing and which BPF programs it holds. All of them work without --daemon. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "mcp/live_service.h"
#include "mcp/resources/resources.h"
#include "mcp/world.h"
#include "sys/bpf/prog_watch.h"
#include "sys/pmu/event_names.h"

#define NAMES_DEFAULT    100U
#define PROGRAMS_DEFAULT 10U
#define ROWS_MAX         100000U
#define SUBSYSTEM_LEN    64U

struct row_window {
	uint64_t limit, offset;
};

static int read_rows(const char *query, struct row_window *r, struct diag *d)
{
	int err = resource_query_u64(query, "limit", 1, ROWS_MAX, &r->limit, d);

	return err ? err : resource_query_u64(query, "offset", 0, INT32_MAX, &r->offset, d);
}

static void put_next(struct json_writer *w, const struct row_window *r, uint64_t total)
{
	uint64_t next = r->offset + r->limit;

	jw_bool(w, "truncated", r->offset || next < total);
	jw_u64_if(w, "next_offset", next < total, next);
}

/* A resource without data says so in its body. */
static void put_error(struct json_writer *w, const char *error, const struct diag *d)
{
	jw_string(w, "error", error);
	jw_string(w, "message", d->what);
	jw_string(w, "note", d->hint[0] ? d->hint : NULL);
}

static bool is_in(const struct row_window *r, uint64_t at)
{
	return at >= r->offset && at - r->offset < r->limit;
}

/* Events of one subsystem, [from, to) of the list; how many there are. */
static void put_subsystem(struct json_writer *w, const struct event_names *n, size_t from,
                          size_t to, const struct row_window *r, uint64_t at)
{
	if (at + (to - from) <= r->offset || at >= r->offset + r->limit)
		return;
	jw_begin_object(w, NULL);
	jw_string(w, "subsystem", n->items[from].subsystem);
	jw_begin_array(w, "events");
	for (size_t i = from; i < to; i++)
		if (is_in(r, at + i - from))
			jw_string(w, NULL, n->items[i].name);
	jw_end_array(w);
	jw_u64(w, "count", to - from);
	jw_end_object(w);
}

static void put_subsystems(struct json_writer *w, const struct event_names *n, const char *only,
                           const struct row_window *r)
{
	uint64_t at = 0, nr = 0;

	jw_begin_array(w, "subsystems");
	for (size_t from = 0, to; from < n->nr; from = to) {
		const char *name = n->items[from].subsystem;

		for (to = from + 1; to < n->nr && strcmp(n->items[to].subsystem, name) == 0;)
			to++;
		if (*only && strcmp(only, name) != 0)
			continue;
		put_subsystem(w, n, from, to, r, at);
		at += to - from;
		nr++;
	}
	jw_end_array(w);
	jw_u64(w, "total_subsystems", nr);
	jw_u64(w, "total_events", at);
	put_next(w, r, at);
}

static int read_perf(struct mcp_world *w, const char *query, struct json_writer *out,
                     struct diag *d)
{
	struct row_window r = { .limit = NAMES_DEFAULT };
	char only[SUBSYSTEM_LEN] = "";
	struct diag missing = { 0 };
	struct event_names n;
	int err = read_rows(query, &r, d);

	(void)w;
	if (err)
		return err;
	(void)resource_query(query, "subsystem", only, sizeof(only));
	if (event_names_tracepoints("", &missing, &n)) {
		put_error(out, "cannot_read", &missing);
		return 0;
	}
	put_subsystems(out, &n, only, &r);
	jw_string(out, "source", n.source);
	event_names_done(&n);
	return 0;
}

const struct resource resource_events_perf = {
	.uri = "events://perf",
	.name = "tracepoints",
	.title = "Tracepoints",
	.description =
		"tracepoints of this kernel by subsystem; changes only with modules; ?subsystem, ?limit, ?offset",
	.set = TOOLSET_LIVE,
	.read = read_perf,
	.poll_ms = 10000, /* the whole list; it changes with modules */
};

static int read_kprobe(struct mcp_world *w, const char *query, struct json_writer *out,
                       struct diag *d)
{
	struct row_window r = { .limit = NAMES_DEFAULT };
	struct diag missing = { 0 };
	struct event_names n;
	int err = read_rows(query, &r, d);

	(void)w;
	if (err)
		return err;
	if (event_names_functions("", &missing, &n)) {
		put_error(out, "cannot_read", &missing);
		return 0;
	}
	jw_begin_array(out, "functions");
	for (size_t i = 0; i < n.nr; i++)
		if (is_in(&r, i))
			jw_string(out, NULL, n.items[i].name);
	jw_end_array(out);
	jw_u64(out, "count", n.nr);
	put_next(out, &r, n.nr);
	jw_string(out, "source", n.source);
	event_names_done(&n);
	return 0;
}

const struct resource resource_events_kprobe = {
	.uri = "events://kprobe",
	.name = "kprobe-functions",
	.title = "Functions to probe",
	.description =
		"kernel functions that a probe may be put on, a page at a time; changes only with modules; ?limit, ?offset",
	.set = TOOLSET_LIVE,
	.read = read_kprobe,
	.poll_ms = 10000,
};

static void put_times(struct json_writer *w, const struct bpf_prog *p)
{
	static const char *const keys[] = { "avg_runtime_per_call_ns", "p50_runtime_per_call_ns",
		                            "p90_runtime_per_call_ns", "p99_runtime_per_call_ns",
		                            "call_rate_per_sec" };
	struct bpf_prog_times t = { 0 };
	bool is_known = bpf_prog_times(p, &t);
	const double values[] = { t.avg_ns, t.p50_ns, t.p90_ns, t.p99_ns, t.calls_per_sec };

	jw_begin_object(w, "statistics");
	jw_u64(w, "samples", p->nr_samples);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		jw_double(w, keys[i], is_known ? values[i] : NAN, 1);
	}
	jw_end_object(w);
}

static void put_program(struct json_writer *w, const struct bpf_prog *p)
{
	jw_begin_object(w, NULL);
	jw_u64(w, "id", p->id);
	jw_string(w, "name", p->name);
	jw_string(w, "type", bpf_prog_type_name(p->type));
	jw_u64_if(w, "verified_insns", p->verified_insns,
	          p->verified_insns); /* a kernel before 5.16 */
	jw_u64(w, "run_time_ns", p->run_ns);
	jw_u64(w, "run_count", p->runs);
	put_times(w, p);
	jw_end_object(w);
}

/* Ids of the programs of the page by type: the programs themselves are listed above. */
static void put_by_type(struct json_writer *w, const struct bpf_progs *all,
                        const struct row_window *r)
{
	jw_begin_object(w, "by_type");
	for (size_t i = 0; i < all->nr; i++) {
		const char *type = bpf_prog_type_name(all->progs[i].type);
		bool is_first = is_in(r, i);

		for (size_t k = (size_t)r->offset; is_first && k < i; k++)
			is_first = strcmp(bpf_prog_type_name(all->progs[k].type), type) != 0;
		if (!is_first)
			continue;
		jw_begin_array(w, type);
		for (size_t k = i; k < all->nr; k++) {
			if (!is_in(r, k) ||
			    strcmp(bpf_prog_type_name(all->progs[k].type), type) != 0)
				continue;
			jw_begin_object(w, NULL);
			jw_u64(w, "id", all->progs[k].id);
			jw_string(w, "name", all->progs[k].name);
			jw_end_object(w);
		}
		jw_end_array(w);
	}
	jw_end_object(w);
}

static int read_programs(struct mcp_world *w, const char *query, struct json_writer *out,
                         struct diag *d)
{
	struct prog_watch *watch = live_service_programs(w->service);
	struct row_window r = { .limit = PROGRAMS_DEFAULT };
	uint64_t interval_ms, nr_samples;
	const struct bpf_progs *all;
	struct diag missing = { 0 };
	bool is_counting;
	int err = read_rows(query, &r, d);

	if (err)
		return err;
	if (prog_watch_lock(watch, &missing, &all)) {
		put_error(out, "cannot_read", &missing);
		return 0;
	}
	jw_begin_array(out, "programs");
	for (size_t i = 0; i < all->nr; i++)
		if (is_in(&r, i))
			put_program(out, &all->progs[i]);
	jw_end_array(out);
	jw_u64(out, "total_count", all->nr);
	put_by_type(out, all, &r);
	put_next(out, &r, all->nr);
	prog_watch_unlock(watch);
	is_counting = prog_watch_runs(watch, &interval_ms, &nr_samples);
	jw_bool(out, "stats_collection_running", is_counting);
	if (!is_counting)
		jw_string(
			out, "note",
			"the kernel counts run times only on request: control_stats_collection start");
	return 0;
}

const struct resource resource_bpf_programs = {
	.uri = "bpf://programs",
	.name = "bpf-programs",
	.title = "BPF programs",
	.description =
		"BPF programs loaded in the kernel, their size and what they cost; ?limit, ?offset",
	.set = TOOLSET_LIVE,
	.read = read_programs,
	.poll_ms = 1000,
};
