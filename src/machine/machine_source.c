#include "machine/machine_source.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "machine/machine_attach.h"
#include "machine/machine_latency.h"
#include "machine/machine_layers.h"
#include "machine/machine_system.h"
#include "machine/machine_tasks.h"
#include "machine/parts/part.h"
#include "sys/proc/pid_namespace.h"

#define MS_NS       1000000ULL
#define NEW_NS      (60 * MS_NS) /* for threads that were never read, per refresh */
#define HOT_NS      (30 * MS_NS) /* for those that run */
#define TURN_MIN_NS (MS_NS / 10)
#define TURN_MAX_NS (20 * MS_NS)
/* Of the time between two refreshes for those that have their turn, in 1/1000: */
#define TURN_PROC 12 /* if only /proc shows which threads ran, */
#define TURN_BPF  1  /* if BPF does: for what it cannot see */
#define LIST_BPF_NS \
	(5000 * MS_NS)    /* between two listings of /proc if BPF reports forks and exits */
#define IDLE_REFRESHES 40 /* without need of BPF, until it is detached */
#define HEAT_ROOM      (2 * (size_t)MACHINE_HISTORY)
#define BPF_NEEDS      ((uint32_t)MACHINE_LATENCY | (uint32_t)MACHINE_HEAT)

struct machine_source {
	struct machine_source_cfg cfg;
	struct machine machine;
	struct utsname names;
	struct machine_system *system;
	struct machine_tasks *tasks;
	struct machine_latency *latency; /* NULL while not needed, or not available */
	struct machine_attach *attach;   /* that is on its way */
	bool is_latency_refused;
	bool is_latency_fresh; /* its first interval has only begun */
	bool is_latency_known; /* tasks without samples are known to have none */
	uint32_t idle_refreshes;
	struct machine_layers *layers; /* NULL = not requested */
	struct machine_parts *parts;
	uint64_t refresh_ns;  /* of the last one; 0 = none yet */
	uint64_t cpu_ns;      /* used by then */
	uint64_t lost_before; /* by what is detached again */
	uint32_t nr_hung;
	char notice[640];
	uint32_t (*heat)[MACHINE_HEAT_ROWS];
	uint32_t heat_first, nr_heat;
	struct machine_log log;
};

static uint64_t now_of(const struct machine_source *s)
{
	return s->cfg.clock ? s->cfg.clock() : clock_boot_ns();
}

static void notice_missing(struct machine_source *s, const struct diag *why)
{
	if (!why->code) {
		(void)snprintf(
			s->notice, sizeof(s->notice),
			"from /proc, as asked: without latencies, slices, sleeps, migrations");
		return;
	}
	(void)snprintf(s->notice, sizeof(s->notice),
	               "from /proc, without latencies, slices, sleeps, migrations: %s%s%s",
	               why->what, why->hint[0] ? "; " : "", why->hint);
}

DEFINE_SCOPED(machine_source, machine_source_close)

static int open_parts(struct machine_source *s, struct diag *d)
{
	const char *root = s->cfg.root ? s->cfg.root : "";
	struct machine_tasks_cfg tasks = { .root = root,
		                           .tgid = s->cfg.tgid,
		                           .clock = s->cfg.clock };
	int err = machine_system_new(root, d, &s->system);

	if (!err)
		err = machine_tasks_new(&tasks, d, &s->tasks);
	if (err)
		return err;
	s->heat = calloc(HEAT_ROOM, sizeof(*s->heat));
	if (!s->heat || machine_parts_new(&s->cfg, &s->parts) ||
	    (s->cfg.is_layered && machine_layers_new(&s->layers)))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	return 0;
}

int machine_source_open(const struct machine_source_cfg *cfg, struct diag *d,
                        struct machine_source **out)
{
	SCOPED(scoped_machine_source) struct machine_source *s = calloc(1, sizeof(*s));
	static const struct machine_request everything = { .needs = MACHINE_CPUS | MACHINE_TASKS |
		                                                    MACHINE_MEMORY | MACHINE_NET };
	const struct machine *first;
	int err;

	if (!s)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	s->cfg = *cfg;
	s->is_latency_refused = cfg->is_proc_only;
	if (cfg->is_proc_only)
		notice_missing(s, &(struct diag){ 0 });
	(void)uname(&s->names);
	err = open_parts(s, d);
	/* What exists before the first refresh is not new. */
	if (!err)
		err = machine_source_refresh(s, &everything, d, &first);
	if (err)
		return err;
	*out = TAKE_PTR(s);
	return 0;
}

