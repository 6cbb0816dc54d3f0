/* Spans that pair an entry with an exit, counters and marks: what needs no memory of task states. */
#include <string.h>

#include "base/grow.h"
#include "model/pair_priv.h"

/* What an entry or exit is about. */
struct span_edge {
	enum pair_span_kind kind;
	bool is_exit;
	uint64_t id;
	uint32_t tid;
	uint32_t name_id;
};

/* Without memory it stays unnamed. */
static void note_irq(struct pair *p, uint32_t irq, uint32_t name_id)
{
	if (irq >= ABI_BY_IRQS || GROW_ZEROED(p->irq_names, p->nr_irqs, irq))
		return;
	p->irq_names[irq] = name_id;
}

uint32_t pair_irq_name(const struct pair *p, uint32_t irq)
{
	return irq < p->nr_irqs ? p->irq_names[irq] : 0;
}

const struct pair_open *pair_span_interrupt(const struct pair_cpu_state *c)
{
	const struct pair_open *soft = NULL;

	for (uint8_t i = c->nr_open; i-- > 0;) {
		const struct pair_open *o = &c->open[i];

		if (o->kind == PAIR_IRQ || o->kind == PAIR_IPI)
			return o;
		if (o->kind == PAIR_SOFTIRQ && !soft)
			soft = o;
	}
	return soft;
}

static struct span_edge edge_of(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_softirq *softirq = (const struct ev_softirq *)rec;
	const struct ev_irq_entry *irq = (const struct ev_irq_entry *)rec;
	const struct ev_ipi *ipi = (const struct ev_ipi *)rec;
	struct span_edge e = { 0 };

	switch (rec->kind) {
	case EV_SOFTIRQ_ENTRY:
	case EV_SOFTIRQ_EXIT:
		e = (struct span_edge){ PAIR_SOFTIRQ, rec->kind == EV_SOFTIRQ_EXIT, softirq->vector,
			                softirq->tid, 0 };
		break;
	case EV_IRQ_ENTRY:
		e = (struct span_edge){ PAIR_IRQ, false, irq->irq, irq->tid, 0 };
		e.name_id = tasks_intern(p->tasks, irq->name,
		                         strnlen(irq->name, sizeof(irq->name)));
		note_irq(p, irq->irq, e.name_id);
		break;
	case EV_IRQ_EXIT:
		e = (struct span_edge){ PAIR_IRQ, true, ((const struct ev_irq_exit *)rec)->irq, 0,
			                0 };
		break;
	default:
		e = (struct span_edge){ PAIR_IPI, rec->kind == EV_IPI_EXIT, 0, 0, 0 };
		e.name_id = tasks_intern(p->tasks, ipi->reason,
		                         strnlen(ipi->reason, sizeof(ipi->reason)));
		e.id = e.name_id;
		break;
	}
	return e;
}

static void remove_open(struct pair_cpu_state *c, uint8_t i)
{
	memmove(&c->open[i], &c->open[i + 1], (size_t)(c->nr_open - i - 1) * sizeof(c->open[0]));
	c->nr_open--;
}

/* The innermost one of this kind and id; nr_open if there is none. */
static uint8_t find_open(const struct pair_cpu_state *c, const struct span_edge *e)
{
	uint8_t i = c->nr_open;

	while (i-- > 0)
		if (c->open[i].kind == (uint8_t)e->kind && c->open[i].id == e->id)
			return i;
	return c->nr_open;
}

static void enter_span(struct pair *p, struct pair_cpu_state *c, const struct span_edge *e)
{
	uint8_t i = find_open(c, e);

	/* None of them interrupts itself: the exit of the one before is missing. */
	if (i == c->nr_open && c->nr_open == PAIR_MAX_OPEN)
		i = 0;
	if (i < c->nr_open) {
		p->breaks.unmatched_spans++;
		remove_open(c, i);
	}
	c->open[c->nr_open++] = (struct pair_open){
		.start_ns = p->now_ns,
		.id = e->id,
		.task = tasks_find(p->tasks, e->tid),
		.name_id = e->name_id,
		.kind = (uint8_t)e->kind,
	};
}

static void exit_span(struct pair *p, struct pair_cpu_state *c, const struct span_edge *e)
{
	uint8_t i = find_open(c, e);
	struct pair_span row;

	if (i == c->nr_open) {
		p->breaks.unmatched_spans++;
		return;
	}
	row = (struct pair_span){
		.start_ns = c->open[i].start_ns,
		.end_ns = p->now_ns,
		.id = e->id,
		.task = c->open[i].task,
		.name_id = c->open[i].name_id,
		.cpu = (uint16_t)(c - p->cpus),
		.kind = (uint8_t)e->kind,
	};
	remove_open(c, i);
	PAIR_EMIT(p, span, &row);
}

