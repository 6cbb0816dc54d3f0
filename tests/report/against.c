#include "against.h"

#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/passes.h"

static const char *const causes[] = { "unknown",   "waking",  "queue", "throttled", "stolen",
	                              "interrupt", "softirq", "task",  "idle" };

static json_t *who_entry(const struct unpacked *u, uint64_t who)
{
	json_t *entry = json_array_get(json_object_get(u->doc, "who"), who);

	assert_non_null(entry);
	return entry;
}

static bool has_name(json_t *entry, const char *comm)
{
	json_t *name, *names = json_object_get(entry, "names");
	const char *last = json_string_value(json_object_get(entry, "comm"));
	size_t i;

	if (last && !strcmp(last, comm))
		return true;
	json_array_foreach(names, i, name) if (!strcmp(json_string_value(name), comm)) return true;
	return false;
}

static bool is_below(const char *path, const char *cgroup)
{
	size_t len = strlen(cgroup);

	if (!path || !strcmp(cgroup, "/"))
		return path && !strcmp(path, "/");
	return !strncmp(path, cgroup, len) && (!path[len] || path[len] == '/');
}

static bool takes(const struct unpacked *u, const struct selection *sel, uint64_t who)
{
	json_t *e = who_entry(u, who);

	if (sel->tid && json_integer_value(json_object_get(e, "tid")) != sel->tid)
		return false;
	if (sel->pid && json_integer_value(json_object_get(e, "tgid")) != sel->pid)
		return false;
	if (sel->comm && (!who || !has_name(e, sel->comm)))
		return false;
	return !sel->cgroup ||
	       is_below(json_string_value(json_object_get(e, "cgroup")), sel->cgroup);
}

/* Whether a row counts: what began in the span, or was open where it begins. */
static bool in_span(const struct unpacked_table *t, uint64_t row, const struct selection *sel)
{
	uint64_t at = t->values[0][row];

	return strcmp(t->columns[0], "edge") == 0 ? at == sel->from
	                                          : at >= sel->from && at < sel->to;
}

typedef void (*take_row)(const struct unpacked *u, const struct unpacked_table *t, uint64_t row,
                         void *ctx);

static void each_row(const struct unpacked *u, const char *table, const struct selection *sel,
                     take_row take, void *ctx)
{
	const struct unpacked_table *t = unpacked_table(u, table);

	for (uint64_t i = 0; t && i < t->nr; i++)
		if (in_span(t, i, sel) && takes(u, sel, unpacked_at(t, i, "who")))
			take(u, t, i, ctx);
}

static const char *comm_of(json_t *entry)
{
	const char *comm = json_string_value(json_object_get(entry, "comm"));

	return comm ? comm : "";
}

static void thread_name(const struct unpacked *u, uint64_t who, char out[64])
{
	snprintf(out, 64, "%lld",
	         (long long)json_integer_value(json_object_get(who_entry(u, who), "tid")));
}

struct totals {
	struct named_sums by_thread;
	uint64_t a, b;
};

static void take_run(const struct unpacked *u, const struct unpacked_table *t, uint64_t row,
                     void *ctx)
{
	bool is_open = !strcmp(t->columns[0], "edge");
	uint64_t ns = is_open ? 0 : unpacked_at(t, row, "ns");
	uint64_t nr = unpacked_at(t, row, is_open ? "count" : "begun");
	struct totals *x = ctx;
	char name[64];

	x->a += ns;
	x->b += nr;
	if (!unpacked_at(t, row, "who"))
		return;
	thread_name(u, unpacked_at(t, row, "who"), name);
	named_add(&x->by_thread, name, ns, nr);
}

static struct report *run(const struct pass *p, const struct source *s,
                          const struct pass_args *args)
{
	struct report *r = NULL;
	struct diag d = { 0 };

	if (pass_run(p, s, args, &d, &r))
		fail_msg("%s: %s", p->id, d.what);
	return r;
}