void machine_source_close(struct machine_source *s)
{
	if (!s)
		return;
	machine_attach_cancel(s->attach);
	machine_latency_close(s->latency);
	machine_parts_free(s->parts);
	machine_layers_free(s->layers);
	machine_tasks_free(s->tasks);
	machine_system_free(s->system);
	free(s->heat);
	free(s);
}

bool machine_source_is_attaching(const struct machine_source *s)
{
	return s->attach != NULL;
}

static void refuse_latency(struct machine_source *s, const struct diag *why)
{
	s->is_latency_refused = true;
	notice_missing(s, why);
	machine_log_add(&s->log, "%s", s->notice);
}

static int open_latency(uint32_t tgid, struct diag *d, void **out)
{
	struct machine_latency *l;
	int err = machine_latency_open(tgid, d, &l);

	if (!err)
		*out = l;
	return err;
}

static void close_opened(void *latency)
{
	machine_latency_close(latency);
}

static void start_latency(struct machine_source *s)
{
	const struct machine_attach_cfg cfg = { open_latency, close_opened, s->cfg.tgid };
	struct diag why = { 0 };
	int err;

	/* BPF knows tasks by the ids of the first namespace, our /proc by those of another. */
	if (!pid_namespace_is_initial()) {
		diag_set(&why, -ENOTSUP, "run it in the host's pid namespace (docker: --pid=host)",
		         "inside a pid namespace, the kernel's ids cannot be matched");
		refuse_latency(s, &why);
		return;
	}
	err = machine_attach_start(&cfg, &s->attach);
	if (!err)
		return;
	diag_set(&why, err, NULL, "cannot start a thread that attaches");
	refuse_latency(s, &why);
}

static void take_latency(struct machine_source *s)
{
	struct diag why = { 0 };
	void *opened = NULL;
	const char *note;

	if (!s->attach || !machine_attach_poll(s->attach, &why, &opened))
		return;
	s->attach = NULL;
	s->latency = opened;
	if (!s->latency) {
		refuse_latency(s, &why);
		return;
	}
	s->is_latency_fresh = true;
	for (size_t i = 0; (note = machine_latency_note(s->latency, i)); i++)
		machine_log_add(&s->log, "%s", note);
}

static void close_latency(struct machine_source *s)
{
	s->lost_before += machine_latency_lost(s->latency);
	machine_latency_close(s->latency);
	s->latency = NULL;
	s->is_latency_known = false;
	machine_tasks_quiet(s->tasks, false);
}

/* Nothing stays attached that is not shown; but not every change of views attaches again. */
static void want_latency(struct machine_source *s, uint32_t needs)
{
	take_latency(s);
	if (needs & BPF_NEEDS) {
		s->idle_refreshes = 0;
		if (!s->latency && !s->attach && !s->is_latency_refused)
			start_latency(s);
	} else if (s->latency && ++s->idle_refreshes >= IDLE_REFRESHES) {
		close_latency(s);
	}
}

/* Those of the last interval are cleared; changed tasks are to be read first. */
static int step_latency(struct machine_source *s, struct diag *d)
{
	struct latency_tasks threads, processes;
	int err;

	if (!s->is_latency_known)
		machine_tasks_quiet(s->tasks, true);
	s->is_latency_known = true;
	threads = machine_latency_threads(s->latency);
	processes = machine_latency_processes(s->latency);
	for (size_t i = 0; i < threads.nr; i++) {
		struct machine_task *row = machine_tasks_thread(s->tasks, threads.items[i].id);

		if (row)
			machine_task_quiet(row, true);
	}
	for (size_t i = 0; i < processes.nr; i++) {
		struct machine_task *row = machine_tasks_process(s->tasks, processes.items[i].id);

		if (row)
			machine_task_quiet(row, true);
	}
	err = machine_latency_step(s->latency, d);
	if (err)
		return err;
	threads = machine_latency_threads(s->latency);
	for (size_t i = 0; i < threads.nr && !err; i++)
		err = machine_tasks_hint(s->tasks, threads.items[i].id, threads.items[i].tgid);
	return err ? diag_set(d, err, NULL, "cannot allocate the table of tasks") : 0;
}

static void show_threads(struct machine_source *s)
{
	struct latency_tasks t = machine_latency_threads(s->latency);
	double seconds = machine_latency_seconds(s->latency);

	for (size_t i = 0; i < t.nr; i++) {
		struct machine_task *row = machine_tasks_update_thread(s->tasks, t.items[i].id);

		if (!row)
			continue;
		if (t.items[i].lacks_run)
			machine_tasks_own_run(s->tasks, t.items[i].id);
		machine_interval_show(&t.items[i], seconds, row);
	}
}

