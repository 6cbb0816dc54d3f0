#include "analyses/bottlenecks/findings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/walk.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/text.h"
#include "model/tasks.h"

#define LOST_SHARE 100 /* a 100th of the time */
#define TIME_BYTES 24

int findings_add(struct findings *f, const struct finding *one)
{
	if (GROW(f->at, f->room, f->nr))
		return -ENOMEM;
	f->at[f->nr++] = *one;
	return 0;
}

void findings_done(struct findings *f)
{
	free(f->at);
}

bool findings_count(const struct findings *f, uint64_t ns)
{
	return ns && ns >= f->sc->span_ns / LOST_SHARE;
}

/* Of all CPUs that were asked for, whatever ran there: a running task loses it without a wait. */
int find_stolen(struct findings *f)
{
	struct walk w = { .sc = f->sc, .table = TIMELINE_STEAL };
	SCOPED(scoped_free)
	uint64_t *by_cpu = calloc(f->sc->nr_cpus ? f->sc->nr_cpus : 1, sizeof(*by_cpu));
	struct finding one = {
		.kind = "stolen", .cause = "steal", .task = TASKS_NONE, .first_ns = UINT64_MAX
	};
	const union timeline_row *row;
	char t[TIME_BYTES], most[TIME_BYTES];
	uint32_t worst = 0;

	if (!by_cpu)
		return -ENOMEM;
	while ((row = walk_next(&w))) {
		uint64_t ns = scope_cut(f->sc, row->steal.start_ns, row->steal.end_ns);

		/* Where in the time it was stolen is not known. */
		if (row->steal.cpu >= f->sc->nr_cpus)
			continue;
		ns = row->steal.ns < ns ? row->steal.ns : ns;
		by_cpu[row->steal.cpu] += ns;
		one.lost_ns += ns;
		one.first_ns = row->steal.start_ns < one.first_ns ? row->steal.start_ns
		                                                  : one.first_ns;
		one.last_ns = row->steal.end_ns;
		worst = by_cpu[row->steal.cpu] > by_cpu[worst] ? row->steal.cpu : worst;
	}
	if (!findings_count(f, one.lost_ns))
		return 0;
	one.description = report_printf(f->r,
	                                "the hypervisor stole %s of the CPUs' time, %s of it from "
	                                "CPU %u (%.0f %% of the recording)",
	                                text_duration(t, sizeof(t), one.lost_ns),
	                                text_duration(most, sizeof(most), by_cpu[worst]), worst,
	                                100.0 * (double)by_cpu[worst] / (double)f->sc->span_ns);
	one.remedy =
		"the host runs more virtual CPUs than it has CPUs: give this machine more of them";
	one.next = "query FILE -e steal --agg sum:ns --group-by cpu";
	return findings_add(f, &one);
}

int find_ejected(struct findings *f)
{
	struct walk w = {
		.sc = f->sc, .table = TIMELINE_MARK, .kinds = EV_BIT(EV_SCX_STATE), .is_all = true
	};
	const union timeline_row *row;
	int err = 0;

	while (!err && (row = walk_next(&w))) {
		const struct pair_mark *m = &row->mark;
		const char *name = tasks_string(f->sc->s->tasks, m->name_id);
		char t[TIME_BYTES];

		if (m->value != EV_SCX_EJECTED || !scope_has(f->sc, m->ts_ns))
			continue;
		text_duration(t, sizeof(t), m->ts_ns - f->sc->s->start_ns);
		err = findings_add(
			f,
			&(struct finding){
				.kind = "ejected",
				.cause = "scheduler_ejected",
				.task = TASKS_NONE,
				.description = report_printf(
					f->r,
					"the kernel threw the sched_ext scheduler %s out %s after "
					"the start",
					name && *name ? name : "(of unknown name)", t),
				.remedy = "its reason and message are in the recording: mend the "
					  "scheduler",
				.next = "query FILE -e scx_state",
				.lost_ns = UINT64_MAX,
				.first_ns = m->ts_ns,
				.last_ns = m->ts_ns });
	}
	return err;
}
