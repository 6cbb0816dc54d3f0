#include "profile/source_profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scope.h"
#include "analyze/walk.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "model/task_lives.h"
#include "profile/parallel.h"
#include "profile/stack_ends.h"

#define NONE          UINT32_MAX
#define STACK_LATE_NS 50000U /* from a switch to the stamp of its stack, at most */
#define SECOND_NS     1000000000ULL

static const struct source_stacks no_stacks = { .event = "" };

/* Something of a task at a time: a stack, or a function in which it was blocked. */
struct moment {
	uint32_t owner; /* tid of a stack, index of a task else */
	uint32_t stack;
	uint32_t end; /* of it: enum prof_end */
	uint64_t ts_ns;
	uint64_t caller;
};

struct moments {
	struct moment *items;
	size_t nr, cap;
};

/* Sleeps of a task in one state of which nothing else is known. */
struct plain_sleeps {
	bool is_there; /* its row */
	uint32_t task; /* number in the profile: of one cgroup */
	uint64_t more; /* since the row was made */
	uint64_t value;
	uint32_t cpu; /* of the last */
};

enum sleep_state { SLEEPING, BLOCKED, STOPPED, SLEEP_STATES };

static const char *const state_names[] = {
	[SLEEPING] = "[sleeping]", [BLOCKED] = "[blocked]", [STOPPED] = "[stopped or idle]"
};

/* A task of the profile: of one cgroup. */
struct known_task {
	uint32_t number; /* NONE = not yet */
	uint32_t cgroup; /* of the source; 0 = unknown */
};

struct maker {
	struct scope sc;
	const struct source_stacks *stacks; /* may be empty */
	struct profile *p;
	struct profile_facts facts;
	uint32_t *frames; /* those of the profile, by frame of the source; NONE = not yet */
	uint32_t *list;   /* of one stack */
	size_t cap_list;
	struct known_task *tasks; /* by task */
	uint32_t idle;            /* number of what is not a task */
	bool has_cgroups;
	enum source_stack_kind kind;
	struct parallel *parallel;  /* by wall clock; else NULL */
	uint64_t nr_whole;          /* user stacks of which nothing else is said */
	struct moments left;        /* stacks of sleepers, by tid and time */
	struct moments blocked;     /* where they were blocked, by task and time */
	struct plain_sleeps *plain; /* by task and state */
};

static void done(struct maker *m)
{
	scope_done(&m->sc);
	profile_free(m->p);
	free(m->frames);
	free(m->list);
	free(m->tasks);
	free(m->left.items);
	free(m->blocked.items);
	free(m->plain);
	parallel_free(m->parallel);
}

static uint32_t *new_numbers(size_t nr)
{
	uint32_t *numbers = malloc((nr ? nr : 1) * sizeof(*numbers));

	if (numbers)
		memset(numbers, 0xff, nr * sizeof(*numbers));
	return numbers;
}

static const char *process_name(const struct maker *m, uint32_t task, uint64_t ts_ns)
{
	const struct source *s = m->sc.s;
	uint32_t tgid = source_tgid(s, task);
	uint32_t leader = tgid && s->lives ? task_lives_at(s->lives, tgid, ts_ns) : TASKS_NONE;

	return leader == TASKS_NONE ? NULL : source_comm(s, leader);
}

/* Its path; its number where that is all that is known. NULL = unknown. */
static const char *cgroup_path(const struct maker *m, uint32_t cgroup, char buf[static 32])
{
	const char *path = cgroup ? tasks_cgroup_path(m->sc.s->tasks, cgroup) : NULL;

	if (path || !cgroup)
		return path;
	(void)snprintf(buf, 32, "cgroup %llu",
	               (unsigned long long)tasks_cgroup_id(m->sc.s->tasks, cgroup));
	return buf;
}

