#include "render/stat/stat_text.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "render/bars.h"
#include "render/stat/stat_text_priv.h"

#define ARENA_CAP (512UL << 20) /* the rows of a report are bounded before they come here */
#define NS_PER_S  1000000000ULL

void stat_text_time(const struct stat_report *r, uint64_t at_ns, char *dst)
{
	uint64_t wall_ns = r->wall_ns + at_ns - r->time_ns;
	time_t seconds = (time_t)(wall_ns / NS_PER_S);
	struct tm tm;
	char clock[16];

	if (!r->wall_ns || !localtime_r(&seconds, &tm)) {
		snprintf(dst, STAT_TEXT_TIME, "%.3fs", (double)at_ns / 1e9);
		return;
	}
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	snprintf(dst, STAT_TEXT_TIME, "%s.%03u", clock, (unsigned int)(wall_ns / 1000000 % 1000));
}

void stat_text_label(const struct stat_text *x, const char *label)
{
	static const char mu[] = "μ";

	for (const char *s = label; *s; s++) {
		if (!x->cfg->is_utf8 && strncmp(s, mu, sizeof(mu) - 1) == 0) {
			fputc('u', x->out);
			s += sizeof(mu) - 2;
		} else {
			fputc(*s, x->out);
		}
	}
}

static void print_heading(const struct stat_text *x, const struct stat_table *t)
{
	static const char *const prefixes[] = {
		[TALLY_BY_COMM] = "Collapsed ",
		[TALLY_BY_TID] = "Per-Process ",
		[TALLY_BY_TGID] = "By-Process ",
		[TALLY_BY_CGROUP] = "By-Cgroup ",
	};
	bool has_prefix = t->id <= STAT_TABLE_DSQ_TASKS;
	char title[256];

	text_printable(title, sizeof(title), t->title, strlen(t->title));
	fprintf(x->out, "\n=== %s%s%s ===\n", has_prefix ? prefixes[x->r->display] : "", title,
	        t->is_since_start && x->r->view == TALLY_INTERVAL ? " (since start)" : "");
}

static void print_bins(const struct stat_text *x, const struct stat_table *t)
{
	bool is_time = t->kind == STAT_KIND_DURATIONS || t->kind == STAT_KIND_SLICES ||
	               t->kind == STAT_KIND_CPU || t->kind == STAT_KIND_DSQ ||
	               t->kind == STAT_KIND_DSQ_TASK;
	struct bars_cfg cfg = {
		.title = is_time                     ? "us"
		         : t->id == STAT_TABLE_DEPTH ? "tasks"
		                                     : "per s",
		.unit = is_time ? 1000 : 1,
		.is_utf8 = x->cfg->is_utf8,
	};

	if (!t->bins.nr)
		return;
	fputc('\n', x->out);
	bars_print(&t->bins, &cfg, x->out);
}

static int print_table(const struct stat_text *x, const struct stat_table *t)
{
	int err;

	/* A machine without counters in use has nothing to say here. */
	if (t->kind == STAT_KIND_IPC && !t->nr_total)
		return 0;
	print_heading(x, t);
	if (t->kind == STAT_KIND_SCHEDSTAT)
		err = stat_text_schedstat(x);
	else if (t->kind == STAT_KIND_CPU)
		err = stat_text_cpus(x, t);
	else if (t->kind == STAT_KIND_DSQ)
		err = stat_text_dsqs(x, t);
	else
		err = stat_text_rows(x, t);
	print_bins(x, t);
	return err;
}

/* What it takes of a CPU: this process, and its BPF programs wherever they ran. */
static void print_cost(const struct stat_text *x)
{
	const struct stat_own *own = &x->r->own;

	if (own->has_bpf_ns)
		fprintf(x->out, ", own cost %.0f ns/event", own->bpf_ns_per_event);
	else
		fputs(", own cost unknown", x->out);
	if (own->has_cpu_pct && own->has_bpf_pct)
		fprintf(x->out, ", %.1f%% of a CPU (BPF programs %.1f%%, user space %.1f%%)",
		        own->bpf_pct + own->cpu_pct, own->bpf_pct, own->cpu_pct);
	else if (own->has_cpu_pct)
		fprintf(x->out, ", user space %.1f%% of a CPU", own->cpu_pct);
}

