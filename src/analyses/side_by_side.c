#include "analyses/side_by_side.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/passes.h"
#include "analyze/report.h"
#include "base/grow.h"

struct row {
	char *host, *file, *labels, *first; /* NULL = unknown, or none */
	uint64_t unix_ns;                   /* at its start; 0 = unknown */
	uint64_t duration_ns, lost, wakeups;
	uint64_t p50_ns, p99_ns, max_ns; /* of wakeup latencies, if there are any */
	uint64_t waited_ns;              /* what the summary adds up as lost */
	double busy_percent;             /* of all CPUs; negative = unknown */
	uint32_t nr_cpus;
	bool is_loss_known;
};

struct side_by_side {
	struct row *rows;
	size_t nr, capacity;
};

struct side_by_side *side_by_side_new(void)
{
	return calloc(1, sizeof(struct side_by_side));
}

static void row_done(struct row *r)
{
	free(r->host);
	free(r->file);
	free(r->labels);
	free(r->first);
}

void side_by_side_free(struct side_by_side *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++)
		row_done(&t->rows[i]);
	free(t->rows);
	free(t);
}

/* "role=web, build=12"; NULL without any, or without memory. */
static char *join_labels(const struct source_facts *f)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = f->nr_labels ? open_memstream(&text, &size) : NULL;

	if (!out)
		return NULL;
	for (size_t i = 0; i < f->nr_labels; i++)
		fprintf(out, "%s%s=%s", i ? ", " : "", f->labels[i].key, f->labels[i].value);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* Whether it was copied; NULL stays NULL. */
static bool copy(char **to, const char *text)
{
	*to = text ? strdup(text) : NULL;
	return !text || *to;
}

static bool take_facts(struct row *r, const struct source *s)
{
	const struct source_facts *f = s->facts;
	bool is_copied = copy(&r->host, source_host(f));

	is_copied = copy(&r->file, f->name) && is_copied;
	r->labels = join_labels(f);
	is_copied = (r->labels || !f->nr_labels) && is_copied;
	r->unix_ns = f->unix_ns;
	r->duration_ns = s->end_ns - s->start_ns;
	r->lost = f->lost;
	r->is_loss_known = f->lost || !f->kinds[EV_LOST];
	r->nr_cpus = f->nr_cpus;
	return is_copied;
}

static double mean_busy(const struct report_node *root)
{
	const struct report_node *cpus = report_at(root, "cpus");
	double sum = 0, percent;
	uint32_t nr = 0;

	for (const struct report_node *at = cpus ? cpus->first : NULL; at; at = at->next)
		if (report_number(report_at(at, "busy_percent"), &percent)) {
			sum += percent;
			nr++;
		}
	return nr ? sum / nr : -1;
}

static int take_summary(struct row *r, const struct source *s, const struct pass_args *args,
                        struct diag *d)
{
	SCOPED(scoped_report) struct report *answer = NULL;
	int err = pass_run(&pass_summary, s, args, d, &answer);

	if (err)
		return err;
	r->busy_percent = mean_busy(report_root(answer));
	r->waited_ns = report_u64_at(report_root(answer), "total_lost_ns");
	return copy(&r->first, report_text_at(report_root(answer), "bottlenecks.0.description"))
	               ? 0
	               : diag_set(d, -ENOMEM, NULL, "out of memory");
}

static int take_latencies(struct row *r, const struct source *s, const struct pass_args *args,
                          struct diag *d)
{
	const struct pass *latency = pass_find("wakeup_latency");
	SCOPED(scoped_report) struct report *answer = NULL;
	const struct report_node *root;
	int err;

	if (!latency || !pass_applies(latency, s))
		return 0;
	err = pass_run(latency, s, args, d, &answer);
	if (err)
		return err;
	root = report_root(answer);
	r->wakeups = report_u64_at(root, "total_wakeups");
	r->p50_ns = report_u64_at(root, "global_stats.p50_latency_ns");
	r->p99_ns = report_u64_at(root, "global_stats.p99_latency_ns");
	r->max_ns = report_u64_at(root, "global_stats.max_latency_ns");
	return 0;
}