/* After the sums, which know nothing of threads that have ended. */
static void show_processes(struct machine_source *s)
{
	struct latency_tasks t = machine_latency_processes(s->latency);
	double seconds = machine_latency_seconds(s->latency);

	for (size_t i = 0; i < t.nr; i++) {
		struct machine_task *row = machine_tasks_update_process(s->tasks, t.items[i].id);

		if (row)
			machine_interval_show(&t.items[i], seconds, row);
	}
}

static void quiet_cpu(struct machine_cpu *c)
{
	c->switches_per_s = c->wakeups_per_s = c->migrations_per_s = NAN;
	c->event_per_s = c->hw_pressure = c->uncore_mhz = NAN;
	c->event_history = (struct machine_history){ 0 };
	c->wait = (struct machine_dist){ 0 };
	c->tid = -1;
	c->comm = NULL;
}

static void show_cpus(struct machine_source *s, bool has_latency)
{
	double seconds = has_latency ? machine_latency_seconds(s->latency) : 0;
	size_t nr;
	struct machine_cpu *cpus = machine_system_cpus(s->system, &nr);

	for (size_t i = 0; i < nr; i++) {
		const struct machine_task *task;
		struct latency_cpu from;

		quiet_cpu(&cpus[i]);
		if (!has_latency)
			continue;
		machine_latency_cpu(s->latency, cpus[i].cpu, &from);
		cpus[i].wait = from.wait;
		cpus[i].tid = from.tid;
		task = from.tid > 0 ? machine_tasks_thread(s->tasks, (uint32_t)from.tid) : NULL;
		cpus[i].comm = task ? task->comm : NULL;
		machine_cpu_interval_show(&from.sums, seconds, &cpus[i]);
	}
	s->machine.cpus = cpus;
	s->machine.nr_cpus = nr;
}

static void add_heat(struct machine_source *s)
{
	if (s->nr_heat == MACHINE_HISTORY) {
		s->heat_first++;
		s->nr_heat--;
	}
	if (s->heat_first + s->nr_heat == HEAT_ROOM) {
		memmove(s->heat, s->heat + s->heat_first, s->nr_heat * sizeof(*s->heat));
		s->heat_first = 0;
	}
	memcpy(s->heat[s->heat_first + s->nr_heat++], machine_latency_column(s->latency),
	       sizeof(*s->heat));
}

static void show_heat(struct machine_source *s, bool has_latency)
{
	struct machine_heat *h = &s->machine.heat;

	if (has_latency)
		add_heat(s);
	h->columns = (const uint32_t(*)[MACHINE_HEAT_ROWS])(s->heat + s->heat_first);
	h->nr = s->nr_heat;
	h->max = 0;
	for (uint32_t i = 0; i < h->nr; i++)
		for (uint32_t row = 0; row < MACHINE_HEAT_ROWS; row++)
			if (h->columns[i][row] > h->max)
				h->max = h->columns[i][row];
}

static uint64_t turn_ns(const struct machine_source *s, bool has_latency)
{
	uint64_t between = s->refresh_ns ? now_of(s) - s->refresh_ns : 0;
	uint64_t ns = between / 1000 * (has_latency ? TURN_BPF : TURN_PROC);

	return ns < TURN_MIN_NS ? TURN_MIN_NS : ns > TURN_MAX_NS ? TURN_MAX_NS : ns;
}

static int refresh_tasks(struct machine_source *s, uint32_t needs, bool has_latency, struct diag *d)
{
	const struct machine_tasks_read how = {
		.new_ns = NEW_NS,
		.hot_ns = HOT_NS,
		.turn_ns = turn_ns(s, has_latency),
		.has_switches = !s->latency,
		.ext = machine_system_ext(s->system),
	};
	int err = 0;

	machine_tasks_read_load(s->tasks);
	if (needs & MACHINE_TASKS)
		err = machine_tasks_list_rarely(s->tasks, has_latency ? LIST_BPF_NS : 0, d);
	if (!err && has_latency)
		err = step_latency(s, d);
	if (err)
		return err;
	s->machine.nr_threads = s->machine.nr_processes = 0;
	s->machine.thread_order = s->machine.process_order = NULL;
	if (!(needs & MACHINE_TASKS))
		return 0;
	err = machine_tasks_read(s->tasks, &how, d);
	if (!err && has_latency)
		show_threads(s);
	if (!err && s->layers)
		machine_layers_refresh(s->layers, s->tasks, &s->log);
	machine_tasks_sum(s->tasks);
	if (!err && has_latency)
		show_processes(s);
	if (machine_tasks_settle(s->tasks) && !err)
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	s->machine.thread_order = machine_tasks_thread_order(s->tasks);
	s->machine.process_order = machine_tasks_process_order(s->tasks);
	s->machine.threads = machine_tasks_threads(s->tasks, &s->machine.nr_threads);
	s->machine.processes = machine_tasks_processes(s->tasks, &s->machine.nr_processes);
	return err;
}