static int add_task(struct maker *m, uint32_t task, uint64_t ts_ns, struct known_task *known)
{
	const struct source *s = m->sc.s;
	char number[32];
	struct profile_task t = {
		.tid = source_tid(s, task),
		.tgid = source_tgid(s, task),
		.comm = source_comm(s, task),
		.process = process_name(m, task, ts_ns),
		.layer = PROFILE_NO_LAYER,
		.cgroup = cgroup_path(m, known->cgroup, number),
	};

	return profile_add_task(m->p, &t, &known->number);
}

/* What is not a task: an idle CPU, which wakes nothing by itself. */
static int idle_number(struct maker *m, uint32_t *out)
{
	const char *none = m->kind == SOURCE_STACK_WAKER ? "interrupt" : "swapper";
	struct profile_task t = { .comm = none, .process = none, .layer = PROFILE_NO_LAYER };
	int err = m->idle == NONE ? profile_add_task(m->p, &t, &m->idle) : 0;

	*out = m->idle;
	return err;
}

static int task_number(struct maker *m, uint32_t task, uint64_t ts_ns, uint32_t *out)
{
	struct known_task *known;
	uint32_t cgroup;
	int err = 0;

	if (task == TASKS_NONE)
		return idle_number(m, out);
	known = &m->tasks[task];
	cgroup = m->has_cgroups ? tasks_cgroup_at(m->sc.s->tasks, task, ts_ns) : 0;
	if (known->number == NONE || known->cgroup != cgroup) {
		known->cgroup = cgroup;
		err = add_task(m, task, ts_ns, known);
	}
	*out = known->number;
	return err;
}

static int frame_number(struct maker *m, uint32_t idx, uint32_t *out)
{
	const struct source_frame *from = &m->stacks->frames[idx];
	struct profile_frame frame = {
		.symbol = from->name,
		.module = *from->module ? from->module : "unknown",
		.file = *from->file ? from->file : NULL,
		.line = from->line,
		.address = from->address,
		.is_kernel = from->is_kernel,
		.is_inlined = from->is_inlined,
	};
	char hex[32];
	int err = 0;

	if (!*from->name) {
		(void)snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)from->address);
		frame.symbol = from->address ? hex : "unknown";
	}
	if (m->frames[idx] == NONE)
		err = profile_add_frame(m->p, &frame, &m->frames[idx]);
	*out = m->frames[idx];
	return err;
}

/* The frames of a stack into the list. */
static int list_frames(struct maker *m, uint32_t idx, uint32_t end, size_t *nr)
{
	const struct source_stack *stack = &m->stacks->stacks[idx];
	uint32_t nr_user = 0;
	int err = GROW(m->list, m->cap_list, stack->nr);

	for (uint32_t i = 0; !err && i < stack->nr; i++) {
		uint32_t frame = m->stacks->stack_frames[stack->first + i];

		err = frame_number(m, frame, &m->list[i]);
		nr_user += !m->stacks->frames[frame].is_kernel &&
		           !m->stacks->frames[frame].is_inlined;
	}
	if (end < PROF_NR_ENDS)
		m->facts.ends[end] += end != PROF_END_NOT_KNOWN;
	m->nr_whole += nr_user && !end;
	m->facts.broken += nr_user == 1 || end;
	*nr = stack->nr;
	return err;
}

static int list_named(struct maker *m, const char *name, bool is_kernel, size_t *nr)
{
	struct profile_frame frame = { .symbol = name,
		                       .module = is_kernel ? "kernel" : "unknown",
		                       .is_kernel = is_kernel };
	int err = GROW(m->list, m->cap_list, *nr);

	return err ? err : profile_add_frame(m->p, &frame, &m->list[(*nr)++]);
}

static int list_stack(struct maker *m, uint32_t stack, uint32_t end, size_t *nr)
{
	*nr = 0;
	if (stack < m->stacks->nr_stacks && m->stacks->stacks[stack].nr)
		return list_frames(m, stack, end, nr);
	return list_named(m, "[no stack]", false, nr);
}