/* Work belongs to the worker: it may sleep and move to another CPU before it ends. */
static void work_record(struct pair *p, const struct ev_work *ev)
{
	uint32_t task = tasks_see(p->tasks, ev->tid, p->now_ns);
	struct pair_task *st = pair_task_of(p, task);
	struct pair_span row;

	if (!st)
		return;
	if ((ev->hdr.kind == EV_WORK_START) == (st->work_ns != 0))
		p->breaks.unmatched_spans++;
	if (ev->hdr.kind == EV_WORK_START) {
		st->work_ns = p->now_ns;
		st->work_function = ev->function;
		return;
	}
	if (!st->work_ns)
		return;
	row = (struct pair_span){
		.start_ns = st->work_ns,
		.end_ns = p->now_ns,
		.id = st->work_function ? st->work_function : ev->function,
		.task = task,
		.cpu = pair_cpu_nr(ev->hdr.cpu),
		.kind = PAIR_WORK,
	};
	st->work_ns = 0;
	PAIR_EMIT(p, span, &row);
}

void pair_span_record(struct pair *p, const struct ev_hdr *rec)
{
	struct pair_cpu_state *c;
	struct span_edge e;

	if (rec->kind == EV_WORK_START || rec->kind == EV_WORK_END) {
		work_record(p, (const struct ev_work *)rec);
		return;
	}
	c = pair_cpu_get(p, rec->cpu);
	if (!c) {
		p->breaks.bad_cpu++;
		return;
	}
	e = edge_of(p, rec);
	if (e.is_exit)
		exit_span(p, c, &e);
	else
		enter_span(p, c, &e);
}

void pair_span_lost(struct pair *p, struct pair_cpu_state *c, uint32_t ev_kind)
{
	enum pair_span_kind kind;

	if (ev_kind == EV_SOFTIRQ_ENTRY || ev_kind == EV_SOFTIRQ_EXIT)
		kind = PAIR_SOFTIRQ;
	else if (ev_kind == EV_IRQ_ENTRY || ev_kind == EV_IRQ_EXIT)
		kind = PAIR_IRQ;
	else if (ev_kind == EV_IPI_ENTRY || ev_kind == EV_IPI_EXIT)
		kind = PAIR_IPI;
	else
		return;
	for (uint8_t i = c->nr_open; i-- > 0;) {
		if (c->open[i].kind != (uint8_t)kind)
			continue;
		p->breaks.unmatched_spans++;
		remove_open(c, i);
	}
}

static uint32_t text(struct pair *p, const char *s, size_t max)
{
	return tasks_intern(p->tasks, s, strnlen(s, max));
}

void pair_counter_record(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_cpu_idle *idle = (const struct ev_cpu_idle *)rec;
	const struct ev_cpu_freq *freq = (const struct ev_cpu_freq *)rec;
	const struct ev_hw_pressure *pressure = (const struct ev_hw_pressure *)rec;
	const struct ev_gpu_mem *gpu = (const struct ev_gpu_mem *)rec;
	const struct ev_dsq_depth *dsq = (const struct ev_dsq_depth *)rec;
	const struct ev_scx_counter *scx = (const struct ev_scx_counter *)rec;
	const struct ev_counter *own = (const struct ev_counter *)rec;
	struct pair_counter row = { .ts_ns = p->now_ns };

	/* The CPU that a counter is about is not the one on which it was read. */
	if (rec->kind == EV_CPU_IDLE) {
		row.kind = PAIR_CPU_IDLE_STATE;
		row.cpu = pair_cpu_nr(idle->cpu);
		row.value = idle->state;
	} else if (rec->kind == EV_CPU_FREQ) {
		row.kind = PAIR_CPU_FREQ_KHZ;
		row.cpu = pair_cpu_nr(freq->cpu);
		row.value = freq->khz;
	} else if (rec->kind == EV_HW_PRESSURE) {
		row.kind = PAIR_HW_PRESSURE;
		row.cpu = pair_cpu_nr(pressure->cpu);
		row.value = pressure->pressure;
	} else if (rec->kind == EV_DSQ_DEPTH) {
		if (dsq->dsq_id == EV_DSQ_INVALID)
			return;
		row.kind = PAIR_DSQ_DEPTH;
		row.cpu = PAIR_NO_CPU;
		row.id = dsq->dsq_id;
		row.value = dsq->depth;
	} else if (rec->kind == EV_SCX_COUNTER) {
		row.kind = PAIR_SCX_COUNTER;
		row.cpu = PAIR_NO_CPU;
		row.id = text(p, scx->name, sizeof(scx->name));
		row.value = (uint64_t)scx->value;
	} else if (rec->kind == EV_COUNTER) {
		row.kind = PAIR_PROGRAM_COUNTER;
		row.cpu = PAIR_NO_CPU;
		row.id = text(p, own->name, sizeof(own->name));
		row.tgid = own->tgid;
		row.value = (uint64_t)own->value;
	} else {
		row.kind = PAIR_GPU_MEM_BYTES;
		row.cpu = PAIR_NO_CPU;
		row.id = gpu->gpu;
		row.tgid = gpu->tgid;
		row.value = gpu->bytes;
	}
	PAIR_EMIT(p, counter, &row);
}