static void check_run(const struct source *s, const struct pass_args *args,
                      const struct unpacked *u, const struct selection *sel, bool by_thread)
{
	struct report *r = run(&pass_process_runtime, s, args);
	const struct report_node *root = report_root(r);
	struct named_sums expected = { 0 };
	struct totals got = { 0 };
	char name[64];

	each_row(u, "run", sel, take_run, &got);
	each_row(u, "run_open", sel, take_run, &got);
	expect_eq(got.a, report_u64_at(root, "total_runtime_ns"));
	for (const struct report_node *at = report_at(root, "processes")->first; at;
	     at = at->next) {
		snprintf(name, sizeof(name), "%llu", (unsigned long long)report_u64_at(at, "pid"));
		named_add(&expected, name, report_u64_at(at, "total_runtime_ns"),
		          report_u64_at(at, "num_switches"));
	}
	if (by_thread)
		named_expect_same("run", &got.by_thread, &expected);
	named_done(&expected);
	named_done(&got.by_thread);
	report_free(r);
}

struct wait_totals {
	uint64_t count[2], sum_ns[2];
};

static void take_wait(const struct unpacked *u, const struct unpacked_table *t, uint64_t row,
                      void *ctx)
{
	struct wait_totals *x = ctx;
	uint64_t kind = unpacked_at(t, row, "kind");
	json_t *range;

	x->count[kind] += unpacked_at(t, row, "count");
	x->sum_ns[kind] += unpacked_at(t, row, "sum_ns");
	if (!strcmp(t->name, "waiting"))
		return;
	range = json_array_get(json_object_get(u->doc, "slots"), unpacked_at(t, row, "slot"));
	assert_true(unpacked_at(t, row, "sum_ns") >=
	            unpacked_at(t, row, "count") *
	                    (uint64_t)json_integer_value(json_array_get(range, 0)));
	if (json_is_integer(json_array_get(range, 1)))
		assert_true(unpacked_at(t, row, "sum_ns") <=
		            unpacked_at(t, row, "count") *
		                    (uint64_t)json_integer_value(json_array_get(range, 1)));
}

static void take_wake(const struct unpacked *u, const struct unpacked_table *t, uint64_t row,
                      void *ctx)
{
	json_t *waker = json_array_get(json_object_get(u->doc, "wakers"),
	                               unpacked_at(t, row, "waker"));
	const char *interrupt = json_string_value(json_object_get(waker, "interrupt"));
	char by[64], to[64], name[200];

	if (unpacked_at(t, row, "kind"))
		return;
	if (interrupt)
		snprintf(by, sizeof(by), "%s", interrupt);
	else
		thread_name(u, (uint64_t)json_integer_value(json_object_get(waker, "who")), by);
	thread_name(u, unpacked_at(t, row, "who"), to);
	snprintf(name, sizeof(name), "%s > %s", by, to);
	named_add(ctx, name, unpacked_at(t, row, "count"), unpacked_at(t, row, "sum_ns"));
}

static void list_pairs(const struct report_node *root, struct named_sums *out)
{
	const struct report_node *at = report_at(root, "top_pairs_by_total_latency")->first;
	char name[200];

	for (; at; at = at->next) {
		const char *interrupt = report_text_at(at, "waker_interrupt");

		if (interrupt)
			snprintf(name, sizeof(name), "%s > %llu", interrupt,
			         (unsigned long long)report_u64_at(at, "wakee_pid"));
		else
			snprintf(name, sizeof(name), "%llu > %llu",
			         (unsigned long long)report_u64_at(at, "waker_pid"),
			         (unsigned long long)report_u64_at(at, "wakee_pid"));
		named_add(out, name, report_u64_at(at, "count"),
		          report_u64_at(at, "total_latency_ns"));
	}
}

/* The same sums by CPU; without a filter, as the table has no who. */
static void check_wait_cpus(const struct unpacked *u, const struct selection *sel,
                            const struct wait_totals *expected)
{
	static const char *const names[] = { "wait_cpu", "wait_cpu_open" };
	struct wait_totals got = { 0 };

	if (sel->comm || sel->cgroup || sel->tid || sel->pid)
		return;
	for (int i = 0; i < 2; i++) {
		const struct unpacked_table *t = unpacked_table(u, names[i]);

		for (uint64_t row = 0; t && row < t->nr; row++)
			if (in_span(t, row, sel))
				take_wait(u, t, row, &got);
	}
	for (int i = 0; i < 2; i++) {
		expect_eq(got.count[i], expected->count[i]);
		expect_eq(got.sum_ns[i], expected->sum_ns[i]);
	}
}

