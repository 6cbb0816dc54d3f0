#include "render/stat/stat_screen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "render/wrap.h"
#include "stat/report/stat_report.h"

#define LINE_BYTES    1024
#define NAME_MIN      15
#define NAME_MAX      40
#define BAR_WIDTH     12
#define FIXED         52 /* columns of a row besides its name and the bar */
#define ANSWER_HEIGHT 6  /* lines; on fewer the rows say it */
#define OPEN_SHOWN    3  /* waits that last; the first are the longest */

struct screen {
	const struct stat_report *r;
	const struct stat_screen_cfg *cfg;
	FILE *out;
	size_t lines; /* shown so far */
	size_t name_width;
};

static double waited_ns(const struct stat_row *row)
{
	return row->durations.all.mean_ns * (double)row->durations.all.count;
}

/* By the time that they waited, the longest first. */
static int compare(const struct stat_row *x, const struct stat_row *y)
{
	double one = waited_ns(x), other = waited_ns(y);

	if (one != other)
		return one > other ? -1 : 1;
	return strcmp(x->identity.name, y->identity.name);
}

/* A line of the screen, cut to its width; the last one is not ended, or the terminal would scroll. */
static void put_as(struct screen *s, enum wrap_weight weight, char *line)
{
	if (s->lines >= s->cfg->height)
		return;
	fprintf(s->out, "%s%s%s%s", s->lines ? "\n" : "", wrap_on(weight, s->cfg->is_colored),
	        text_cut(line, s->cfg->width),
	        weight == WRAP_PLAIN ? "" : wrap_off(s->cfg->is_colored));
	s->lines++;
}

static void put(struct screen *s, char *line)
{
	put_as(s, WRAP_PLAIN, line);
}

static size_t add(char *line, size_t len, const char *what, double share, int decimals)
{
	if (share < 0 || len >= LINE_BYTES)
		return len;
	return len + (size_t)snprintf(line + len, LINE_BYTES - len, "  %s %.*f%%", what, decimals,
	                              100 * share);
}

static const struct stat_table *tasks_of(const struct stat_report *r)
{
	for (size_t i = 0; i < r->nr_tables; i++)
		if (r->tables[i].id == STAT_TABLE_LATENCY)
			return &r->tables[i];
	return NULL;
}

static double view_s(const struct stat_report *r)
{
	return r->view == TALLY_INTERVAL ? r->interval_s : r->elapsed_s;
}

static unsigned int nr_throttled(const struct stat_report *r)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < r->open_waits.nr; i++)
		nr += r->open_waits.items[i].wait.is_throttled;
	return nr;
}

static size_t machine_line(const struct screen *s, double waiting, int decimals, char *line)
{
	const struct stat_machine_shares *m = &s->cfg->machine;
	double seconds = view_s(s->r);
	size_t len = (size_t)snprintf(line, LINE_BYTES, "%u CPUs", m->nr_cpus);

	len = add(line, len, "busy", m->busy, decimals);
	if (seconds > 0 && m->nr_cpus)
		len += (size_t)snprintf(line + len, LINE_BYTES - len, "  %swaiting %.2f per CPU",
		                        s->cfg->is_filtered ? "chosen " : "",
		                        waiting / 1e9 / seconds / m->nr_cpus);
	len = add(line, len, "steal", m->steal, decimals);
	if (nr_throttled(s->r))
		len += (size_t)snprintf(line + len, LINE_BYTES - len, "  throttled %u",
		                        nr_throttled(s->r));
	len = add(line, len, "pressure", m->pressure, decimals);
	return len + (size_t)snprintf(line + len, LINE_BYTES - len, "  lost %llu",
	                              (unsigned long long)stat_pairs_total(&s->r->own.lost));
}

/* Decimals go first where there is no room for all. */
static void put_machine(struct screen *s, const struct stat_table *t)
{
	double waiting = 0;
	char line[LINE_BYTES];

	for (size_t i = 0; t && i < t->nr_rows; i++)
		waiting += waited_ns(&t->rows[i]);
	if (machine_line(s, waiting, 1, line) > s->cfg->width)
		(void)machine_line(s, waiting, 0, line);
	put(s, line);
}

static bool is_throttled(const struct screen *s)
{
	return s->cfg->machine.throttled[0] != '\0';
}

/* A quota is no row of its own: to the scheduler its tasks were preempted. */
static void put_quota(struct screen *s)
{
	const struct stat_machine_shares *m = &s->cfg->machine;
	char line[LINE_BYTES], name[4 * sizeof(m->throttled)];

	if (!is_throttled(s) || s->cfg->height < ANSWER_HEIGHT)
		return;
	text_printable(name, sizeof(name), m->throttled, SIZE_MAX);
	snprintf(line, sizeof(line), "quota: cgroup %s was throttled in %llu of %llu periods",
	         text_cut(name, NAME_MAX), (unsigned long long)m->nr_throttled,
	         (unsigned long long)m->nr_periods);
	put_as(s, WRAP_ANSWER, line);
}