/* The interval that the numbers of tasks are about. */
static void show_interval(struct machine_source *s, bool has_latency, uint64_t now_ns)
{
	struct machine *m = &s->machine;

	if (has_latency) {
		m->boot_ns = machine_latency_end_ns(s->latency);
		m->interval_s = machine_latency_seconds(s->latency);
	} else {
		m->boot_ns = now_ns;
		m->interval_s = s->refresh_ns ? (double)(now_ns - s->refresh_ns) / 1e9 : 0;
	}
}

static void show_rest(struct machine_source *s, uint64_t now_ns, uint64_t cpu_ns)
{
	const struct proc_load *load = machine_tasks_load(s->tasks);
	uint32_t nr_hung = machine_tasks_nr_hung(s->tasks);
	struct machine *m = &s->machine;

	m->host = s->names.nodename;
	m->release = s->names.release;
	m->scheduler = machine_system_scheduler(s->system);
	m->scx_state = machine_system_scx_state(s->system);
	m->source = s->latency ? "bpf" : "proc";
	m->notice = s->notice[0] ? s->notice : NULL;
	m->refresh_nr++;
	m->own_cpu = s->refresh_ns && now_ns > s->refresh_ns
	                     ? (double)(cpu_ns - s->cpu_ns) / (double)(now_ns - s->refresh_ns)
	                     : NAN;
	m->wait = s->latency ? machine_latency_all(s->latency) : (struct machine_dist){ 0 };
	for (int i = 0; i < 3; i++)
		m->load[i] = load ? load->load[i] : NAN;
	m->memory = *machine_system_memory(s->system);
	m->nets = machine_system_nets(s->system, &m->nr_nets);
	if (nr_hung != s->nr_hung)
		machine_log_add(
			&s->log,
			"a process hangs in the kernel: its command line or cgroup cannot be read");
	s->nr_hung = nr_hung;
	m->log = s->log.lines;
	m->nr_log = s->log.nr;
	s->refresh_ns = now_ns;
	s->cpu_ns = cpu_ns;
}

/* What was not measured this time is not there. */
static void forget_parts(struct machine *m)
{
	m->nr_programs = 0;
	m->nr_dsqs = 0;
	m->no_uncore = m->no_pressure = NULL;
	m->event = NULL;
	m->event_list = NULL;
	m->power = NULL;
	m->bandwidth = NULL;
	m->profile = NULL;
	m->bpf = NULL;
	m->game = NULL;
	m->zoom = NULL;
	m->scx = NULL;
	m->verdict = NULL;
}

/* Tables of tasks show the queue of each where a scheduler has any. */
static struct machine_request with_queues(const struct machine_source *s,
                                          const struct machine_request *request)
{
	const uint32_t tables = (uint32_t)MACHINE_TASKS | (uint32_t)MACHINE_LATENCY;
	struct machine_request all = *request;

	if ((request->needs & tables) == tables && machine_system_scheduler(s->system))
		all.needs |= MACHINE_DSQS;
	return all;
}

int machine_source_refresh(struct machine_source *s, const struct machine_request *request,
                           struct diag *d, const struct machine **out)
{
	uint32_t needs = request->needs;
	struct machine_request all;
	uint64_t now_ns, cpu_ns;
	size_t nr_cpus;
	bool has_latency;
	int err;

	want_latency(s, needs);
	has_latency = s->latency && !s->is_latency_fresh;
	/* Its first interval began with attaching, its first data come with the next refresh. */
	s->is_latency_fresh = false;
	now_ns = now_of(s);
	cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	err = machine_system_refresh(s->system, needs, now_ns);
	if (err)
		return diag_set(d, err, NULL, "cannot read the state of the machine");
	err = refresh_tasks(s, needs, has_latency, d);
	if (err)
		return err;
	if (machine_system_show_waiting(s->system, s->machine.threads,
	                                has_latency ? s->machine.thread_order : NULL))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	show_cpus(s, has_latency);
	show_heat(s, has_latency);
	forget_parts(&s->machine);
	s->machine.lost = s->lost_before + (s->latency ? machine_latency_lost(s->latency) : 0);
	all = with_queues(s, request);
	machine_parts_refresh(s->parts, &(struct machine_part_refresh){
						.request = &all,
						.now_ns = now_ns,
						.machine = &s->machine,
						.cpus = machine_system_cpus(s->system, &nr_cpus),
						.tasks = s->tasks,
						.log = &s->log });
	show_interval(s, has_latency, now_ns);
	show_rest(s, now_ns, cpu_ns);
	*out = &s->machine;
	return 0;
}
