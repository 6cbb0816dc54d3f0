#include "trace/perfetto/names_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/perfetto/schema.h"
#include "trace/perfetto/tracks/schema_tracks.h"

#define KTHREADD 2U

void names_in_done(struct names_in *n)
{
	free(n->threads);
	free(n->processes);
	*n = (struct names_in){ 0 };
}

void names_comm(char comm[EV_COMM_LEN], const void *s, size_t len)
{
	memset(comm, 0, EV_COMM_LEN);
	if (len)
		memcpy(comm, s, len < EV_COMM_LEN ? len : EV_COMM_LEN - 1);
}

/* 0 or -ENOMEM; what is beyond the cap is left out. comm is cut. */
int names_thread(struct names_in *n, const struct name_thread *t, const void *comm, size_t len)
{
	struct name_thread *to;

	if (!t->tid || t->tid > INT32_MAX || n->nr_threads == NAMES_MAX)
		return 0;
	if (GROW(n->threads, n->cap_threads, n->nr_threads))
		return -ENOMEM;
	to = &n->threads[n->nr_threads];
	*to = *t;
	to->when.order = (uint32_t)n->nr_threads;
	names_comm(to->comm, comm, len);
	n->nr_threads++;
	return 0;
}

static int keep_process(struct names_in *n, const struct name_process *p)
{
	if (!p->tgid || p->tgid > INT32_MAX || n->nr_processes == NAMES_MAX)
		return 0;
	if (GROW(n->processes, n->cap_processes, n->nr_processes))
		return -ENOMEM;
	n->processes[n->nr_processes] = *p;
	n->processes[n->nr_processes].when.order = (uint32_t)n->nr_processes;
	n->nr_processes++;
	return 0;
}

/* The first argument, up to a space where it is all there is, without its folders. */
static struct pb_in short_name(const struct name_process *p)
{
	struct pb_in in = p->cmdline, name = p->name;
	struct pb_field f;
	const uint8_t *end, *slash;

	if (pb_left(&name))
		return name;
	while (pb_next(&in, &f))
		if (f.nr == p->cmdline_field && f.type == PB_BYTES) {
			name = pb_in_field(&f);
			break;
		}
	if (pb_left(&name) == 0)
		return name;
	end = memchr(name.p, ' ', pb_left(&name));
	if (end && *name.p == '/')
		name.end = end;
	slash = memrchr(name.p, '/', pb_left(&name));
	if (slash && *name.p == '/')
		name.p = slash + 1;
	return name;
}

/* A process has a thread of its own number, described or not. */
static int add_process(struct names_in *n, struct name_process *p)
{
	struct name_thread main = { .tid = p->tgid,
		                    .tgid = p->tgid,
		                    .is_kthread = p->is_kthread,
		                    .is_derived = true,
		                    .when = p->when };
	struct pb_in name = short_name(p);
	int err = keep_process(n, p);

	return err ? err : names_thread(n, &main, name.p, pb_left(&name));
}

static int tree_process(struct names_in *n, struct pb_in in, struct name_when when)
{
	struct name_process p = { .when = when, .cmdline = in, .cmdline_field = PROCESS_CMDLINE };
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.type != PB_VARINT)
			continue;
		if (f.nr == PROCESS_PID)
			p.tgid = (uint32_t)f.value;
		else if (f.nr == PROCESS_PPID)
			p.ppid = (uint32_t)f.value;
		else if (f.nr == PROCESS_START_FROM_BOOT)
			p.start_ns = f.value;
		else if (f.nr == PROCESS_IS_KTHREAD)
			p.is_kthread = f.value != 0;
	}
	if (p.ppid == KTHREADD || (p.tgid == KTHREADD && p.ppid == 0))
		p.is_kthread = true;
	return add_process(n, &p);
}