/* The part that is more than half of its waiting, in words; NULL: none is. */
static const char *cause_of(const struct screen *s, const struct stat_row *row)
{
	const char *const words[][2] = {
		{ "woken", "after wakeups" },
		{ "preempted", is_throttled(s) ? "preempted or throttled" : "when preempted" },
		{ "new", "as new tasks" },
	};

	for (uint32_t i = 0; i < row->durations.nr_parts; i++) {
		const struct stat_part *p = &row->durations.parts[i];

		if (p->dist.mean_ns * (double)p->dist.count <= waited_ns(row) / 2)
			continue;
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
			if (strcmp(p->name, words[k][0]) == 0)
				return words[k][1];
	}
	return NULL;
}

/* "web/200" of a thread or a process. */
static const char *full_name(const struct screen *s, const struct stat_row *row, char *buf,
                             size_t size)
{
	const struct stat_identity *i = &row->identity;

	if (i->has_tid)
		snprintf(buf, size, "%.160s/%u", i->name, i->tid);
	else if (s->r->display == TALLY_BY_TGID && i->has_tgid)
		snprintf(buf, size, "%.160s/%u", i->name, i->tgid);
	else
		snprintf(buf, size, "%.190s", i->name);
	return buf;
}

/* Which row lost most, and to what: the answer, before all numbers. */
static void put_answer(struct screen *s, const struct stat_table *t)
{
	const struct stat_row *most = NULL;
	char line[LINE_BYTES], full[192], name[192], waited[24], all[24];
	double sum = 0;
	size_t len;

	for (size_t i = 0; t && i < t->nr_rows; i++) {
		sum += waited_ns(&t->rows[i]);
		if (!most || compare(&t->rows[i], most) < 0)
			most = &t->rows[i];
	}
	if (!most || waited_ns(most) < 1 || s->cfg->height < ANSWER_HEIGHT)
		return;
	text_printable(name, sizeof(name), full_name(s, most, full, sizeof(full)), SIZE_MAX);
	len = (size_t)snprintf(line, sizeof(line), "%s waited%s %s", text_cut(name, NAME_MAX),
	                       t->nr_rows > 1 ? " longest:" : "",
	                       text_duration(waited, sizeof(waited), (uint64_t)waited_ns(most)));
	if (t->nr_rows > 1)
		len += (size_t)snprintf(line + len, sizeof(line) - len, " of %s in all",
		                        text_duration(all, sizeof(all), (uint64_t)sum));
	if (cause_of(s, most))
		snprintf(line + len, sizeof(line) - len, ", mostly %s", cause_of(s, most));
	put_as(s, WRAP_ANSWER, line);
}

/* A wait that has not ended is in no number below. */
static void put_open_wait(struct screen *s, const struct stat_open_wait *o)
{
	char comm[4 * STAT_COMM_LEN], runs[4 * STAT_COMM_LEN], age[24], line[LINE_BYTES];
	size_t len;

	text_printable(comm, sizeof(comm), o->wait.comm, STAT_COMM_LEN);
	text_printable(runs, sizeof(runs), o->running_comm, STAT_COMM_LEN);
	len = (size_t)snprintf(line, sizeof(line), "still waiting: %s/%u for %s", comm, o->wait.tid,
	                       text_duration(age, sizeof(age), o->wait.ns));
	if (o->wait.is_throttled)
		snprintf(line + len, sizeof(line) - len, ", throttled");
	else if (o->is_cpu_idle)
		snprintf(line + len, sizeof(line) - len, " on CPU %u, which is idle", o->wait.cpu);
	else if (o->running_tid)
		snprintf(line + len, sizeof(line) - len, " on CPU %u, which runs %s/%u",
		         o->wait.cpu, runs[0] ? runs : "?", o->running_tid);
	put(s, line);
}

static void put_open_waits(struct screen *s)
{
	size_t nr = s->r->open_waits.nr, room = s->cfg->height / 6;

	if (room > OPEN_SHOWN)
		room = OPEN_SHOWN;
	for (size_t i = 0; i < nr && i < room; i++)
		put_open_wait(s, &s->r->open_waits.items[i]);
}

/* What of the time each cause is, in cells. */
static void draw_causes(const struct stat_row *row, bool is_utf8, char *to)
{
	static const char *const marks[2][STAT_MAX_PARTS] = { { "w", "p", "n" },
		                                              { "▒", "█", "░" } };
	static const char *const names[STAT_MAX_PARTS] = { "woken", "preempted", "new" };
	double total = waited_ns(row), sum = 0;
	size_t done = 0;

	*to = '\0';
	for (size_t k = 0; k < STAT_MAX_PARTS && total > 0; k++) {
		for (uint32_t i = 0; i < row->durations.nr_parts; i++) {
			const struct stat_part *p = &row->durations.parts[i];

			if (strcmp(p->name, names[k]) == 0 && p->dist.count)
				sum += p->dist.mean_ns * (double)p->dist.count;
		}
		for (; done < BAR_WIDTH && (double)done + 0.5 < BAR_WIDTH * sum / total; done++)
			to = stpcpy(to, marks[is_utf8][k]);
	}
}

