#include "analyze/diff_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SENTENCE 2048

static void show_value(struct report *r, const char *key, double value, bool is_known)
{
	report_double_if(r, key, is_known, value, value < 100 ? 2 : 1);
}

static void show_change(const struct diff_change *c, enum pass_by by, struct report *r)
{
	report_begin_object(r, NULL);
	report_string(r, pass_by_name(by), c->name);
	report_string(r, "metric", diff_metric_of(c->metric)->name);
	show_value(r, "a", c->a.mean, c->a.nr);
	show_value(r, "a_interval", c->a.interval, c->a.interval >= 0);
	show_value(r, "b", c->b.mean, c->b.nr);
	show_value(r, "b_interval", c->b.interval, c->b.interval >= 0);
	report_double_if(r, "change_percent", c->a.mean > 0 && c->b.nr, diff_change_percent(c), 1);
	report_double_if(r, "p_corrected", c->p >= 0, c->p, 4);
	report_string(r, "verdict", c->verdict);
	report_end_object(r);
}

/* A text that grows; what does not fit is cut off. */
struct sentence {
	char text[SENTENCE];
	size_t len;
};

static void say(struct sentence *to, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void say(struct sentence *to, const char *fmt, ...)
{
	size_t room = sizeof(to->text) - to->len;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(to->text + to->len, room, fmt, args);
	va_end(args);
	to->len += len < 0 ? 0 : (size_t)len < room ? (size_t)len : room - 1;
}

/* "mean slice more (12.0 to 14.5 us, +20.8 %)" */
static void say_change(const struct diff_change *c, struct sentence *to)
{
	const struct diff_metric_def *m = diff_metric_of(c->metric);

	say(to, "%s %s (%.*f to %.*f%s", m->words, c->verdict, c->a.mean < 100 ? 2 : 1, c->a.mean,
	    c->b.mean < 100 ? 2 : 1, c->b.mean, m->unit);
	if (c->a.mean > 0)
		say(to, ", %+.1f %%", diff_change_percent(c));
	say(to, ")");
}

static uint32_t nr_names_changed(const struct diff_changes *all)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < all->nr; i++) {
		bool is_first = all->at[i].is_change;

		for (size_t k = 0; k < i && is_first; k++)
			is_first = !all->at[k].is_change ||
			           strcmp(all->at[k].name, all->at[i].name) != 0;
		nr += is_first;
	}
	return nr;
}

void diff_report_summary(const struct diff_changes *overall, const struct diff_changes *names,
                         uint32_t nr_names, enum pass_by by, struct report *r)
{
	static const char *const many[PASS_BYS] = { [PASS_BY_THREAD] = "threads",
		                                    [PASS_BY_PROCESS] = "processes",
		                                    [PASS_BY_COMM] = "task names",
		                                    [PASS_BY_CGROUP] = "cgroups",
		                                    [PASS_BY_CLASS] = "classes" };
	struct sentence all = { .len = 0 };
	uint32_t nr = nr_names_changed(names);
	const char *between = "";

	say(&all, "All tasks together: %s", overall->nr_changes ? "" : "no change proved");
	for (size_t i = 0; i < overall->nr; i++) {
		if (!overall->at[i].is_change)
			continue;
		say(&all, "%s", between);
		say_change(&overall->at[i], &all);
		between = ", ";
	}
	if (nr)
		say(&all, "; %u of %u %s changed.", nr, nr_names, many[by]);
	else
		say(&all, "; no change proved in any of %u %s.", nr_names, many[by]);
	report_string(r, "summary", all.text);
}

void diff_report_rows(const struct diff_changes *all, enum pass_by by,
                      const struct diff_report_cfg *cfg, const char *key, struct report *r)
{
	report_begin_array(r, key);
	for (size_t i = 0; i < all->nr && (!cfg->limit || i < cfg->limit); i++)
		if (all->at[i].is_change || cfg->has_noise)
			show_change(&all->at[i], by, r);
	report_end_array(r);
}