static int tree_thread(struct names_in *n, struct pb_in in, struct name_when when)
{
	struct name_thread t = { .when = when };
	struct pb_in name = { 0 };
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.nr == THREAD_TID && f.type == PB_VARINT)
			t.tid = (uint32_t)f.value;
		else if (f.nr == THREAD_TGID && f.type == PB_VARINT)
			t.tgid = (uint32_t)f.value;
		else if (f.nr == THREAD_NAME && f.type == PB_BYTES)
			name = pb_in_field(&f);
	}
	return names_thread(n, &t, name.p, pb_left(&name));
}

int names_tree(struct names_in *n, struct pb_in body, struct name_when when)
{
	struct pb_field f;
	int err = 0;

	while (!err && pb_next(&body, &f)) {
		if (f.type != PB_BYTES)
			continue;
		if (f.nr == TREE_PROCESSES)
			err = tree_process(n, pb_in_field(&f), when);
		else if (f.nr == TREE_THREADS)
			err = tree_thread(n, pb_in_field(&f), when);
	}
	return err;
}

static int generic_process(struct names_in *n, struct pb_in in, struct name_when when)
{
	struct name_process p = { .when = when,
		                  .cmdline = in,
		                  .cmdline_field = GENERIC_PROCESS_CMDLINE };
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.nr == GENERIC_PROCESS_PID && f.type == PB_VARINT)
			p.tgid = (uint32_t)f.value;
		else if (f.nr == GENERIC_PROCESS_PPID && f.type == PB_VARINT)
			p.ppid = (uint32_t)f.value;
	}
	return p.tgid >= NAMES_PID_IDLE ? 0 : add_process(n, &p);
}

static int generic_thread(struct names_in *n, struct pb_in in, struct name_when when)
{
	struct name_thread t = { .when = when };
	struct pb_in name = { 0 };
	struct pb_field f;

	while (pb_next(&in, &f)) {
		if (f.nr == GENERIC_THREAD_TID && f.type == PB_VARINT && f.value > INT32_MAX)
			return 0; /* as its events, which are counted */
		if (f.nr == GENERIC_THREAD_TID && f.type == PB_VARINT)
			t.tid = (uint32_t)f.value;
		else if (f.nr == GENERIC_THREAD_PID && f.type == PB_VARINT)
			t.tgid = (uint32_t)f.value;
		else if (f.nr == GENERIC_THREAD_COMM && f.type == PB_BYTES)
			name = pb_in_field(&f);
	}
	return names_thread(n, &t, name.p, pb_left(&name));
}

int names_generic_tree(struct names_in *n, struct pb_in body, struct name_when when)
{
	struct pb_field f;
	int err = 0;

	while (!err && pb_next(&body, &f)) {
		if (f.type != PB_BYTES)
			continue;
		if (f.nr == GENERIC_TREE_PROCESSES)
			err = generic_process(n, pb_in_field(&f), when);
		else if (f.nr == GENERIC_TREE_THREADS)
			err = generic_thread(n, pb_in_field(&f), when);
	}
	return err;
}

int names_process_desc(struct names_in *n, struct pb_in body, struct name_when when)
{
	struct name_process p = { .when = when,
		                  .cmdline = body,
		                  .cmdline_field = PROCESS_DESC_CMDLINE };
	struct pb_field f;

	while (pb_next(&body, &f)) {
		if (f.nr == PROCESS_DESC_PID && f.type == PB_VARINT)
			p.tgid = (uint32_t)f.value;
		else if (f.nr == PROCESS_DESC_NAME && f.type == PB_BYTES)
			p.name = pb_in_field(&f);
	}
	return p.tgid >= NAMES_PID_IDLE ? 0 : add_process(n, &p);
}

int names_thread_desc(struct names_in *n, struct pb_in body, struct name_when when)
{
	struct name_thread t = { .when = when };
	struct pb_in name = { 0 };
	struct pb_field f;

	while (pb_next(&body, &f)) {
		if (f.nr == THREAD_DESC_PID && f.type == PB_VARINT)
			t.tgid = (uint32_t)f.value;
		else if (f.nr == THREAD_DESC_TID && f.type == PB_VARINT)
			t.tid = (uint32_t)f.value;
		else if (f.nr == THREAD_DESC_NAME && f.type == PB_BYTES)
			name = pb_in_field(&f);
	}
	if (t.tgid == NAMES_PID_IDLE)
		return 0;
	if (t.tgid == NAMES_PID_KERNEL || t.tgid == NAMES_PID_KTHREAD) {
		t.tgid = t.tid;
		t.is_kthread = true;
	}
	return names_thread(n, &t, name.p, pb_left(&name));
}

