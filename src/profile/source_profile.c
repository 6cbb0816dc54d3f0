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

#define NONE          UINT32_MAX
#define STACK_LATE_NS 50000U /* from a switch to the stamp of its stack, at most */

static const char *const names[] = {
	[SOURCE_STACK_CPU] = "cpu", [SOURCE_STACK_OFF_CPU] = "off-cpu", [SOURCE_STACK_WAKER] = "waker"
};

static const struct source_stacks no_stacks = { .event = "" };

/* Something of a task at a time: a stack, or a function in which it was blocked. */
struct moment {
	uint32_t owner; /* tid of a stack, index of a task else */
	uint32_t stack;
	uint64_t ts_ns;
	uint64_t caller;
};

struct moments {
	struct moment *items;
	size_t nr, cap;
};

struct maker {
	struct scope sc;
	const struct source_stacks *stacks; /* may be empty */
	struct profile *p;
	struct profile_facts facts;
	uint32_t *frames; /* those of the profile, by frame of the source; NONE = not yet */
	uint32_t *list;   /* of one stack */
	size_t cap_list;
	uint32_t *tasks; /* those of the profile, by task; NONE = not yet */
	uint32_t idle;   /* likewise, of what is not a task */
	enum source_stack_kind kind;
	struct moments left;    /* stacks of sleepers, by tid and time */
	struct moments blocked; /* where they were blocked, by task and time */
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
}

uint64_t source_stack_nr(const struct source *s, enum source_stack_kind kind)
{
	size_t event = (size_t)kind - SOURCE_STACK_OTHER;

	if (!s->stacks)
		return 0;
	if (kind < SOURCE_STACK_OTHER)
		return s->stacks->nr_of[kind];
	return event < s->stacks->nr_events ? s->stacks->events[event].count : 0;
}

const char *source_stack_name(const struct source *s, enum source_stack_kind kind)
{
	size_t event = (size_t)kind - SOURCE_STACK_OTHER;

	if (kind < SOURCE_STACK_OTHER)
		return names[kind];
	return s->stacks && event < s->stacks->nr_events ? s->stacks->events[event].name : "other";
}

/* The available stacks, for an error message about others. */
static void list_kinds(const struct source *s, char *buf, size_t size)
{
	size_t len = (size_t)snprintf(buf, size, "write cpu, off-cpu, waker");

	for (size_t i = 0; s->stacks && i < s->stacks->nr_events && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, ", %s", s->stacks->events[i].name);
}

int source_stack_kind(const struct source *s, const char *word, struct diag *d,
                      enum source_stack_kind *out)
{
	size_t nr = SOURCE_STACK_OTHER + (s->stacks ? s->stacks->nr_events : 0);
	char hint[128];

