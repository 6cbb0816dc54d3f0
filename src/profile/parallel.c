#include "profile/parallel.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/scope.h"
#include "base/grow.h"

/* A task begins to run, or ends. */
struct edge {
	uint64_t ts_ns;
	int32_t change;
};

struct parallel {
	struct edge *edges; /* by time */
	size_t nr, cap;
	size_t at; /* of the next */
	int64_t nr_running;
};

static int add_edge(struct parallel *p, uint64_t ts_ns, int32_t change)
{
	if (GROW(p->edges, p->cap, p->nr))
		return -ENOMEM;
	p->edges[p->nr++] = (struct edge){ ts_ns, change };
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return (x->ts_ns > y->ts_ns) - (x->ts_ns < y->ts_ns);
}

static int read_slices(struct parallel *p, const struct scope *sc)
{
	struct rows it = { .sc = sc };
	struct pair_slice row;
	int err = 0;

	while (!err && rows_slice(&it, &row)) {
		err = add_edge(p, row.start_ns, 1);
		if (!err)
			err = add_edge(p, row.end_ns, -1);
	}
	if (p->nr)
		qsort(p->edges, p->nr, sizeof(*p->edges), by_time);
	return err;
}

int parallel_new(const struct source *s, const struct pass_args *args, struct diag *d,
                 struct parallel **out)
{
	SCOPED(scoped_parallel) struct parallel *p = calloc(1, sizeof(*p));
	struct pass_args everywhere = *args;
	struct scope sc = { 0 };
	int err;

	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	if (!s->facts->kinds[EV_SWITCH])
		return diag_set(d, -ENODATA, "record with schedscope, which has them always",
		                "this trace has no switches: how many tasks ran is not known");
	everywhere.cpu = PASS_ANY_CPU;
	err = scope_init(&sc, s, &everywhere, d);
	if (!err && read_slices(p, &sc))
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	scope_done(&sc);
	if (err)
		return err;
	*out = TAKE_PTR(p);
	return 0;
}

void parallel_free(struct parallel *p)
{
	if (!p)
		return;
	free(p->edges);
	free(p);
}

uint32_t parallel_at(struct parallel *p, uint64_t ts_ns)
{
	while (p->at < p->nr && p->edges[p->at].ts_ns <= ts_ns)
		p->nr_running += p->edges[p->at++].change;
	return p->nr_running > 0 ? (uint32_t)p->nr_running : 0;
}