static bool takes_sample(const struct maker *m, const struct source_sample *sample, uint32_t task,
                         bool takes_idle)
{
	const struct pass_args *args = m->sc.args;
	bool is_filtered = args->pid || args->tid || args->comm || args->cgroup;

	if (!scope_has(&m->sc, sample->ts_ns) || !pass_takes_cpu(args, sample->cpu))
		return false;
	return task == TASKS_NONE ? takes_idle && !is_filtered
	                          : scope_takes(&m->sc, task, sample->ts_ns);
}

static uint32_t task_of(const struct maker *m, const struct source_sample *sample)
{
	const struct source *s = m->sc.s;

	if (!sample->tid)
		return TASKS_NONE;
	return s->lives ? task_lives_at(s->lives, sample->tid, sample->ts_ns)
	                : tasks_find(s->tasks, sample->tid);
}

static int add_samples(struct maker *m, enum source_stack_kind kind)
{
	int err = 0;

	for (size_t i = 0; !err && i < m->stacks->nr_samples; i++) {
		const struct source_sample *sample = &m->stacks->samples[i];
		uint32_t task = sample->kind == kind ? task_of(m, sample) : TASKS_NONE;
		struct profile_stack row = { .cpu = sample->cpu, .count = 1, .value = 1 };
		uint32_t nr = m->parallel ? parallel_at(m->parallel, sample->ts_ns) : 1;

		if (m->parallel)
			row.value = SECOND_NS / m->stacks->frequency / (nr ? nr : 1);
		if (sample->kind != kind ||
		    !takes_sample(m, sample, task, kind == SOURCE_STACK_WAKER))
			continue;
		err = task_number(m, task, sample->ts_ns, &row.task);
		if (!err)
			err = list_stack(m, sample->stack, sample->end, &row.nr);
		row.frames = m->list;
		if (!err)
			err = profile_add_stack(m->p, &row);
	}
	return err;
}

static int add_moment(struct moments *l, const struct moment *one)
{
	if (GROW(l->items, l->cap, l->nr))
		return -ENOMEM;
	l->items[l->nr++] = *one;
	return 0;
}

static int by_owner_and_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

/* The first of that task in [from, to); NULL = none. */
static const struct moment *find_moment(const struct moments *l, uint32_t owner, uint64_t from_ns,
                                        uint64_t to_ns)
{
	const struct moment key = { .owner = owner, .ts_ns = from_ns };
	size_t low = 0, high = l->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_owner_and_time(&l->items[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == l->nr || l->items[low].owner != owner || l->items[low].ts_ns >= to_ns)
		return NULL;
	return &l->items[low];
}

static int list_stacks(struct maker *m)
{
	int err = 0;

	for (size_t i = 0; !err && i < m->stacks->nr_samples; i++) {
		const struct source_sample *sample = &m->stacks->samples[i];
		const struct moment one = { .owner = sample->tid,
			                    .stack = sample->stack,
			                    .end = sample->end,
			                    .ts_ns = sample->ts_ns };

		if (sample->kind == SOURCE_STACK_OFF_CPU)
			err = add_moment(&m->left, &one);
	}
	if (m->left.nr)
		qsort(m->left.items, m->left.nr, sizeof(*m->left.items), by_owner_and_time);
	return err;
}

/* The kernel reports where a task was blocked when it wakes it. */
static int list_blocked(struct maker *m)
{
	struct walk w = {
		.sc = &m->sc, .table = TIMELINE_MARK, .kinds = EV_BIT(EV_BLOCKED), .is_all = true
	};
	const union timeline_row *row;
	int err = 0;

	while (!err && (row = walk_next(&w))) {
		const struct moment one = { .owner = row->mark.task,
			                    .ts_ns = row->mark.ts_ns,
			                    .caller = row->mark.value };

		if (one.caller)
			err = add_moment(&m->blocked, &one);
	}
	if (m->blocked.nr)
		qsort(m->blocked.items, m->blocked.nr, sizeof(*m->blocked.items),
		      by_owner_and_time);
	return err;
}

static enum sleep_state state_of(const struct pair_sleep *row)
{
	if (row->state == PAIR_SLEEP_S)
		return SLEEPING;
	return row->state == PAIR_SLEEP_D ? BLOCKED : STOPPED;
}

/* After the wakeup, which ends the sleep, and long before it can sleep again. */
#define BLOCKED_REPORT_NS 100000U

static int list_state(struct maker *m, const struct pair_sleep *row, const struct moment *blocked,
                      size_t *nr)
{
	const char *name = blocked ? source_symbol(m->sc.s, blocked->caller) : NULL;
	char hex[32];
	int err = 0;

	*nr = 0;
	if (blocked && !name) {
		(void)snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)blocked->caller);
		name = hex;
	}
	if (name)
		err = list_named(m, name, true, nr);
	return err ? err : list_named(m, state_names[state_of(row)], true, nr);
}