static uint64_t check_waits(const struct source *s, const struct pass_args *args,
                            const struct unpacked *u, const struct selection *sel, bool by_thread)
{
	struct report *r = run(&pass_wakeup_latency, s, args);
	const struct report_node *root = report_root(r);
	struct wait_totals got = { 0 }, waiting = { 0 };
	struct named_sums pairs = { 0 }, expected = { 0 };
	uint64_t sum_ns = 0;

	each_row(u, "wait", sel, take_wait, &got);
	each_row(u, "wait_open", sel, take_wait, &got);
	expect_eq(got.count[0], report_u64_at(root, "total_wakeups"));
	expect_eq(got.count[1], report_u64_at(root, "preempted_wait.count"));
	expect_eq(got.sum_ns[1], report_u64_at(root, "preempted_wait.total_ns"));
	check_wait_cpus(u, sel, &got);
	each_row(u, "wake", sel, take_wake, &pairs);
	each_row(u, "wake_open", sel, take_wake, &pairs);
	list_pairs(root, &expected);
	for (size_t i = 0; i < expected.nr; i++)
		sum_ns += expected.at[i].b;
	expect_eq(got.sum_ns[0], sum_ns);
	if (by_thread)
		named_expect_same("wake", &pairs, &expected);
	/* Those that never end are open from where they begin on, to the end. */
	if (args->from_ns < s->end_ns)
		each_row(u, "waiting",
		         &(struct selection){ 0, sel->to, sel->comm, sel->cgroup, sel->tid,
		                              sel->pid },
		         take_wait, &waiting);
	expect_eq(waiting.count[0], report_u64_at(root, "still_waiting"));
	expect_eq(waiting.count[1], report_u64_at(root, "preempted_wait.still_waiting"));
	named_done(&pairs);
	named_done(&expected);
	report_free(r);
	return got.count[0] + got.count[1] + waiting.count[0] + waiting.count[1];
}

struct blame_totals {
	const char *key; /* comm or cgroup */
	struct named_sums victims, culprits, causes;
};

static const char *value_of(json_t *entry, const char *key)
{
	const char *text = json_string_value(json_object_get(entry, key));

	if (!text && strcmp(key, "cgroup") == 0)
		return "unknown";
	return text ? text : "?";
}

static void take_blame(const struct unpacked *u, const struct unpacked_table *t, uint64_t row,
                       void *ctx)
{
	struct blame_totals *x = ctx;
	uint64_t ns = unpacked_at(t, row, "ns"), cause = unpacked_at(t, row, "cause");
	json_t *causes_of = json_object_get(u->doc, "causes");
	const char *victim = value_of(who_entry(u, unpacked_at(t, row, "who")), x->key);
	const char *name = json_string_value(json_array_get(causes_of, cause));
	char both[200];

	assert_non_null(name);
	named_add(&x->causes, name, ns, 0);
	snprintf(both, sizeof(both), "%s by %s", victim, name);
	named_add(&x->victims, both, ns, 0);
	if (!strcmp(name, "task"))
		named_add(&x->culprits,
		          value_of(who_entry(u, unpacked_at(t, row, "culprit")), x->key), ns, 0);
}

static void list_causes(const struct report_node *node, const char *victim, struct named_sums *out)
{
	char key[64], both[200];

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		snprintf(key, sizeof(key), "%s_ns",
		         strcmp(causes[i], "interrupt") == 0 ? "irq" : causes[i]);
		snprintf(both, sizeof(both), "%s%s%s", victim ? victim : "", victim ? " by " : "",
		         causes[i]);
		named_add(out, both, report_u64_at(node, key), 0);
	}
}

static const char *text_of(const struct report_node *at, const char *key)
{
	const char *text = report_text_at(at, key);

	return text ? text : "?";
}

