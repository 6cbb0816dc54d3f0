#include "more_records.h"

#include <string.h>

#define HDR(kind_, type, cpu_, ts) \
	.hdr = { .size = sizeof(struct type), .kind = (kind_), .cpu = (cpu_), .ts_ns = (ts) }

static void copy(char *to, size_t size, const char *from)
{
	strncpy(to, from, size - 1);
}

void irq_by(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t nr, const char *name,
            uint32_t who)
{
	struct ev_irq_entry ev = { HDR(EV_IRQ_ENTRY, ev_irq_entry, cpu, ts), .irq = nr,
		                   .tid = who };

	copy(ev.name, sizeof(ev.name), name);
	push(f, &ev);
}

void softirq_by(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t vector, uint32_t who,
                bool is_exit)
{
	push(f, &(struct ev_softirq){
			HDR(is_exit ? EV_SOFTIRQ_EXIT : EV_SOFTIRQ_ENTRY, ev_softirq, cpu, ts),
			.vector = vector, .tid = who });
}

void ipi(struct fixture *f, uint64_t ts, uint32_t cpu, const char *reason, bool is_exit)
{
	struct ev_ipi ev = { HDR(is_exit ? EV_IPI_EXIT : EV_IPI_ENTRY, ev_ipi, cpu, ts) };

	copy(ev.reason, sizeof(ev.reason), reason);
	push(f, &ev);
}

void ipi_send(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t target)
{
	push(f,
	     &(struct ev_ipi_send){ HDR(EV_IPI_SEND, ev_ipi_send, cpu, ts), .target_cpu = target });
}

void work(struct fixture *f, uint64_t ts, uint32_t tid, uint64_t function, bool is_end)
{
	push(f, &(struct ev_work){ HDR(is_end ? EV_WORK_END : EV_WORK_START, ev_work, 0, ts),
	                           .function = function, .tid = tid });
}

void freq(struct fixture *f, uint64_t ts, uint32_t on_cpu, uint32_t cpu, uint32_t khz)
{
	push(f, &(struct ev_cpu_freq){ HDR(EV_CPU_FREQ, ev_cpu_freq, on_cpu, ts), .khz = khz,
	                               .cpu = cpu });
}

void idle_state(struct fixture *f, uint64_t ts, uint32_t on_cpu, uint32_t cpu, uint32_t state)
{
	push(f, &(struct ev_cpu_idle){ HDR(EV_CPU_IDLE, ev_cpu_idle, on_cpu, ts), .state = state,
	                               .cpu = cpu });
}

void suspend(struct fixture *f, uint64_t ts, const char *action, bool is_start)
{
	struct ev_suspend ev = { HDR(EV_SUSPEND, ev_suspend, 0, ts), .is_start = is_start };

	copy(ev.action, sizeof(ev.action), action);
	push(f, &ev);
}

void block(struct fixture *f, uint64_t ts, int step, const struct block_step *b)
{
	struct ev_block ev = {
		HDR(EV_BLOCK, ev_block, 0, ts), .dev = b->dev, .sector = b->sector,
		.nr_sectors = b->nr_sectors,    .tid = b->tid, .step = (uint8_t)step
	};

	copy(ev.rwbs, sizeof(ev.rwbs), b->rwbs);
	push(f, &ev);
}

void packet(struct fixture *f, uint64_t ts, const char *device, uint32_t bytes, bool is_sent)
{
	struct ev_net ev = { HDR(EV_NET, ev_net, 0, ts), .bytes = bytes, .is_sent = is_sent };

	copy(ev.name, sizeof(ev.name), device);
	push(f, &ev);
}

void memory(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, int step, int order)
{
	push(f, &(struct ev_memory){ HDR(EV_MEMORY, ev_memory, cpu, ts), .tid = tid,
	                             .step = (uint8_t)step, .order = (uint8_t)order });
}

void fsync_at(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint64_t inode,
              bool is_end)
{
	push(f, &(struct ev_fsync){ HDR(EV_FSYNC, ev_fsync, cpu, ts), .dev = 8U << 20 | 1,
	                            .inode = inode, .tid = tid, .is_end = is_end });
}

void scx_run(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint64_t dsq_id,
             uint32_t layer)
{
	push(f, &(struct ev_scx_run){ HDR(EV_SCX_RUN, ev_scx_run, cpu, ts), .dsq_id = dsq_id,
	                              .tid = tid, .layer = layer });
}

void dsq_leave(struct fixture *f, uint64_t ts, uint64_t start, uint64_t dsq_id, uint32_t tid,
               uint32_t layer)
{
	push(f, &(struct ev_dsq_leave){ HDR(EV_DSQ_LEAVE, ev_dsq_leave, 0, ts), .start_ns = start,
	                                .dsq_id = dsq_id, .tid = tid, .layer = layer });
}

void dsq_depth(struct fixture *f, uint64_t ts, uint64_t dsq_id, uint64_t depth)
{
	push(f, &(struct ev_dsq_depth){ HDR(EV_DSQ_DEPTH, ev_dsq_depth, 0, ts), .dsq_id = dsq_id,
	                                .depth = depth });
}

void pmu(struct fixture *f, uint64_t ts, uint32_t cpu, uint32_t tid, uint64_t a, uint64_t b)
{
	struct {
		struct ev_pmu ev;
		uint64_t values[2];
	} rec = { .ev = { HDR(EV_PMU, ev_pmu, cpu, ts), .tid = tid, .nr = 2 }, .values = { a, b } };

	rec.ev.hdr.size = sizeof(rec);
	push(f, &rec);
}

void string(struct fixture *f, uint64_t ts, uint32_t id, const char *text)
{
	struct {
		struct ev_string ev;
		char text[32];
	} rec = { .ev = { HDR(EV_STRING, ev_string, 0, ts), .id = id } };

	rec.ev.hdr.size = sizeof(rec);
	copy(rec.text, sizeof(rec.text), text);
	push(f, &rec);
}

void span(struct fixture *f, uint64_t ts, uint64_t start, uint32_t tid, uint32_t name, uint64_t id)
{
	push(f, &(struct ev_span){ HDR(EV_SPAN, ev_span, 0, ts), .start_ns = start, .id = id,
	                           .tid = tid, .name = name });
}
