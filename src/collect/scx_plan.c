#include "collect/scx_plan.h"

#include <string.h>

#include "abi/event.h"

#define QUEUE_KINDS (EV_BIT(EV_SCX_RUN) | EV_BIT(EV_DSQ_LEAVE) | EV_BIT(EV_DSQ_DEPTH))
#define TASK_KINDS  (EV_BIT(EV_SCX_RUN) | EV_BIT(EV_DSQ_LEAVE))

/* Where a program may attach; of several functions for one program, the first that is there. */
struct scx_place {
	const char *program;
	const char *function;
	const char *params[3]; /* one after the other, the last ones that the function has */
	uint64_t kinds;        /* for which it is needed */
};

static const struct scx_place places[] = {
	{ "on_dsq_enter", "dispatch_enqueue", { "dsq", "p", "enq_flags" }, QUEUE_KINDS },
	{ "on_dsq_dequeue", "dispatch_dequeue", { "rq", "p" }, TASK_KINDS },
	{ "on_dsq_unlink", "task_unlink_from_dsq", { "p", "dsq" }, EV_BIT(EV_DSQ_DEPTH) },
	{ "on_scx_reg", "bpf_scx_reg", { "kdata", "link" }, EV_BIT(EV_SCX_STATE) },
	{ "on_scx_unreg", "bpf_scx_unreg", { "kdata", "link" }, EV_BIT(EV_SCX_STATE) },
	/* Linux 7, with the reason; 6.12, with it where symbols show it; between them, without. */
	{ "on_scx_disabled", "scx_log_sched_disable", { "sch" }, EV_BIT(EV_SCX_STATE) },
	{ "on_scx_disable", "scx_ops_disable_workfn", { "work" }, EV_BIT(EV_SCX_STATE) },
	{ "on_scx_disable", "scx_disable_workfn", { "work" }, EV_BIT(EV_SCX_STATE) },
};

#define NR_PLACES (sizeof(places) / sizeof(places[0]))

/* Index of the first of the parameters; false if they are others. */
static bool match_params(const struct scx_place *place, const struct scx_function *f,
                         uint32_t *first)
{
	unsigned int nr = 0;

	while (nr < 3 && place->params[nr])
		nr++;
	if (f->nr_params < nr || f->nr_params > SCX_FUNCTION_PARAMS)
		return false;
	*first = f->nr_params - nr;
	for (unsigned int i = 0; i < nr; i++)
		if (strcmp(f->params[*first + i], place->params[i]) != 0)
			return false;
	return true;
}

static bool has_program(const struct scx_plan *plan, const char *program)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (strcmp(plan->programs[i].program, program) == 0)
			return true;
	return false;
}

/* One program that sees a scheduler go is enough. */
static bool is_served(const struct scx_plan *plan, const char *program)
{
	return has_program(plan, program) ||
	       (strcmp(program, "on_scx_disable") == 0 && has_program(plan, "on_scx_disabled"));
}

static void add(struct scx_plan *plan, const char *program, const char *function)
{
	plan->programs[plan->nr++] = (struct scx_plan_program){ program, function, false };
}

/* What was requested and has all that it needs: without the insertion into a queue, nothing is known of it. */
static uint64_t kinds_of(const struct scx_plan *plan, uint64_t kinds)
{
	uint64_t got = 0;

	if (has_program(plan, "on_dsq_enter"))
		got |= kinds & TASK_KINDS;
	if (has_program(plan, "on_dsq_enter") && has_program(plan, "on_dsq_unlink"))
		got |= kinds & EV_BIT(EV_DSQ_DEPTH);
	if (has_program(plan, "on_scx_reg") && has_program(plan, "on_scx_unreg"))
		got |= kinds & EV_BIT(EV_SCX_STATE);
	return got;
}

void scx_plan_make(uint64_t kinds, enum scx_way way, scx_function_fn *find, void *ctx,
                   struct scx_plan *out)
{
	struct scx_plan plan = { .way = way };
	struct scx_function f;
	uint32_t first;

	for (const struct scx_place *p = places; p < places + NR_PLACES; p++) {
		if (!(p->kinds & kinds) || is_served(&plan, p->program) ||
		    !find(ctx, p->function, &f) || !match_params(p, &f, &first))
			continue;
		/* The programs that need it count the arguments from the front, but for this one. */
		if (strcmp(p->program, "on_dsq_enter") == 0) {
			if (first > 2)
				continue;
			plan.dsq_at = first;
		} else if (first != 0) {
			continue;
		}
		add(&plan, p->program, p->function);
	}
	/* What fexit sees at once: the argument and the result. */
	if (way == SCX_BY_KPROBE && has_program(&plan, "on_scx_reg")) {
		add(&plan, "on_scx_regret", "bpf_scx_reg");
		plan.programs[plan.nr - 1].is_return = true;
	}
	plan.kinds = kinds_of(&plan, kinds);
	/* Read from files, which come with sched_ext. */
	if (find(ctx, "bpf_scx_reg", &f))
		plan.kinds |= kinds & EV_BIT(EV_SCX_COUNTER);
	if (plan.kinds & TASK_KINDS)
		add(&plan, "on_scx_switch", NULL);
	if (!plan.kinds)
		plan.nr = 0;
	*out = plan;
}
