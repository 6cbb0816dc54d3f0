/*
 * Tasks that are started, run for a moment and exit, in such numbers that they use up the CPUs: by the name of those
 * that start them. Their time on the CPUs counts as lost: most of it is spent on starting and ending.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyses/bottlenecks/findings.h"
#include "analyze/walk.h"
#include "base/cleanup.h"
#include "base/text.h"

#define SHORT_LIFE_NS 100000000ULL
#define MIN_PER_SEC   20
#define MIN_TASKS     20
#define CPU_SHARE     20 /* a 20th of one CPU */
#define TIME_BYTES    24
#define KINDS         (EV_BIT(EV_FORK) | EV_BIT(EV_EXIT))

struct parent {
	uint64_t run_ns;
	uint64_t nr;
	uint64_t first_ns, last_ns;
	uint32_t nr_tasks; /* of this name started some */
	uint32_t task;     /* the last that started one */
	uint32_t child;    /* the last one */
};

struct lives {
	uint64_t *born_ns;  /* by task; 0 = not seen, or not short */
	uint32_t *parent;   /* by task */
	uint8_t *is_short;  /* by task */
	uint8_t *has_short; /* by task: started one */
	struct parent *all; /* by unit */
};

static void take_lives(struct lives *x, const struct findings *f)
{
	struct walk w = { .sc = f->sc, .table = TIMELINE_MARK, .kinds = KINDS };
	const union timeline_row *row;

	while ((row = walk_next(&w))) {
		const struct pair_mark *m = &row->mark;

		if (m->kind == EV_FORK && m->value < f->sc->nr_tasks) {
			x->born_ns[m->value] = m->ts_ns;
			x->parent[m->value] = m->task;
		} else if (m->kind == EV_EXIT && m->task < f->sc->nr_tasks) {
			x->is_short[m->task] = x->born_ns[m->task] &&
			                       m->ts_ns - x->born_ns[m->task] < SHORT_LIFE_NS;
		}
	}
}

/* False where none lived for a moment only. */
static bool take_parents(struct lives *x, const struct findings *f)
{
	bool is_any = false;

	for (uint32_t i = 0; i < f->sc->nr_tasks; i++) {
		uint32_t task = x->parent[i];
		struct parent *p;

		if (!x->is_short[i] || task >= f->sc->nr_tasks)
			continue;
		p = &x->all[units_of(f->units, task)];
		p->nr_tasks += !x->has_short[task];
		x->has_short[task] = 1;
		if (!p->nr++)
			p->first_ns = x->born_ns[i];
		p->last_ns = x->born_ns[i];
		p->task = task;
		p->child = i;
		is_any = true;
	}
	return is_any;
}

static void take_runs(struct lives *x, const struct findings *f)
{
	struct rows it = { .sc = f->sc };
	struct pair_slice row;

	while (rows_slice(&it, &row))
		if (row.task < f->sc->nr_tasks && x->is_short[row.task] &&
		    x->parent[row.task] < f->sc->nr_tasks)
			x->all[units_of(f->units, x->parent[row.task])].run_ns +=
				scope_cut(f->sc, row.start_ns, row.end_ns);
}

/* "sh (812)", or "sh (40 tasks)" where several of this name did: none of them is the one. */
static const char *starter(const struct findings *f, const struct parent *p)
{
	const char *comm = source_comm(f->sc->s, p->task);

	return p->nr_tasks > 1 ? report_printf(f->r, "%s (%" PRIu32 " tasks)", comm, p->nr_tasks)
	                       : report_printf(f->r, "%s (%" PRIu32 ")", comm,
	                                       source_tid(f->sc->s, p->task));
}

static int add(struct findings *f, const struct parent *p)
{
	char t[TIME_BYTES];

	return findings_add(
		f, &(struct finding){
			   .kind = "short_lived_tasks",
			   .cause = "fork_storm",
			   .task = p->task,
			   .lost_ns = p->run_ns,
			   .first_ns = p->first_ns,
			   .last_ns = p->last_ns,
			   .description = report_printf(
				   f->r,
				   "%s started %" PRIu64
				   " tasks that lived less than 100ms (%s was the last); they ran "
				   "for %s",
				   starter(f, p), p->nr, source_comm(f->sc->s, p->child),
				   text_duration(t, sizeof(t), p->run_ns)),
			   .remedy = "start fewer, or let one that stays do their work",
			   .next = "analyze FILE lifecycle" });
}

int find_short_lived(struct findings *f)
{
	size_t nr = f->sc->nr_tasks ? f->sc->nr_tasks : 1;
	SCOPED(scoped_free) uint64_t *born_ns = calloc(nr, sizeof(*born_ns));
	SCOPED(scoped_free) uint32_t *parent = calloc(nr, sizeof(*parent));
	SCOPED(scoped_free) uint8_t *is_short = calloc(nr, sizeof(*is_short));
	SCOPED(scoped_free) uint8_t *has_short = calloc(nr, sizeof(*has_short));
	SCOPED(scoped_free)
	struct parent *all = calloc(f->units->nr ? f->units->nr : 1, sizeof(*all));
	struct lives x = { born_ns, parent, is_short, has_short, all };
	int err = 0;

	if (!born_ns || !parent || !is_short || !has_short || !all)
		return -ENOMEM;
	take_lives(&x, f);
	if (take_parents(&x, f))
		take_runs(&x, f);
	for (uint32_t i = 0; !err && i < f->units->nr; i++)
		if (all[i].nr >= MIN_TASKS && all[i].run_ns >= f->sc->span_ns / CPU_SHARE &&
		    all[i].nr * 1000000000ULL >= MIN_PER_SEC * f->sc->span_ns)
			err = add(f, &all[i]);
	return err;
}