int side_by_side_add(struct side_by_side *t, const struct source *s, const struct pass_args *args,
                     struct diag *d)
{
	struct row r = { .busy_percent = -1 };
	int err;

	if (t->nr == SIDE_BY_SIDE_MAX)
		return diag_set(d, -E2BIG, "name fewer files",
		                "at most %d recordings are put side by side", SIDE_BY_SIDE_MAX);
	err = take_facts(&r, s) ? 0 : diag_set(d, -ENOMEM, NULL, "out of memory");
	if (!err)
		err = take_summary(&r, s, args, d);
	if (!err)
		err = take_latencies(&r, s, args, d);
	if (!err && GROW(t->rows, t->capacity, t->nr))
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	if (err) {
		row_done(&r);
		return err;
	}
	t->rows[t->nr++] = r;
	return 0;
}

static uint64_t first_start(const struct side_by_side *t)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < t->nr; i++)
		if (t->rows[i].unix_ns && t->rows[i].unix_ns < first)
			first = t->rows[i].unix_ns;
	return first;
}

static uint32_t nr_hosts(const struct side_by_side *t)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < t->nr; i++) {
		bool is_new = t->rows[i].host != NULL;

		for (size_t k = 0; k < i && is_new; k++)
			is_new = !t->rows[k].host || strcmp(t->rows[k].host, t->rows[i].host) != 0;
		nr += is_new;
	}
	return nr;
}

static void show_row(const struct row *r, uint64_t first_ns, struct report *to)
{
	bool has_latency = r->wakeups != 0;

	report_begin_object(to, NULL);
	report_string(to, "host", r->host);
	report_string(to, "file", r->file);
	report_string(to, "metadata", r->labels);
	report_u64_if(to, "after_first_ns", r->unix_ns != 0, r->unix_ns - first_ns);
	report_u64(to, "duration_ns", r->duration_ns);
	report_u64(to, "cpus", r->nr_cpus);
	report_double_if(to, "busy_percent", r->busy_percent >= 0, r->busy_percent, 1);
	report_u64(to, "wakeups", r->wakeups);
	report_u64_if(to, "p50_latency_ns", has_latency, r->p50_ns);
	report_u64_if(to, "p99_latency_ns", has_latency, r->p99_ns);
	report_u64_if(to, "max_latency_ns", has_latency, r->max_ns);
	report_u64(to, "total_lost_ns", r->waited_ns);
	report_u64_if(to, "lost_events", r->is_loss_known, r->lost);
	report_end_object(to);
}

/* The sentence of each is long: a table of its own. */
static void show_findings(const struct side_by_side *t, struct report *to)
{
	report_begin_array(to, "first_findings");
	for (size_t i = 0; i < t->nr; i++) {
		report_begin_object(to, NULL);
		report_string(to, "host", t->rows[i].host);
		report_string(to, "file", t->rows[i].file);
		report_string(to, "finding", t->rows[i].first);
		report_end_object(to);
	}
	report_end_array(to);
}

int side_by_side_report(const struct side_by_side *t, struct diag *d, struct report **out)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	uint64_t first_ns = first_start(t);
	int err = r ? 0 : -ENOMEM;

	if (!err) {
		report_begin_object(r, NULL);
		report_string(r, "analysis_type", "side_by_side");
		report_u64(r, "hosts", nr_hosts(t));
		report_begin_array(r, "recordings");
		for (size_t i = 0; i < t->nr; i++)
			show_row(&t->rows[i], first_ns, r);
		report_end_array(r);
		show_findings(t, r);
		report_end_object(r);
		err = report_error(r);
	}
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	*out = TAKE_PTR(r);
	return 0;
}