static void fit_name(char *to, size_t size, const char *name, size_t width)
{
	size_t len;

	text_printable(to, size - NAME_MAX, name, SIZE_MAX);
	text_cut(to, width);
	len = strlen(to);
	for (size_t is = text_width(to); is < width && len + 1 < size; is++)
		to[len++] = ' ';
	to[len] = '\0';
}

static void put_titles(struct screen *s)
{
	static const char *const by[] = { "COMMAND", "THREAD", "PROCESS", "CGROUP" };
	char line[LINE_BYTES], name[256];

	fit_name(name, sizeof(name), by[s->r->display], s->name_width);
	snprintf(line, sizeof(line), "%s %8s %6s %8s %8s %8s %7s %s", name, "WAITED", "WAIT%",
	         "P50", "P99", "MAX", "COUNT", "CAUSE");
	put_as(s, WRAP_ASIDE, line);
}

static void put_row(struct screen *s, const struct stat_row *row)
{
	const struct stat_dist *d = &row->durations.all;
	char line[LINE_BYTES], name[256], full[192], bar[4 * BAR_WIDTH];
	char waited[24], p50[24], p99[24], max[24];
	double seconds = view_s(s->r);

	fit_name(name, sizeof(name), full_name(s, row, full, sizeof(full)), s->name_width);
	draw_causes(row, s->cfg->is_utf8, bar);
	snprintf(line, sizeof(line), "%s %8s %5.0f%% %8s %8s %8s %7llu %s", name,
	         text_duration(waited, sizeof(waited), (uint64_t)waited_ns(row)),
	         seconds > 0 ? waited_ns(row) / 1e7 / seconds : 0.0,
	         text_duration(p50, sizeof(p50), d->p50_ns),
	         text_duration(p99, sizeof(p99), d->p99_ns),
	         text_duration(max, sizeof(max), d->max_ns), (unsigned long long)d->count, bar);
	put(s, line);
}

static int longest_first(const void *a, const void *b)
{
	return compare(*(const struct stat_row *const *)a, *(const struct stat_row *const *)b);
}

static int put_rows(struct screen *s, const struct stat_table *t)
{
	SCOPED(scoped_free) const struct stat_row **rows = calloc(t->nr_rows + 1, sizeof(*rows));
	size_t nr = 0, last = s->cfg->height - (s->cfg->next && s->cfg->height > ANSWER_HEIGHT);
	char line[LINE_BYTES];

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rows; i++)
		if (t->rows[i].durations.all.count)
			rows[nr++] = &t->rows[i];
	qsort(rows, nr, sizeof(struct stat_row *), longest_first);
	put_titles(s);
	for (size_t i = 0; i < nr; i++) {
		if ((s->lines + 1 >= last && i + 1 < nr) || (s->cfg->limit && i == s->cfg->limit)) {
			snprintf(line, sizeof(line), "and %zu more", nr - i);
			put(s, line);
			break;
		}
		put_row(s, rows[i]);
	}
	if (s->cfg->next && nr && s->cfg->height > ANSWER_HEIGHT) {
		snprintf(line, sizeof(line), "next: %s", s->cfg->next);
		put_as(s, WRAP_COMMAND, line);
	}
	return 0;
}

int stat_screen_print(const struct stat_report *r, const struct stat_screen_cfg *cfg, FILE *out)
{
	struct screen s = { .r = r, .cfg = cfg, .out = out };
	const struct stat_table *t = tasks_of(r);
	size_t name = cfg->width > FIXED + BAR_WIDTH ? cfg->width - FIXED - BAR_WIDTH : 0;
	char line[LINE_BYTES];
	int err = 0;

	s.name_width = name < NAME_MIN ? NAME_MIN : name > NAME_MAX ? NAME_MAX : name;
	put_machine(&s, t);
	put_answer(&s, t);
	put_quota(&s);
	put_open_waits(&s);
	snprintf(line, sizeof(line), "waits for a CPU %s %.1f s%s",
	         r->view == TALLY_INTERVAL ? "in the last" : "since the start,", view_s(r),
	         !t || !t->nr_rows ? ": none"
	         : s.cfg->is_utf8  ? "; ▒ woken █ preempted ░ new"
	                           : "; w: woken, p: preempted, n: new");
	put(&s, line);
	if (t && t->nr_rows)
		err = put_rows(&s, t);
	return err ? err : ferror(out) ? -EIO : 0;
}
