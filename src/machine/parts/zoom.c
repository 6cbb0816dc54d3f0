#include "machine/parts/zoom.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collect/tracing.h"
#include "collect/zoom_collector.h"
#include "machine/machine_attach.h"
#include "machine/machine_zoom.h"
#include "machine/parts/zoom_tables.h"
#include "sys/proc/pid_namespace.h"

#define AGAIN_NS 1000000000ULL

/* The last row of a thread, with texts of its own. */
struct last_row {
	struct machine_task task;
	char comm[32];
	char class_name[16];
	char cmdline[512];
	char cgroup[512];
};

struct zoom_part {
	struct machine_attach *attach; /* that is on its way */
	struct zoom_collector *collector;
	char missing[640];
	uint32_t tid;      /* the shown thread; 0 = none */
	bool is_started;   /* for it */
	uint64_t since_ns; /* when that was */
	uint64_t until_ns; /* when it exited; 0 = alive */
	struct last_row row;
	struct machine_zoom zoom;
	struct zoom_tables tables;
};

static void say_missing(struct zoom_part *p, const struct diag *why)
{
	(void)snprintf(p->missing, sizeof(p->missing),
	               "without BPF, its wakers and what it waits for are unknown: %s%s%s",
	               why->what, why->hint[0] ? "; " : "", why->hint);
}

/* In a thread of its own. */
static int load(uint32_t is_counted, struct diag *d, void **out)
{
	struct zoom_collector *c;
	struct zoom_cfg cfg = { 0 };
	struct tracing tracing;
	int err = tracing_probe("its wakers and rivals", &tracing, d);

	if (err)
		return err;
	cfg.switch_args = (uint8_t)tracing.switch_args;
	err = zoom_collector_open(&cfg, is_counted, d, &c);
	if (err)
		return err;
	*out = c;
	return 0;
}

static void unload(void *collector)
{
	zoom_collector_close(collector);
}

static void start_loading(struct zoom_part *p, const struct machine_source_cfg *cfg)
{
	const struct machine_attach_cfg job = { load, unload, cfg->is_context_counted };
	struct diag why = { 0 };
	int err;

	if (cfg->root)
		diag_set(&why, -ENOTSUP, NULL, "these are the files of another machine");
	else if (cfg->is_proc_only)
		diag_set(&why, -ENOTSUP, NULL, "from /proc, as asked");
	else if (!pid_namespace_is_initial())
		diag_set(&why, -ENOTSUP, "run it in the host's pid namespace (docker: --pid=host)",
		         "inside a pid namespace, the kernel's ids cannot be matched");
	else if ((err = machine_attach_start(&job, &p->attach)))
		diag_set(&why, err, NULL, "cannot start a thread that loads programs");
	if (why.code)
		say_missing(p, &why);
}

static int open_zoom(const struct machine_source_cfg *cfg, struct diag *d, void **out)
{
	struct zoom_part *p = calloc(1, sizeof(*p));

	if (!p)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	start_loading(p, cfg);
	*out = p;
	return 0;
}

static void suspend(void *part)
{
	struct zoom_part *p = part;

	if (p->is_started)
		zoom_collector_stop(p->collector);
	p->is_started = false;
	p->until_ns = 0;
	p->tid = 0;
}

static void close_zoom(void *part)
{
	struct zoom_part *p = part;

	machine_attach_cancel(p->attach);
	zoom_collector_close(p->collector);
	free(p);
}

static void take_programs(struct zoom_part *p)
{
	struct diag why = { 0 };
	void *loaded = NULL;

	if (!p->attach || !machine_attach_poll(p->attach, &why, &loaded))
		return;
	p->attach = NULL;
	p->collector = loaded;
	if (!loaded)
		say_missing(p, &why);
}