	for (size_t i = 0; word && i < nr; i++) {
		if (strcmp(source_stack_name(s, (enum source_stack_kind)i), word) == 0) {
			*out = (enum source_stack_kind)i;
			return 0;
		}
	}
	if (word) {
		list_kinds(s, hint, sizeof(hint));
		return diag_set(d, -EINVAL, hint, "'%.40s' is not a category of stacks", word);
	}
	*out = source_stack_nr(s, SOURCE_STACK_CPU)     ? SOURCE_STACK_CPU
	       : s->facts->kinds[EV_SWITCH]             ? SOURCE_STACK_OFF_CPU
	       : source_stack_nr(s, SOURCE_STACK_WAKER) ? SOURCE_STACK_WAKER
	                                                : SOURCE_STACK_CPU;
	return 0;
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

static int task_number(struct maker *m, uint32_t task, uint64_t ts_ns, uint32_t *out)
{
	uint32_t *known = task == TASKS_NONE ? &m->idle : &m->tasks[task];
	/* An idle CPU wakes nothing by itself. */
	const char *none = m->kind == SOURCE_STACK_WAKER ? "interrupt" : "swapper";
	struct profile_task t = { .comm = none, .process = none, .layer = PROFILE_NO_LAYER };
	int err;

	if (*known == NONE) {
		if (task != TASKS_NONE) {
			t.tid = source_tid(m->sc.s, task);
			t.tgid = source_tgid(m->sc.s, task);
			t.comm = source_comm(m->sc.s, task);
			t.process = process_name(m, task, ts_ns);
		}
		err = profile_add_task(m->p, &t, known);
		if (err)
			return err;
	}
	*out = *known;
	return 0;
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
static int list_frames(struct maker *m, uint32_t idx, size_t *nr)
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
	m->facts.broken += nr_user == 1;
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

static int list_stack(struct maker *m, uint32_t stack, size_t *nr)
{
	*nr = 0;
	if (stack < m->stacks->nr_stacks && m->stacks->stacks[stack].nr)
		return list_frames(m, stack, nr);
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

		if (sample->kind != kind ||
		    !takes_sample(m, sample, task, kind == SOURCE_STACK_WAKER))
			continue;
		err = task_number(m, task, sample->ts_ns, &row.task);
		if (!err)
			err = list_stack(m, sample->stack, &row.nr);
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

static const char *state_name(const struct pair_sleep *row)
{
	if (row->state == PAIR_SLEEP_S)
		return "[sleeping]";
	return row->state == PAIR_SLEEP_D ? "[blocked]" : "[stopped or idle]";
}

/* After the wakeup, which ends the sleep, and long before it can sleep again. */
#define BLOCKED_REPORT_NS 100000U

static int list_state(struct maker *m, const struct pair_sleep *row, size_t *nr)
{
	const struct moment *blocked = find_moment(&m->blocked, row->task, row->start_ns,
	                                           row->end_ns + BLOCKED_REPORT_NS);
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
	return err ? err : list_named(m, state_name(row), true, nr);
}

static int add_sleep(struct maker *m, const struct pair_sleep *row)
{
	/* A task that is woken at once has slept for less than it takes to walk a stack. */
	const struct moment *left = find_moment(&m->left, source_tid(m->sc.s, row->task),
	                                        row->start_ns, row->end_ns + STACK_LATE_NS);
	struct profile_stack stack = { .cpu = row->cpu,
		                       .count = 1,
		                       .value = scope_cut(&m->sc, row->start_ns, row->end_ns) };
	int err = task_number(m, row->task, row->start_ns, &stack.task);

	if (err)
		return err;
	err = left ? list_stack(m, left->stack, &stack.nr) : list_state(m, row, &stack.nr);
	stack.frames = m->list;
	return err ? err : profile_add_stack(m->p, &stack);
}

static int add_sleeps(struct maker *m)
{
	struct rows it = { .sc = &m->sc };
	struct pair_sleep row;
	int err = list_stacks(m);

	if (!err)
		err = list_blocked(m);
	while (!err && rows_sleep(&it, &row))
		err = add_sleep(m, &row);
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

	m->facts = (struct profile_facts){ .event = source_stack_name(m->sc.s, kind),
		                           .unit = kind == SOURCE_STACK_OFF_CPU ? "ns" : "samples",
		                           .duration_ns = m->sc.span_ns };
	if (f->unix_ns)
		m->facts.start_real_ns = f->unix_ns + (m->sc.from_ns - m->sc.s->start_ns);
	if (kind != SOURCE_STACK_CPU)
		return;
	m->facts.event = *m->stacks->event ? m->stacks->event : "samples";
	m->facts.frequency = m->stacks->frequency;
}

static int make(struct maker *m, enum source_stack_kind kind)
{
	m->kind = kind;
	int err;

	m->idle = NONE;
	m->stacks = m->sc.s->stacks ? m->sc.s->stacks : &no_stacks;
	m->frames = new_numbers(m->stacks->nr_frames);
	m->tasks = new_numbers(m->sc.nr_tasks);
	if (!m->frames || !m->tasks)
		return -ENOMEM;
	set_facts(m, kind);
	err = profile_new(&m->facts, &m->p);
	if (!err)
		err = kind == SOURCE_STACK_OFF_CPU ? add_sleeps(m) : add_samples(m, kind);
	return err ? err : profile_set_facts(m->p, &m->facts);
}

int source_profile(const struct source *s, const struct pass_args *args,
                   enum source_stack_kind kind, struct diag *d, struct profile **out)
{
	SCOPED(done) struct maker m = { 0 };
	int err = check(s, kind, d);

	if (!err)
		err = scope_init(&m.sc, s, args, d);
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