static uint32_t comm_of(const struct pair *p, uint32_t task)
{
	const struct task *t = tasks_at(p->tasks, task);

	return t ? t->comm_id : 0;
}

/* A record that begins with a tid and holds a name. */
static uint32_t note_task(struct pair *p, const struct ev_task *ev)
{
	uint32_t task = tasks_see(p->tasks, ev->tid, p->now_ns);

	if (task != TASKS_NONE && !comm_of(p, task))
		tasks_set_comm(p->tasks, task, ev->comm, p->now_ns);
	return task;
}

static void mark_task(struct pair *p, const struct ev_hdr *rec, struct pair_mark *row)
{
	const struct ev_probe *probe = (const struct ev_probe *)rec;
	const struct ev_blocked *blocked = (const struct ev_blocked *)rec;
	const struct ev_memory *memory = (const struct ev_memory *)rec;

	switch (rec->kind) {
	case EV_FORK:
		row->task = tasks_find(p->tasks, ((const struct ev_fork *)rec)->parent_tid);
		row->value = tasks_find(p->tasks, ((const struct ev_fork *)rec)->tid);
		break;
	case EV_EXEC:
	case EV_RENAME:
	case EV_EXIT: /* all begin with the tid */
		row->task = tasks_find(p->tasks, ((const struct ev_exec *)rec)->tid);
		row->name_id = comm_of(p, row->task);
		break;
	case EV_PROBE:
		row->task = tasks_see(p->tasks, probe->tid, p->now_ns);
		row->value = probe->probe;
		break;
	case EV_BLOCKED:
		row->task = tasks_see(p->tasks, blocked->tid, p->now_ns);
		row->value = blocked->caller;
		row->flags = blocked->is_io ? PAIR_MARK_IO : 0;
		break;
	case EV_MEMORY:
		row->task = tasks_find(p->tasks, memory->tid);
		row->value = memory->order;
		row->flags = memory->step == EV_PAGE_FREE ? PAIR_MARK_FREE : 0;
		break;
	default:
		row->task = note_task(p, (const struct ev_task *)rec);
		break;
	}
}

void pair_mark_record(struct pair *p, const struct ev_hdr *rec)
{
	const struct ev_net *net = (const struct ev_net *)rec;
	const struct ev_suspend *suspend = (const struct ev_suspend *)rec;
	const struct ev_scx_state *scx = (const struct ev_scx_state *)rec;
	struct pair_mark row = {
		.ts_ns = p->now_ns,
		.task = TASKS_NONE,
		.cpu = pair_cpu_nr(rec->cpu),
		.kind = rec->kind,
	};

	switch (rec->kind) {
	case EV_IPI_SEND:
		row.task = tasks_find(p->tasks, ((const struct ev_ipi_send *)rec)->tid);
		row.value = ((const struct ev_ipi_send *)rec)->target_cpu;
		break;
	case EV_CPU_HOTPLUG:
		row.cpu = pair_cpu_nr(((const struct ev_cpu_hotplug *)rec)->cpu);
		row.value = (uint32_t)((const struct ev_cpu_hotplug *)rec)->step;
		break;
	case EV_NET:
		row.value = net->bytes;
		row.name_id = text(p, net->name, sizeof(net->name));
		row.flags = net->is_sent ? PAIR_MARK_SENT : 0;
		break;
	case EV_SUSPEND:
		row.value = (uint32_t)suspend->value;
		row.name_id = text(p, suspend->action, sizeof(suspend->action));
		row.flags = suspend->is_start ? PAIR_MARK_START : 0;
		break;
	case EV_SCX_STATE:
		row.value = scx->state;
		row.name_id = text(p, scx->name, sizeof(scx->name));
		break;
	default:
		mark_task(p, rec, &row);
		break;
	}
	PAIR_EMIT(p, mark, &row);
}