static int add_plain(struct maker *m, struct plain_sleeps *plain, enum sleep_state state)
{
	struct profile_stack stack = {
		.task = plain->task, .cpu = plain->cpu, .count = plain->more, .value = plain->value
	};
	int err = plain->more ? list_named(m, state_names[state], true, &stack.nr) : 0;

	stack.frames = m->list;
	if (!err && plain->more)
		err = profile_add_stack(m->p, &stack);
	plain->more = plain->value = 0;
	return err;
}

/* Of another cgroup than those before, or the first. */
static int begin_plain(struct maker *m, struct plain_sleeps *plain, uint32_t task,
                       enum sleep_state state)
{
	int err = add_plain(m, plain, state);

	plain->is_there = true;
	plain->task = task;
	return err;
}

static int add_sleep(struct maker *m, const struct pair_sleep *row)
{
	/* A task that is woken at once has slept for less than it takes to walk a stack. */
	const struct moment *left = find_moment(&m->left, source_tid(m->sc.s, row->task),
	                                        row->start_ns, row->end_ns + STACK_LATE_NS);
	const struct moment *blocked = left ? NULL
	                                    : find_moment(&m->blocked, row->task, row->start_ns,
	                                                  row->end_ns + BLOCKED_REPORT_NS);
	struct plain_sleeps *plain = &m->plain[(size_t)row->task * SLEEP_STATES + state_of(row)];
	struct profile_stack stack = { .cpu = row->cpu,
		                       .count = 1,
		                       .value = scope_cut(&m->sc, row->start_ns, row->end_ns) };
	int err;

	err = task_number(m, row->task, row->start_ns, &stack.task);
	/* The first makes the row, in its place among the others; the sum of the rest is added at the end. */
	if (!err && !left && !blocked && plain->is_there && plain->task == stack.task) {
		plain->more++;
		plain->value += stack.value;
		plain->cpu = stack.cpu;
		return 0;
	}
	if (!err && !left && !blocked)
		err = begin_plain(m, plain, stack.task, state_of(row));
	if (err)
		return err;
	err = left ? list_stack(m, left->stack, left->end, &stack.nr)
	           : list_state(m, row, blocked, &stack.nr);
	stack.frames = m->list;
	return err ? err : profile_add_stack(m->p, &stack);
}

static int add_sleeps(struct maker *m)
{
	struct rows it = { .sc = &m->sc };
	struct pair_sleep row;
	int err = list_stacks(m);

	m->plain = calloc(m->sc.nr_tasks + 1UL, SLEEP_STATES * sizeof(*m->plain));
	if (!m->plain)
		return -ENOMEM;
	if (!err)
		err = list_blocked(m);
	while (!err && rows_sleep(&it, &row))
		err = add_sleep(m, &row);
	for (uint32_t task = 0; task < m->sc.nr_tasks; task++)
		for (int state = 0; state < SLEEP_STATES && !err; state++)
			err = add_plain(m, &m->plain[(size_t)task * SLEEP_STATES + (size_t)state],
			                (enum sleep_state)state);
	return err;
}

