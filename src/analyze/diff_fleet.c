#include "analyze/diff_fleet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_report.h"
#include "base/cleanup.h"
#include "base/grow.h"

static const char *const side_names[] = { "a", "b" };

/* What is kept of a recording. */
struct fleet_recording {
	struct diff_names names;
	char *host; /* NULL = unknown */
	uint64_t start_ns, duration_ns, lost;
};

struct fleet_side {
	struct fleet_recording *at;
	size_t nr, capacity;
};

struct diff_fleet {
	struct fleet_side sides[2];
	enum pass_by by;
};

struct diff_fleet *diff_fleet_new(void)
{
	return calloc(1, sizeof(struct diff_fleet));
}

static void recording_done(struct fleet_recording *r)
{
	diff_names_done(&r->names);
	free(r->host);
}

void diff_fleet_free(struct diff_fleet *f)
{
	if (!f)
		return;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < f->sides[side].nr; i++)
			recording_done(&f->sides[side].at[i]);
		free(f->sides[side].at);
	}
	free(f);
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* A copy says nothing new, but would count as another one. */
static bool is_there(const struct fleet_side *side, const struct fleet_recording *r)
{
	for (size_t i = 0; i < side->nr; i++) {
		const struct fleet_recording *at = &side->at[i];

		if (at->start_ns == r->start_ns && at->duration_ns == r->duration_ns &&
		    at->names.at[0].weight == r->names.at[0].weight &&
		    is_same_text(at->host, r->host))
			return true;
	}
	return false;
}

int diff_fleet_add(struct diff_fleet *f, int side, const struct source *s,
                   const struct pass_args *args, struct diag *d)
{
	struct fleet_side *to = &f->sides[side];
	const char *host = source_host(s->facts);
	struct fleet_recording one = { .start_ns = s->start_ns,
		                       .duration_ns = s->end_ns - s->start_ns,
		                       .lost = s->facts->lost };
	int err;

	if (to->nr == DIFF_SET_MAX)
		return diag_set(d, -E2BIG, "compare fewer", "--%s has more than %d recordings",
		                side_names[side], DIFF_SET_MAX);
	f->by = args->by == PASS_BY_DEFAULT ? PASS_BY_COMM : args->by;
	one.host = host ? strdup(host) : NULL;
	err = host && !one.host ? -ENOMEM : diff_names_fill(&one.names, s, args, d);
	if (!err && is_there(to, &one))
		err = diag_set(d, -EINVAL, "name each recording once",
		               "'%.100s' is in --%s twice, by this or another name", s->facts->name,
		               side_names[side]);
	if (!err && GROW(to->at, to->capacity, to->nr))
		err = -ENOMEM;
	if (err) {
		recording_done(&one);
		return err == -ENOMEM ? diag_set(d, err, NULL, "out of memory") : err;
	}
	to->at[to->nr++] = one;
	return 0;
}

static uint32_t nr_hosts(const struct fleet_side *side)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < side->nr; i++) {
		bool is_new = side->at[i].host != NULL;

		for (size_t k = 0; k < i && is_new; k++)
			is_new = !is_same_text(side->at[k].host, side->at[i].host);
		nr += is_new;
	}
	return nr;
}

static void show_side(const struct fleet_side *side, const char *key, struct report *r)
{
	uint64_t duration_ns = 0, lost = 0;

	for (size_t i = 0; i < side->nr; i++) {
		duration_ns += side->at[i].duration_ns;
		lost += side->at[i].lost;
	}
	report_begin_object(r, key);
	report_u64(r, "recordings", side->nr);
	report_u64(r, "hosts", nr_hosts(side));
	report_u64(r, "duration_ns", duration_ns);
	report_u64(r, "lost_events", lost);
	report_end_object(r);
}

static void show_only(const struct diff_sets *sets, int side, const char *key, struct report *r)
{
	report_begin_array(r, key);
	for (uint32_t i = 0; i < sets->nr_only[side]; i++)
		report_string(r, NULL, sets->only[side][i]);
	report_end_array(r);
}

static const char *note_of(enum diff_unit unit)
{
	static const char *const notes[] = {
		[DIFF_UNIT_HOST] =
			"each host is one value, the mean of its recordings: what is reported holds for "
			"hosts like these; ",
		[DIFF_UNIT_RECORDING] =
			"a side has fewer than 3 hosts, or a recording does not name its host: each "
			"recording is one value, so what is reported holds for runs on these hosts; ",
		[DIFF_UNIT_PART] =
			"a side has fewer than 3 recordings: parts of them are compared, so what is "
			"reported holds for these recordings alone; ",
	};

	return notes[unit];
}

static void show(const struct diff_fleet *f, const struct diff_sets *sets,
                 const struct diff_fleet_cfg *cfg, struct report *r)
{
	static const char *const units[] = { "part", "recording", "host" };
	struct diff_report_cfg rows = { .limit = cfg->limit ? cfg->limit : DIFF_LIMIT,
		                        .has_noise = cfg->has_noise };

	diff_report_summary(&sets->overall, &sets->names, sets->nr_names, f->by, r);
	report_string(r, "unit", units[sets->unit]);
	show_side(&f->sides[0], "a", r);
	show_side(&f->sides[1], "b", r);
	diff_report_rows(&sets->overall, f->by, &(struct diff_report_cfg){ .has_noise = true },
	                 "overall", r);
	report_u64(r, "changes_found", sets->names.nr_changes);
	diff_report_rows(&sets->names, f->by, &rows, "changes", r);
	show_only(sets, 0, "only_in_a", r);
	show_only(sets, 1, "only_in_b", r);
	report_u64(r, "tests", sets->overall.nr_tests + sets->names.nr_tests);
	report_string(r, "note", report_printf(r, "%s%s", note_of(sets->unit), DIFF_NOTE));
}

static int compare(const struct diff_fleet *f, struct diff_sets *out)
{
	SCOPED(scoped_free) struct diff_member *members = NULL;
	struct diff_recordings sets[2];
	size_t nr = 0;

	*out = (struct diff_sets){ 0 };
	members = calloc(f->sides[0].nr + f->sides[1].nr, sizeof(*members));
	if (!members)
		return -ENOMEM;
	for (int side = 0; side < 2; side++) {
		const struct fleet_side *from = &f->sides[side];

		sets[side] = (struct diff_recordings){ members + nr, (uint32_t)from->nr };
		for (size_t i = 0; i < from->nr; i++)
			members[nr++] = (struct diff_member){ &from->at[i].names,
				                              from->at[i].host };
	}
	return diff_sets_compare(sets, out);
}

int diff_fleet_report(const struct diff_fleet *f, const struct diff_fleet_cfg *cfg, struct diag *d,
                      struct report **out)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	struct diff_sets sets = { 0 };
	int err;

	if (!f->sides[0].nr || !f->sides[1].nr)
		return diag_set(d, -EINVAL, "give --a and --b", "nothing to compare with");
	err = r ? compare(f, &sets) : -ENOMEM;
	if (!err) {
		report_begin_object(r, NULL);
		show(f, &sets, cfg, r);
		report_end_object(r);
		err = report_error(r);
	}
	diff_sets_done(&sets);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	*out = TAKE_PTR(r);
	return 0;
}