static int compare_when(const struct name_when *a, const struct name_when *b)
{
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int by_tid(const void *a, const void *b)
{
	const struct name_thread *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->is_derived != y->is_derived)
		return x->is_derived ? -1 : 1;
	return compare_when(&x->when, &y->when);
}

static int by_tgid(const void *a, const void *b)
{
	const struct name_process *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return compare_when(&x->when, &y->when);
}

/* Where a thread is described by itself, what was made of its process adds nothing but being a kthread. */
static void drop_derived(struct names_in *n)
{
	size_t to = 0, end, named;

	for (size_t i = 0; i < n->nr_threads; i = end) {
		bool is_kthread = false;

		for (named = i;
		     named < n->nr_threads && n->threads[named].tid == n->threads[i].tid &&
		     n->threads[named].is_derived;
		     named++)
			is_kthread |= n->threads[named].is_kthread;
		for (end = named; end < n->nr_threads && n->threads[end].tid == n->threads[i].tid;
		     end++)
			n->threads[end].is_kthread |= is_kthread;
		for (size_t k = named < end ? named : i; k < end; k++)
			n->threads[to++] = n->threads[k];
	}
	n->nr_threads = to;
}

void names_link(struct names_in *n, const struct clocks *clocks)
{
	for (size_t i = 0; i < n->nr_threads; i++)
		n->threads[i].when.ts_ns = clocks_to_trace(clocks, n->threads[i].when.clock,
		                                           n->threads[i].when.ts_ns);
	for (size_t i = 0; i < n->nr_processes; i++)
		n->processes[i].when.ts_ns = clocks_to_trace(clocks, n->processes[i].when.clock,
		                                             n->processes[i].when.ts_ns);
	if (n->nr_threads)
		qsort(n->threads, n->nr_threads, sizeof(*n->threads), by_tid);
	if (n->nr_processes)
		qsort(n->processes, n->nr_processes, sizeof(*n->processes), by_tgid);
	drop_derived(n);
}

/* The first of nr entries of size bytes whose leading number is not below id. */
static size_t lower_bound(const void *entries, size_t nr, size_t size, uint32_t id)
{
	size_t low = 0, high = nr;
	uint32_t at;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		memcpy(&at, (const char *)entries + mid * size, sizeof(at));
		if (at < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

_Static_assert(offsetof(struct name_thread, tid) == 0 && offsetof(struct name_process, tgid) == 0,
               "lower_bound() looks there");

const struct name_thread *names_find_thread(const struct names_in *n, uint32_t tid,
                                            uint64_t born_ns, uint64_t now_ns)
{
	size_t i = lower_bound(n->threads, n->nr_threads, sizeof(*n->threads), tid);
	const struct name_thread *best = NULL;

	for (; i < n->nr_threads && n->threads[i].tid == tid; i++) {
		const struct name_thread *t = &n->threads[i];
		bool is_past = best && best->when.ts_ns >= born_ns;

		if (best && t->when.ts_ns > now_ns && (is_past || best->when.ts_ns > now_ns))
			break;
		best = t;
	}
	return best;
}

const struct name_process *names_find_process(const struct names_in *n, uint32_t tgid,
                                              uint64_t born_ns, uint64_t now_ns)
{
	size_t i = lower_bound(n->processes, n->nr_processes, sizeof(*n->processes), tgid);
	const struct name_process *best = NULL;

	for (; i < n->nr_processes && n->processes[i].tgid == tgid; i++) {
		const struct name_process *p = &n->processes[i];
		bool is_past = best && best->when.ts_ns >= born_ns;

		if (best && p->when.ts_ns > now_ns && (is_past || best->when.ts_ns > now_ns))
			break;
		best = p;
	}
	return best;
}
