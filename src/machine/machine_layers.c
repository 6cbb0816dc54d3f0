#include "machine/machine_layers.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "sys/scx/scx_layers.h"
#include "sys/scx/scx_state.h"

struct machine_layers {
	struct scx_layers map; /* fd < 0: none */
	void *value;
	bool is_on;         /* a scheduler was loaded, when the map was last searched for */
	int64_t enable_seq; /* of that one */
	bool has_rows;      /* some have layers */
};

int machine_layers_new(struct machine_layers **out)
{
	struct machine_layers *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->map.fd = -1;
	*out = l;
	return 0;
}

static void forget_map(struct machine_layers *l)
{
	if (l->map.fd >= 0)
		close(l->map.fd);
	free(l->value);
	l->map.fd = -1;
	l->value = NULL;
}

void machine_layers_free(struct machine_layers *l)
{
	if (!l)
		return;
	forget_map(l);
	free(l);
}

/* The map of an unloaded scheduler would be stale. */
static void follow(struct machine_layers *l, struct machine_log *log)
{
	struct scx_state s;
	int err;

	scx_state_read("", &s);
	if (s.is_enabled == l->is_on && (!l->is_on || s.enable_seq == l->enable_seq))
		return;
	forget_map(l);
	l->is_on = s.is_enabled;
	l->enable_seq = s.enable_seq;
	if (!l->is_on)
		return;
	err = scx_layers_find(&l->map);
	if (err)
		machine_log_add(log, "no layers: %s",
		                err == -EPERM ? "reading their map needs CAP_SYS_ADMIN"
		                              : "this scheduler has none");
	else
		l->value = malloc(l->map.value_bytes);
	if (!err && !l->value)
		forget_map(l);
}

static void show(struct machine_layers *l, struct machine_tasks *t, uint32_t tid)
{
	struct machine_task *thread = machine_tasks_thread(t, tid), *process;
	uint32_t layer;
	bool is_known = l->value && scx_layers_of(&l->map, tid, l->value, &layer) == 0;

	if (!thread)
		return;
	thread->layer = is_known ? (int64_t)layer : -1;
	process = thread->tid == thread->tgid ? machine_tasks_process(t, thread->tgid) : NULL;
	if (process)
		process->layer = thread->layer;
}

void machine_layers_refresh(struct machine_layers *l, struct machine_tasks *t,
                            struct machine_log *log)
{
	const struct machine_task *threads;
	size_t nr;

	follow(l, log);
	if (!l->value && !l->has_rows)
		return;
	l->has_rows = l->value;
	threads = machine_tasks_threads(t, &nr);
	for (size_t i = 0; i < nr; i++)
		show(l, t, threads[i].tid);
}