static int check(const struct source *s, enum source_stack_kind kind, struct diag *d)
{
	if (kind == SOURCE_STACK_OFF_CPU && s->facts->kinds[EV_SWITCH])
		return 0;
	if (kind != SOURCE_STACK_OFF_CPU && source_stack_nr(s, kind))
		return 0;
	return diag_set(d, -ENODATA, "record with --stacks=cpu,off-cpu,waker",
	                "this trace has no %s stacks", source_stack_name(s, kind));
}

static void set_facts(struct maker *m, enum source_stack_kind kind)
{
	const struct source_facts *f = m->sc.s->facts;
	bool is_time = kind == SOURCE_STACK_OFF_CPU || kind == SOURCE_STACK_WALL;

	m->facts = (struct profile_facts){ .event = source_stack_name(m->sc.s, kind),
		                           .unit = is_time ? "ns" : "samples",
		                           .duration_ns = m->sc.span_ns };
	if (f->unix_ns)
		m->facts.start_real_ns = f->unix_ns + (m->sc.from_ns - m->sc.s->start_ns);
	if (kind != SOURCE_STACK_CPU && kind != SOURCE_STACK_WALL)
		return;
	m->facts.is_wall = kind == SOURCE_STACK_WALL;
	m->facts.event = *m->stacks->event ? m->stacks->event : "samples";
	m->facts.frequency = m->stacks->frequency;
}

static struct known_task *new_tasks(size_t nr)
{
	struct known_task *tasks = calloc(nr + 1, sizeof(*tasks));

	for (size_t i = 0; tasks && i < nr; i++)
		tasks[i].number = NONE;
	return tasks;
}

static int make(struct maker *m, enum source_stack_kind kind)
{
	int err;

	m->kind = kind;
	m->idle = NONE;
	m->has_cgroups = tasks_nr_cgroups(m->sc.s->tasks) != 0;
	m->stacks = m->sc.s->stacks ? m->sc.s->stacks : &no_stacks;
	m->frames = new_numbers(m->stacks->nr_frames);
	m->tasks = new_tasks(m->sc.nr_tasks);
	if (!m->frames || !m->tasks)
		return -ENOMEM;
	set_facts(m, kind);
	err = profile_new(&m->facts, &m->p);
	if (!err && kind == SOURCE_STACK_OFF_CPU)
		err = add_sleeps(m);
	else if (!err)
		err = add_samples(m, kind == SOURCE_STACK_WALL ? SOURCE_STACK_CPU : kind);
	/* Recorders that give reasons give none for what is whole. */
	if (stack_ends_broken(m->facts.ends))
		m->facts.ends[PROF_END_WHOLE] = m->nr_whole;
	return err ? err : profile_set_facts(m->p, &m->facts);
}

static int open_wall(struct maker *m, struct diag *d)
{
	const struct source *s = m->sc.s;

	if (!s->stacks->frequency)
		return diag_set(d, -ENODATA, "record with schedscope record --stacks",
		                "this trace does not say how often its CPUs were sampled");
	return parallel_new(s, m->sc.args, d, &m->parallel);
}

int source_profile(const struct source *s, const struct pass_args *args,
                   enum source_stack_kind kind, struct diag *d, struct profile **out)
{
	SCOPED(done) struct maker m = { 0 };
	int err = check(s, kind, d);

	if (!err)
		err = scope_init(&m.sc, s, args, d);
	if (!err && kind == SOURCE_STACK_WALL)
		err = open_wall(&m, d);
	if (err)
		return err;
	err = make(&m, kind);
	if (err == -E2BIG)
		return diag_set(d, err, "ask for less with --pid, --from and --to",
		                "the profile has too many different stacks");
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	*out = TAKE_PTR(m.p);
	return 0;
}