static void print_own(const struct stat_text *x)
{
	const struct stat_own *own = &x->r->own;
	const char *before = " (";

	if (own->nr_scaled)
		fprintf(x->out, "\n%llu counter readings were scaled: counters were multiplexed\n",
		        (unsigned long long)own->nr_scaled);
	fprintf(x->out, "\nevents %llu, lost %llu",
	        (unsigned long long)stat_pairs_total(&own->events),
	        (unsigned long long)stat_pairs_total(&own->lost));
	for (size_t i = 0; i < own->lost.nr; i++) {
		if (!own->lost.items[i].value)
			continue;
		fprintf(x->out, "%s%s %llu", before, own->lost.items[i].name,
		        (unsigned long long)own->lost.items[i].value);
		before = ", ";
	}
	if (before[0] == ',')
		fputc(')', x->out);
	print_cost(x);
	fputc('\n', x->out);
}

/* What has no number in the tables yet: it has not ended. */
static void print_open_waits(const struct stat_text *x)
{
	const struct stat_open_waits *list = &x->r->open_waits;

	for (size_t i = 0; i < list->nr; i++) {
		const struct stat_open_wait *o = &list->items[i];
		char comm[4 * STAT_COMM_LEN], runs[4 * STAT_COMM_LEN], age[24];

		fprintf(x->out, "%sstill waiting: %s [%u] for %s", i ? "" : "\n",
		        text_printable(comm, sizeof(comm), o->wait.comm, STAT_COMM_LEN),
		        o->wait.tid, text_duration(age, sizeof(age), o->wait.ns));
		text_printable(runs, sizeof(runs), o->running_comm, STAT_COMM_LEN);
		if (o->wait.is_throttled)
			fputs(": throttled, the quota of its cgroup is used up\n", x->out);
		else if (o->is_cpu_idle)
			fprintf(x->out, " on CPU %u, which is idle\n", o->wait.cpu);
		else if (o->running_tid)
			fprintf(x->out, " on CPU %u, which runs %s [%u]\n", o->wait.cpu,
			        runs[0] ? runs : "a task", o->running_tid);
		else
			fprintf(x->out, " on CPU %u\n", o->wait.cpu);
	}
	if (list->nr_more)
		fprintf(x->out, "and %zu more\n", list->nr_more);
}

static void print_view(const struct stat_text *x)
{
	if (x->r->view == TALLY_INTERVAL)
		fprintf(x->out, "last %.1f s\n", x->r->interval_s);
	else
		fprintf(x->out, "since start, %.1f s\n", x->r->elapsed_s);
}

int stat_text_print(const struct stat_report *r, const struct stat_text_cfg *cfg, FILE *out)
{
	SCOPED(scoped_arena) struct arena *mem = arena_new(ARENA_CAP);
	struct stat_text x = { .r = r, .cfg = cfg, .out = out, .mem = mem };
	int err = 0;

	if (!mem)
		return -ENOMEM;
	print_view(&x);
	if (r->is_nothing_matched)
		fputs("\nNo processes match the filters\n", out);
	for (size_t i = 0; i < r->nr_tables && !err; i++) {
		err = print_table(&x, &r->tables[i]);
		arena_reset(mem);
	}
	if (!err && r->has_no_cpus)
		fputs("\nDelays per CPU are counted for all names together: -p, --tid and --cgroup have them\n",
		      out);
	if (!err && r->outliers.is_asked)
		err = stat_text_outliers(&x);
	if (err)
		return err;
	print_open_waits(&x);
	print_own(&x);
	return fflush(out) || ferror(out) ? -EIO : 0;
}