static void start(struct zoom_part *p)
{
	struct diag why = { 0 };

	if (zoom_collector_start(p->collector, p->tid, &why)) {
		say_missing(p, &why);
		zoom_collector_close(p->collector);
		p->collector = NULL;
		return;
	}
	p->is_started = true;
	p->since_ns = clock_boot_ns();
	p->until_ns = 0;
}

static void begin(struct zoom_part *p, uint32_t tid)
{
	suspend(p);
	p->tid = tid;
	p->zoom = (struct machine_zoom){ .tid = tid };
}

static const char *keep(char *to, size_t size, const char *text)
{
	if (!text)
		return NULL;
	(void)snprintf(to, size, "%s", text);
	return to;
}

static void keep_row(struct last_row *r, const struct machine_task *t)
{
	r->task = *t;
	r->task.comm = keep(r->comm, sizeof(r->comm), t->comm);
	r->task.class_name = keep(r->class_name, sizeof(r->class_name), t->class_name);
	r->task.cmdline = keep(r->cmdline, sizeof(r->cmdline), t->cmdline);
	r->task.cgroup = keep(r->cgroup, sizeof(r->cgroup), t->cgroup);
	r->task.run_history = (struct machine_history){ 0 };
}

static const struct machine_task *find_row(const struct machine *m, uint32_t tid)
{
	for (size_t i = 0; i < m->nr_threads; i++)
		if (m->threads[i].tid == tid)
			return &m->threads[i];
	return NULL;
}

/* Whether it is there; if not, its last row is. */
static bool update_row(struct zoom_part *p, const struct machine *m)
{
	const struct machine_task *row = find_row(m, p->tid);

	if (row) {
		keep_row(&p->row, row);
		p->zoom.row = row;
	} else if (p->zoom.row) {
		p->zoom.row = &p->row.task;
	}
	return row;
}

/* It has exited: what is known stays, nothing more is added. */
static void finish(struct zoom_part *p, uint64_t until_ns)
{
	p->until_ns = until_ns;
	if (p->is_started)
		zoom_collector_stop(p->collector);
}

static void read_programs(struct zoom_part *p)
{
	struct zoom_reading r;
	uint64_t until_ns;

	if (zoom_collector_read(p->collector, &r))
		return; /* what was there stays */
	if (r.state->ended_ns && !p->until_ns)
		finish(p, r.state->ended_ns);
	until_ns = p->until_ns ? p->until_ns : clock_boot_ns();
	p->zoom.now_ns = clock_boot_ns();
	p->zoom.seconds = until_ns > p->since_ns ? (double)(until_ns - p->since_ns) / 1e9 : 0;
	zoom_tables_fill(&p->tables, &r, &p->zoom);
}

/* An exec of another thread ends the first one of a process and takes its tid: then that one is shown. */
static bool lives_again(const struct zoom_part *p)
{
	return p->until_ns && p->row.task.state != 'Z' && clock_boot_ns() > p->until_ns + AGAIN_NS;
}

static void refresh(void *part, const struct machine_part_refresh *r)
{
	struct zoom_part *p = part;
	bool is_there;

	take_programs(p);
	if (p->tid != r->request->tid)
		begin(p, r->request->tid);
	if (!p->tid)
		return;
	is_there = update_row(p, r->machine);
	if (!is_there && p->zoom.row && !p->until_ns && (r->request->needs & MACHINE_TASKS))
		finish(p, clock_boot_ns());
	if (p->collector && is_there && (!p->is_started || lives_again(p)))
		start(p);
	if (p->is_started)
		read_programs(p);
	p->zoom.is_ended = p->until_ns;
	p->zoom.missing = p->missing[0] ? p->missing : NULL;
	p->zoom.is_waiting_for_programs = p->attach;
	r->machine->zoom = &p->zoom;
}

const struct machine_part machine_part_zoom = {
	.name = "one thread",
	.needs = MACHINE_ZOOM,
	.open = open_zoom,
	.refresh = refresh,
	.suspend = suspend,
	.close = close_zoom,
};
