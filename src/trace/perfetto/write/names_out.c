#include "trace/perfetto/write/names_out.h"

#include <string.h>

#include "trace/perfetto/schema.h"
#include "trace/perfetto/write/packets.h"

#define PACKET_BYTES  (56U << 10)
#define CMDLINE_BYTES 4096U
#define ANCESTORS     16U /* of a process, with their command lines, in one go */

void names_init(struct names_out *n, struct chunk_out *chunk, struct trace_tasks *tasks)
{
	*n = (struct names_out){ .chunk = chunk, .tasks = tasks, .entries.cap = CHUNK_PACKET_MAX };
}

void names_done(struct names_out *n)
{
	pb_done(&n->entries);
}

int names_flush(struct names_out *n)
{
	struct packet_head head = { .has_ts = true, .ts_ns = n->ts_ns, .seq = SEQ_META };
	struct pb *w = &n->chunk->packets;
	struct pb_mark packet, tree;

	if (n->entries.len == 0 && !n->entries.error)
		return 0;
	packet = packet_begin(w, &head);
	tree = pb_begin_large(w, PACKET_PROCESS_TREE);
	pb_raw(w, n->entries.buf, n->entries.len);
	pb_end(w, tree);
	packet_end(w, packet);
	if (n->entries.error && !w->error)
		w->error = n->entries.error;
	pb_clear(&n->entries);
	return chunk_packet_done(n->chunk);
}

static void put_thread(struct pb *w, const struct trace_task *task)
{
	struct pb_mark mark = pb_begin(w, TREE_THREADS);

	pb_uint(w, THREAD_TID, task->tid);
	pb_text(w, THREAD_NAME, task->comm, sizeof(task->comm));
	if (task->tgid)
		pb_uint(w, THREAD_TGID, task->tgid);
	pb_end(w, mark);
}

/* False if the command line is unknown. */
static bool put_cmdline(struct names_out *n, uint32_t tgid)
{
	char args[CMDLINE_BYTES];
	size_t len = n->cmdline ? n->cmdline(n->cmdline_ctx, tgid, args, sizeof(args)) : 0;
	size_t arg;

	if (len == 0 || len > sizeof(args) || args[0] == '\0')
		return false;
	for (size_t from = 0; from < len; from += arg + 1) {
		arg = strnlen(args + from, len - from);
		pb_text(&n->entries, PROCESS_CMDLINE, args + from, arg);
	}
	return true;
}

static void put_process(struct names_out *n, const struct trace_task *leader)
{
	struct pb *w = &n->entries;
	struct pb_mark mark = pb_begin(w, TREE_PROCESSES);

	pb_uint(w, PROCESS_PID, leader->tid);
	if (leader->ppid)
		pb_uint(w, PROCESS_PPID, leader->ppid);
	if (leader->flags & TASK_KTHREAD || !put_cmdline(n, leader->tid)) {
		pb_text(w, PROCESS_CMDLINE, leader->comm, sizeof(leader->comm));
		pb_bool(w, PROCESS_CMDLINE_IS_COMM, true);
	}
	if (leader->start_ns)
		pb_uint(w, PROCESS_START_FROM_BOOT, leader->start_ns);
	if (leader->flags & TASK_KTHREAD)
		pb_bool(w, PROCESS_IS_KTHREAD, true);
	pb_end(w, mark);
}

/* A parent that takes no part itself would be a number alone: it is shown with its child, and its own parents with it. */
static void show_parents(struct names_out *n, const struct trace_task *child)
{
	for (unsigned int i = 0; i < ANCESTORS && child->ppid; i++) {
		struct trace_task *parent = trace_tasks_find(n->tasks, child->ppid);

		if (!parent || !(parent->flags & TASK_HAS_NAME) ||
		    parent->flags & TASK_PROCESS_WRITTEN || n->entries.len >= PACKET_BYTES)
			return;
		put_process(n, parent);
		parent->flags |= TASK_PROCESS_WRITTEN;
		child = parent;
	}
}

/* A process whose leader is unknown waits until it is known. */
static void show_process(struct names_out *n, struct trace_task *task)
{
	struct trace_task *leader = task;

	if (task->tid != task->tgid)
		leader = task->tgid ? trace_tasks_find(n->tasks, task->tgid) : NULL;
	if (!leader || !(leader->flags & TASK_HAS_NAME) || leader->flags & TASK_PROCESS_WRITTEN)
		return;
	put_process(n, leader);
	leader->flags |= TASK_PROCESS_WRITTEN;
	show_parents(n, leader);
}

int names_show(struct names_out *n, struct trace_task *task, uint64_t ts_ns)
{
	if (task->flags & TASK_THREAD_WRITTEN)
		return 0;
	if (n->entries.len == 0)
		n->ts_ns = ts_ns;
	show_process(n, task);
	put_thread(&n->entries, task);
	task->flags |= TASK_THREAD_WRITTEN;
	return n->entries.error || n->entries.len >= PACKET_BYTES ? names_flush(n) : 0;
}

int names_change(struct names_out *n, struct trace_task *task, uint64_t ts_ns)
{
	int err = n->entries.len && n->ts_ns != ts_ns ? names_flush(n) : 0;

	return err ? err : names_show(n, task, ts_ns);
}
