#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/compare/compare_priv.h"

#define VALUE_BYTES 48
#define US_NS       1000.0
#define ARROW       "\xe2\x86\x92"

/* A text that grows; what does not fit is cut off. */
struct words {
	char *at;
	size_t size, len;
};

static void say(struct words *to, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void say(struct words *to, const char *fmt, ...)
{
	size_t room = to->size - to->len;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(to->at + to->len, room, fmt, args);
	va_end(args);
	to->len += len < 0 ? 0 : (size_t)len < room ? (size_t)len : room - 1;
}

static char *say_with(enum diff_metric metric, double value, const char *unit, char *dst,
                      size_t size)
{
	int decimals = 0;

	if (metric < DIFF_RUNTIME)
		return text_duration(dst, size, (uint64_t)llround(fmin(value, 1e12) * US_NS));
	if (value > 0 && value < 100)
		decimals = value < 10 ? 2 : 1;
	snprintf(dst, size, "%.*f%s", decimals, value, unit);
	return dst;
}

/* "1.2ms", "3.4 % of one CPU" */
static char *say_value(enum diff_metric metric, double value, char *dst, size_t size)
{
	return say_with(metric, value, diff_metric_of(metric)->unit, dst, size);
}

char *compare_say_short(enum diff_metric metric, double value, char *dst, size_t size)
{
	return say_with(metric, value, metric == DIFF_RUNTIME ? " %" : "/s", dst, size);
}

const char *compare_say_verdict(const struct diff_change *change)
{
	if (change->is_change)
		return change->verdict;
	return change->is_tested ? "no change proved" : "too little to compare";
}

/* Two digits that count, and no more than two decimals: 0.97, 2.8, 35. */
static void say_times(struct words *to, double times)
{
	say(to, "%.*f", times < 1.995 ? 2 : times < 99.5 ? 1 : 0, times);
}

static void say_ratio(struct words *to, const struct diff_change *change)
{
	const struct diff_ratio *r = &change->ratio;

	if (!r->is_known)
		return;
	say(to, ", ");
	say_times(to, r->value);
	say(to, " times (");
	say_times(to, r->low);
	say(to, " to ");
	say_times(to, r->high);
	say(to, ")");
	if (change->is_change && r->low < 1 && r->high > 1)
		say(to, "; that it changed is sure, by how much is not");
}

char *compare_say_change(const struct diff_change *change, char *dst, size_t size)
{
	struct words to = { .at = dst, .size = size };
	char before[VALUE_BYTES], after[VALUE_BYTES];

	say(&to, "%s of %s: %s", diff_metric_of(change->metric)->words,
	    strcmp(change->name, DIFF_ALL) == 0 ? "all tasks together" : change->name,
	    compare_say_verdict(change));
	if (change->a.nr && change->b.nr)
		say(&to, ", %s %s %s",
		    say_value(change->metric, change->a.mean, before, sizeof(before)), ARROW,
		    say_value(change->metric, change->b.mean, after, sizeof(after)));
	if (change->is_tested)
		say_ratio(&to, change);
	say(&to, ".");
	return dst;
}

static uint32_t nr_names_changed(const struct diff_changes *all)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < all->nr && all->at[i].is_change; i++) {
		bool is_first = true;

		for (size_t k = 0; k < i && is_first; k++)
			is_first = strcmp(all->at[k].name, all->at[i].name) != 0;
		nr += is_first;
	}
	return nr;
}

/* "better or worse" numbers of one family. */
static void say_counts(struct words *to, const struct diff_changes *all)
{
	uint32_t nr_better = 0, nr_worse = 0, nr_other = 0;

	for (size_t i = 0; i < all->nr; i++) {
		const struct diff_change *change = &all->at[i];

		if (!change->is_change)
			continue;
		nr_better += strcmp(change->verdict, "better") == 0;
		nr_worse += strcmp(change->verdict, "worse") == 0;
		nr_other += !diff_metric_of(change->metric)->is_better_lower;
	}
	say(to, "%" PRIu32 " better, %" PRIu32 " worse, %" PRIu32 " other numbers more or less",
	    nr_better, nr_worse, nr_other);
}

char *compare_say_summary(const struct report_compare *c, char *dst, size_t size)
{
	struct words to = { .at = dst, .size = size };

	say(&to, "All tasks together: ");
	if (c->result.overall.nr_changes)
		say_counts(&to, &c->result.overall);
	else
		say(&to, "no change proved");
	say(&to, " (%zu numbers tested). ", c->result.overall.nr_tests);
	if (!c->result.names.nr_changes) {
		say(&to, "No change proved in any of %" PRIu32 " task names (%zu numbers tested).",
		    c->result.nr_names, c->result.names.nr_tests);
		return dst;
	}
	say(&to,
	    "%" PRIu32 " of %" PRIu32 " task names changed: ", nr_names_changed(&c->result.names),
	    c->result.nr_names);
	say_counts(&to, &c->result.names);
	say(&to, " (%zu numbers tested).", c->result.names.nr_tests);
	return dst;
}

const char *compare_say_method(const struct report_compare *c)
{
	if (c->result.unit != DIFF_UNIT_PART)
		return "Each recording is one value. How much the recordings of a set differ, and at least how "
		       "much their own parts do, gives the interval (95 %) beside each number and the chance that "
		       "both sets are alike. A change is proved if it is at least 2 % and the chance of any false "
		       "change among all tests of this comparison is at most 1 % (Holm). What is not proved may "
		       "still be there: three recordings of each prove only what is very large, six prove far more.";
	if (c->sides[COMPARE_BEFORE].nr == 1 && c->sides[COMPARE_AFTER].nr == 1)
		return "As diff does it: each recording is cut into 16 parts; how much they differ gives the interval "
		       "(95 %) beside each number and the chance that both recordings are alike. A change is proved "
		       "if it is at least 2 % and the chance of any false change among all tests of this comparison "
		       "is at most 1 % (Holm). What is not proved may still be there. It says that these recordings "
		       "differ, not why: two runs of the same work differ too. Several recordings of each, best six, "
		       "show whether it is more than that.";
	return "One side has fewer than three recordings, so how much runs differ is not known: each recording is cut "
	       "into 16 parts, as diff does it, and the parts of a side are taken together. A change is proved if it "
	       "is at least 2 % and the chance of any false change among all tests of this comparison is at most 1 % "
	       "(Holm). What is not proved may still be there. It says that these recordings differ, not why: "
	       "six recordings of each show whether it is more than runs of the same work differ.";
}