static void check_blame(const struct source *s, const struct pass_args *base,
                        const struct unpacked *u, const struct selection *sel, const char *key,
                        uint64_t nr_waits)
{
	struct pass_args args = *base;
	struct blame_totals got = { .key = key };
	struct named_sums victims = { 0 }, culprits = { 0 }, sums = { 0 };
	const struct report_node *root;
	struct report *r;

	args.by = strcmp(key, "cgroup") == 0 ? PASS_BY_CGROUP : PASS_BY_COMM;
	r = run(&pass_blame, s, &args);
	root = report_root(r);
	each_row(u, "blame", sel, take_blame, &got);
	expect_eq(nr_waits, report_u64_at(root, "waits"));
	list_causes(root, NULL, &sums);
	for (const struct report_node *at = report_at(root, "victims")->first; at; at = at->next)
		list_causes(at, text_of(at, key), &victims);
	for (const struct report_node *at = report_at(root, "culprits")->first; at; at = at->next)
		named_add(&culprits, text_of(at, key), report_u64_at(at, "caused_wait_ns"), 0);
	named_expect_same("blame", &got.causes, &sums);
	named_expect_same("victims", &got.victims, &victims);
	/* A culprit that changes its cgroup while it runs counts where the part of a wait begins, and edges of buckets begin parts. */
	if (strcmp(key, "cgroup") != 0 || sel->to - sel->from == 1)
		named_expect_same("culprits", &got.culprits, &culprits);
	named_done(&got.causes);
	named_done(&got.victims);
	named_done(&got.culprits);
	named_done(&victims);
	named_done(&culprits);
	named_done(&sums);
	report_free(r);
}

void expect_like_analyze(const struct source *s, const struct pass_args *base,
                         const struct unpacked *u, const struct selection *sel, bool by_thread)
{
	uint64_t start_ns = unpacked_num(u, "time", "start_ns");
	uint64_t first_ns = start_ns + unpacked_num(u, "buckets", "first_ns");
	uint64_t width_ns = unpacked_num(u, "buckets", "width_ns");
	uint64_t end_ns = first_ns + sel->to * width_ns, nr_waits = 0;
	struct pass_args args = { .cpu = PASS_ANY_CPU,
		                  .limit = 1000000,
		                  .from_ns = first_ns + sel->from * width_ns,
		                  .to_ns = base->to_ns && base->to_ns < end_ns ? base->to_ns
		                                                               : end_ns,
		                  .comm = sel->comm,
		                  .cgroup = sel->cgroup,
		                  .tid = sel->tid,
		                  .pid = sel->pid };

	if (pass_applies(&pass_process_runtime, s))
		check_run(s, &args, u, sel, by_thread);
	if (pass_applies(&pass_wakeup_latency, s))
		nr_waits = check_waits(s, &args, u, sel, by_thread);
	if (pass_applies(&pass_blame, s)) {
		check_blame(s, &args, u, sel, "comm", nr_waits);
		if (s->facts->kinds[EV_CGROUP] && by_thread)
			check_blame(s, &args, u, sel, "cgroup", nr_waits);
	}
}

void expect_each_bucket(const struct source *s, const struct pass_args *base,
                        const struct unpacked *u)
{
	uint64_t nr_buckets = unpacked_num(u, "buckets", "nr");

	for (uint64_t i = 0; i < nr_buckets; i++)
		expect_like_analyze(s, base, u, &(struct selection){ .from = i, .to = i + 1 },
		                    true);
}

/* A name that is no pattern. */
static const char *plain(const char *text)
{
	return text && *text && !strpbrk(text, "*?[]\\") ? text : NULL;
}

void expect_random_spans(const struct source *s, const struct pass_args *base,
                         const struct unpacked *u, int nr, bool by_thread)
{
	uint64_t nr_buckets = unpacked_num(u, "buckets", "nr");
	size_t nr_who = json_array_size(json_object_get(u->doc, "who"));

	for (int i = 0; i < nr; i++) {
		struct selection sel = { .from = (uint64_t)random() % nr_buckets };
		json_t *e = who_entry(u, (uint64_t)random() % nr_who);

		sel.to = sel.from + 1 + (uint64_t)random() % (nr_buckets - sel.from);
		if (i == 0)
			sel = (struct selection){ .to = nr_buckets };
		if (i % 5 == 1)
			sel.comm = plain(comm_of(e));
		if (i % 5 == 2 && json_string_value(json_object_get(e, "cgroup")) &&
		    *json_string_value(json_object_get(e, "cgroup")) == '/')
			sel.cgroup = plain(json_string_value(json_object_get(e, "cgroup")));
		if (i % 5 == 3 && by_thread)
			sel.tid = (uint32_t)json_integer_value(json_object_get(e, "tid"));
		if (i % 5 == 4 && by_thread)
			sel.pid = (uint32_t)json_integer_value(json_object_get(e, "tgid"));
		expect_like_analyze(s, base, u, &sel, by_thread);
	}
}
