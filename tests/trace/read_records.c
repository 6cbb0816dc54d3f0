/*
 * read_records WORKERS FILE...: reads traces and prints their records, one JSON object a line, then one of the info.
 *
 * Bytes of names are printed as code points of the same number, so that no byte is lost. In place of the info
 * comes the sentence that a user would see where a file cannot be read. Many files at once: a program that
 * looks for leaks takes seconds to end on some machines.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event_check.h"
#include "trace/reader.h"

static void put_bytes(const char *s, size_t len)
{
	for (size_t i = 0; i < len && s[i]; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
}

static void put_text(const char *key, const char *s, size_t len)
{
	printf(",\"%s\":\"", key);
	put_bytes(s, len);
	putchar('"');
}

static void put_u(const char *key, uint64_t value)
{
	printf(",\"%s\":%" PRIu64, key, value);
}

static void put_count(const struct trace_count *count)
{
	printf(",\"");
	put_bytes(count->name, strlen(count->name));
	printf("\":%" PRIu64, count->count);
}

static void put_i(const char *key, int64_t value)
{
	printf(",\"%s\":%" PRId64, key, value);
}

static void put_switch(const struct ev_hdr *hdr)
{
	const struct ev_switch *rec = (const void *)hdr;

	put_u("prev", rec->prev_tid);
	put_u("next", rec->next_tid);
	put_u("state", rec->prev_state);
	put_i("prev_prio", rec->prev_prio);
	put_i("next_prio", rec->next_prio);
}

static void put_wake(const struct ev_hdr *hdr)
{
	const struct ev_wake *rec = (const void *)hdr;

	put_u("tid", rec->tid);
	put_u("waker", rec->waker_tid);
	put_u("target", rec->target_cpu);
	put_i("prio", rec->prio);
}

static void put_fork(const struct ev_hdr *hdr)
{
	const struct ev_fork *rec = (const void *)hdr;

	put_u("parent", rec->parent_tid);
	put_u("tid", rec->tid);
	put_u("tgid", rec->tgid);
	put_text("comm", rec->comm, sizeof(rec->comm));
}

static void put_exec(const struct ev_hdr *hdr)
{
	const struct ev_exec *rec = (const void *)hdr;

	put_u("tid", rec->tid);
	put_u("old_tid", rec->old_tid);
	put_text("comm", rec->comm, sizeof(rec->comm));
}

static void put_exit(const struct ev_hdr *hdr)
{
	const struct ev_exit *rec = (const void *)hdr;

	put_u("tid", rec->tid);
	put_text("comm", rec->comm, sizeof(rec->comm));
}

static void put_rename(const struct ev_hdr *hdr)
{
	const struct ev_rename *rec = (const void *)hdr;

	put_u("tid", rec->tid);
	put_text("old", rec->old_comm, sizeof(rec->old_comm));
	put_text("comm", rec->comm, sizeof(rec->comm));
}

static void put_affinity(const struct ev_hdr *hdr)
{
	const struct ev_affinity *rec = (const void *)hdr;
	const __u64 *words = (const void *)(rec + 1);

	put_u("tid", rec->tid);
	printf(",\"words\":[");
	for (uint32_t i = 0; i < rec->nr; i++)
		printf("%s%llu", i ? "," : "", (unsigned long long)words[i]);
	putchar(']');
}

static void put_free(const struct ev_hdr *hdr)
{
	const struct ev_free *rec = (const void *)hdr;

	put_u("tid", rec->tid);
	put_text("comm", rec->comm, sizeof(rec->comm));
}

static void put_softirq(const struct ev_hdr *hdr)
{
	const struct ev_softirq *rec = (const void *)hdr;

	put_u("vector", rec->vector);
	put_u("tid", rec->tid);
}

static void put_irq_entry(const struct ev_hdr *hdr)
{
	const struct ev_irq_entry *rec = (const void *)hdr;

	put_u("irq", rec->irq);
	put_u("tid", rec->tid);
	put_text("name", rec->name, sizeof(rec->name));
}

static void put_irq_exit(const struct ev_hdr *hdr)
{
	put_u("irq", ((const struct ev_irq_exit *)(const void *)hdr)->irq);
}

static void put_ipi_send(const struct ev_hdr *hdr)
{
	const struct ev_ipi_send *rec = (const void *)hdr;

	put_u("target", rec->target_cpu);
	put_u("tid", rec->tid);
}

static void put_ipi(const struct ev_hdr *hdr)
{
	const struct ev_ipi *rec = (const void *)hdr;

	put_text("reason", rec->reason, sizeof(rec->reason));
}

static void put_work(const struct ev_hdr *hdr)
{
	put_u("tid", ((const struct ev_work *)(const void *)hdr)->tid);
}

static void put_pmu(const struct ev_hdr *hdr)
{
	const struct ev_pmu *rec = (const void *)hdr;
	const __u64 *values = (const __u64 *)(rec + 1);

	put_u("tid", rec->tid);
	printf(",\"values\":[");
	for (uint32_t i = 0; i < rec->nr; i++)
		printf("%s%llu", i ? "," : "", values[i]);
	putchar(']');
}

static void put_scx_run(const struct ev_hdr *hdr)
{
	const struct ev_scx_run *rec = (const void *)hdr;

	put_u("dsq", rec->dsq_id);
	put_u("tid", rec->tid);
	put_u("layer", rec->layer);
	put_u("flags", rec->flags);
}

static void put_dsq_leave(const struct ev_hdr *hdr)
{
	const struct ev_dsq_leave *rec = (const void *)hdr;

	put_u("start", rec->start_ns);
	put_u("dsq", rec->dsq_id);
	put_u("tid", rec->tid);
	put_u("layer", rec->layer);
	put_u("how", rec->how);
	put_u("is_moved", rec->is_moved);
}

static void put_dsq_depth(const struct ev_hdr *hdr)
{
	const struct ev_dsq_depth *rec = (const void *)hdr;

	put_u("dsq", rec->dsq_id);
	put_u("depth", rec->depth);
}

static void put_span(const struct ev_hdr *hdr)
{
	const struct ev_span *rec = (const void *)hdr;

	put_u("start", rec->start_ns);
	put_u("id", rec->id);
	put_u("tid", rec->tid);
	put_u("category", rec->category);
	put_u("name", rec->name);
}

static void put_probe(const struct ev_hdr *hdr)
{
	const struct ev_probe *rec = (const void *)hdr;

	put_u("probe", rec->probe);
	put_u("tid", rec->tid);
	put_u("ip", rec->ip);
}

static void put_probe_info(const struct ev_hdr *hdr)
{
	const struct ev_probe_info *rec = (const void *)hdr;

	put_u("probe", rec->probe);
	put_u("type", rec->type);
	put_text("name", (const char *)(rec + 1), hdr->size - sizeof(*rec));
}

static void put_task_info(const struct ev_hdr *hdr)
{
	const struct ev_task_info *rec = (const void *)hdr;

	put_u("tid", rec->tid);
	put_u("tgid", rec->tgid);
	put_u("ppid", rec->ppid);
	put_u("flags", rec->flags);
	put_text("comm", rec->comm, sizeof(rec->comm));
}

static void put_lost(const struct ev_hdr *hdr)
{
	const struct ev_lost *rec = (const void *)hdr;

	put_u("lost_kind", rec->kind);
	put_u("count", rec->count);
}

static void put_string(const struct ev_hdr *hdr)
{
	const struct ev_string *rec = (const void *)hdr;

	put_u("id", rec->id);
	put_text("text", (const char *)(rec + 1), hdr->size - sizeof(*rec));
}

static void put_cpu_freq(const struct ev_hdr *hdr)
{
	const struct ev_cpu_freq *rec = (const void *)hdr;

	put_u("khz", rec->khz);
	put_u("of", rec->cpu);
}

static void put_pressure(const struct ev_hdr *hdr)
{
	put_u("pressure", ((const struct ev_hw_pressure *)(const void *)hdr)->pressure);
}

static void put_cgroup(const struct ev_hdr *hdr)
{
	const struct ev_cgroup *rec = (const void *)hdr;

	put_u("tid", rec->tid);
	put_u("cgroup", rec->cgroup);
	put_u("stated", rec->flags & EV_CGROUP_STATED);
}

static void put_cgroup_info(const struct ev_hdr *hdr)
{
	const struct ev_cgroup_info *rec = (const void *)hdr;

	put_u("cgroup", rec->cgroup);
	put_text("path", (const char *)(rec + 1), hdr->size - sizeof(*rec));
}

static void (*const printers[EV_KIND_MAX])(const struct ev_hdr *hdr) = {
	[EV_SWITCH] = put_switch,
	[EV_WAKING] = put_wake,
	[EV_WAKEUP] = put_wake,
	[EV_WAKEUP_NEW] = put_wake,
	[EV_FORK] = put_fork,
	[EV_EXEC] = put_exec,
	[EV_EXIT] = put_exit,
	[EV_RENAME] = put_rename,
	[EV_FREE] = put_free,
	[EV_SOFTIRQ_ENTRY] = put_softirq,
	[EV_SOFTIRQ_EXIT] = put_softirq,
	[EV_IRQ_ENTRY] = put_irq_entry,
	[EV_IRQ_EXIT] = put_irq_exit,
	[EV_IPI_SEND] = put_ipi_send,
	[EV_IPI_ENTRY] = put_ipi,
	[EV_IPI_EXIT] = put_ipi,
	[EV_WORK_START] = put_work,
	[EV_WORK_END] = put_work,
	[EV_PMU] = put_pmu,
	[EV_SCX_RUN] = put_scx_run,
	[EV_DSQ_LEAVE] = put_dsq_leave,
	[EV_DSQ_DEPTH] = put_dsq_depth,
	[EV_SPAN] = put_span,
	[EV_PROBE] = put_probe,
	[EV_PROBE_INFO] = put_probe_info,
	[EV_TASK_INFO] = put_task_info,
	[EV_LOST] = put_lost,
	[EV_STRING] = put_string,
	[EV_AFFINITY] = put_affinity,
	[EV_CPU_FREQ] = put_cpu_freq,
	[EV_HW_PRESSURE] = put_pressure,
	[EV_CGROUP] = put_cgroup,
	[EV_CGROUP_INFO] = put_cgroup_info,
};

static int push(void *ctx, const struct ev_hdr *rec)
{
	uint64_t *last = ctx;

	if (!ev_check(rec, rec->size) || rec->ts_ns < *last) {
		(void)fprintf(stderr, "read_records: a bad record of kind %u\n", rec->kind);
		abort();
	}
	*last = rec->ts_ns;
	printf("{\"kind\":\"%s\"", ev_kind_name(rec->kind));
	put_u("ts", rec->ts_ns);
	put_u("cpu", rec->cpu);
	put_u("ctx", rec->flags);
	if (printers[rec->kind])
		printers[rec->kind](rec);
	printf("}\n");
	return 0;
}

static void put_counts(const char *key, const struct trace_count *counts, size_t nr)
{
	printf(",\"%s\":{\"_\":0", key);
	for (size_t i = 0; i < nr; i++)
		put_count(&counts[i]);
	putchar('}');
}

static void put_names(const char *key, const char *const *names, size_t nr)
{
	printf(",\"%s\":[0", key);
	for (size_t i = 0; i < nr; i++) {
		printf(",\"");
		put_bytes(names[i], strlen(names[i]));
		putchar('"');
	}
	putchar(']');
}

static void put_samples(const struct trace_info *info)
{
	uint64_t kinds[4] = { 0 }, frames = 0, weight = 0;

	for (size_t i = 0; i < info->nr_samples; i++) {
		const struct trace_sample *s = &info->samples[i];

		kinds[s->kind & 3]++;
		weight += s->weight;
		if (s->stack != ~0U)
			frames += info->stacks[s->stack].nr;
	}
	printf(",\"samples\":{\"cpu\":%" PRIu64 ",\"offcpu\":%" PRIu64 ",\"waker\":%" PRIu64
	       ",\"frames\":%" PRIu64 ",\"weight\":%" PRIu64 ",\"stacks\":%zu}",
	       kinds[TRACE_SAMPLE_CPU], kinds[TRACE_SAMPLE_OFFCPU], kinds[TRACE_SAMPLE_WAKER],
	       frames, weight, info->nr_stacks);
	if (info->nr_samples && info->samples[0].stack != ~0U &&
	    info->stacks[info->samples[0].stack].nr) {
		const struct trace_stack *stack = &info->stacks[info->samples[0].stack];
		const char *leaf = info->frames[info->stack_frames[stack->first]].name;
		const char *root =
			info->frames[info->stack_frames[stack->first + stack->nr - 1]].name;

		put_text("first_leaf", leaf, strlen(leaf));
		put_text("first_root", root, strlen(root));
	}
}

static void put_info(const struct trace_info *info)
{
	printf("{\"kind\":\"INFO\"");
	put_text("producer", info->producer_name, strlen(info->producer_name));
	put_u("nr_packets", info->nr_packets);
	put_u("nr_records", info->nr_records);
	put_u("start", info->start_ns);
	put_u("end", info->end_ns);
	put_u("clock", info->clock);
	put_u("nr_cpus", info->nr_cpus);
	put_u("has_topology", info->has_topology);
	put_u("nr_unknown", info->nr_unknown);
	printf(",\"damage\":{\"_\":0");
	for (size_t i = 0; i < info->nr_damage; i++)
		put_count(&(struct trace_count){ info->damage[i].name, info->damage[i].count });
	putchar('}');
	put_counts("events", info->events, info->nr_events);
	put_counts("categories", info->categories, info->nr_categories);
	put_names("pmu", info->pmu_names, info->nr_pmu_names);
	put_samples(info);
	printf("}\n");
}

static void read_file(const char *path, const struct trace_read_cfg *cfg)
{
	uint64_t last = 0;
	const struct ev_sink sink = { .push = push, .ctx = &last };
	struct trace_info *info;
	struct diag d = { 0 };
	char line[600];

	if (trace_read_file(path, cfg, &sink, &d, &info) == 0) {
		put_info(info);
		trace_info_free(info);
		return;
	}
	diag_format(&d, line, sizeof(line));
	printf("{\"kind\":\"ERROR\"");
	put_text("text", line, strlen(line));
	printf("}\n");
}

int main(int argc, char **argv)
{
	struct trace_read_cfg cfg = { 0 };

	if (argc < 3)
		return 2;
	cfg.nr_workers = (unsigned int)strtoul(argv[1], NULL, 10);
	for (int i = 2; i < argc; i++)
		read_file(argv[i], &cfg);
	return 0;
}
