/* bpf/events_system — the records of the machine: idle states, frequencies, hotplug, pressure, GPU memory. */
#pragma once

#include <linux/bpf.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

#include "abi/event.h"
#include "bpf/events_ring.bpf.h"

SEC("tp_btf/cpu_idle")
int on_cpu_idle(__u64 *ctx)
{
	struct slot s;
	struct ev_cpu_idle *e = begin(&s, EV_CPU_IDLE, sizeof(*e));

	if (!e)
		return 0;
	e->state = (__u32)ctx[0];
	e->cpu = (__u32)ctx[1];
	end(&s);
	return 0;
}

SEC("tp_btf/cpu_frequency")
int on_cpu_freq(__u64 *ctx)
{
	struct slot s;
	struct ev_cpu_freq *e = begin(&s, EV_CPU_FREQ, sizeof(*e));

	if (!e)
		return 0;
	e->khz = (__u32)ctx[0];
	e->cpu = (__u32)ctx[1];
	end(&s);
	return 0;
}

static __always_inline struct ev_cpu_hotplug *hotplug(struct slot *s, __u32 cpu)
{
	struct ev_cpu_hotplug *e = begin(s, EV_CPU_HOTPLUG, sizeof(*e));

	if (!e)
		return NULL;
	e->cpu = cpu;
	e->target = 0;
	e->step = 0;
	e->ret = 0;
	e->is_exit = 0;
	e->pad_ = 0;
	return e;
}

SEC("tp_btf/cpuhp_enter")
int on_hotplug_enter(__u64 *ctx)
{
	struct slot s;
	struct ev_cpu_hotplug *e = hotplug(&s, (__u32)ctx[0]);

	if (!e)
		return 0;
	e->target = (__s32)ctx[1];
	e->step = (__s32)ctx[2];
	end(&s);
	return 0;
}

SEC("tp_btf/cpuhp_exit")
int on_hotplug_exit(__u64 *ctx)
{
	struct slot s;
	struct ev_cpu_hotplug *e = hotplug(&s, (__u32)ctx[0]);

	if (!e)
		return 0;
	e->step = (__s32)ctx[1];
	e->ret = (__s32)ctx[3];
	e->is_exit = 1;
	end(&s);
	return 0;
}

static __always_inline int pressure(__u32 cpu, __u64 value)
{
	struct slot s;
	struct ev_hw_pressure *e = begin(&s, EV_HW_PRESSURE, sizeof(*e));

	if (!e)
		return 0;
	e->pressure = value;
	e->cpu = cpu;
	e->pad_ = 0;
	end(&s);
	return 0;
}

SEC("tp_btf/hw_pressure_update")
int on_hw_pressure(__u64 *ctx)
{
	return pressure((__u32)ctx[0], ctx[1]);
}

/* Its name before 6.10. */
SEC("tp_btf/thermal_pressure_update")
int on_thermal_pressure(__u64 *ctx)
{
	return pressure((__u32)ctx[0], ctx[1]);
}

SEC("tp_btf/gpu_mem_total")
int on_gpu_mem(__u64 *ctx)
{
	struct slot s;
	struct ev_gpu_mem *e = begin(&s, EV_GPU_MEM, sizeof(*e));

	if (!e)
		return 0;
	e->bytes = ctx[2];
	e->gpu = (__u32)ctx[0];
	e->tgid = (__u32)ctx[1];
	end(&s);
	return 0;
}
