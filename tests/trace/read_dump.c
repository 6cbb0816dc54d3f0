/*
 * read_dump FILE [records] [workers=N]: what the reader makes of a trace, as JSON, for tests to compare.
 *
 * Without "records" the info and counts of records; with it one line per record before that, as
 * "kind cpu ts field=value ...", for those kinds that tests look at. Fails where records break the promises of
 * reader.h: ev_check(), order of time, names before use.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event_check.h"
#include "base/map.h"
#include "trace/reader.h"

struct dump {
	bool prints;
	uint64_t counts[EV_KIND_MAX];
	uint64_t last_ns;
	struct map *named;
	uint64_t nr_unnamed;
};

static void must(bool is_so, const char *what, const struct ev_hdr *rec)
{
	if (is_so)
		return;
	(void)fprintf(stderr, "read_dump: kind %u at %" PRIu64 ": %s\n", rec->kind,
	              (uint64_t)rec->ts_ns, what);
	exit(1);
}

static void name(struct dump *d, uint32_t tid)
{
	if (map_insert(d->named, &tid, 0) < 0)
		exit(1);
}

static void use(struct dump *d, uint32_t tid)
{
	uint32_t unused;

	d->nr_unnamed += tid && !map_find(d->named, &tid, &unused);
}

static void use_tids(struct dump *d, const struct ev_hdr *rec)
{
	switch (rec->kind) {
	case EV_SWITCH:
		use(d, ((const struct ev_switch *)rec)->prev_tid);
		use(d, ((const struct ev_switch *)rec)->next_tid);
		break;
	case EV_WAKING:
	case EV_WAKEUP:
	case EV_WAKEUP_NEW:
		use(d, ((const struct ev_wake *)rec)->tid);
		use(d, ((const struct ev_wake *)rec)->waker_tid);
		break;
	case EV_TASK_INFO:
		name(d, ((const struct ev_task_info *)rec)->tid);
		break;
	case EV_FORK:
		use(d, ((const struct ev_fork *)rec)->parent_tid);
		name(d, ((const struct ev_fork *)rec)->tid);
		break;
	default:
		break;
	}
}

/* The header, then all that follows as bytes. */
static void print(const struct ev_hdr *rec)
{
	const uint8_t *bytes = (const uint8_t *)(rec + 1);

	(void)printf("%s %u %u %" PRIu64 " ", ev_kind_name(rec->kind), rec->cpu, rec->flags,
	             (uint64_t)rec->ts_ns);
	for (size_t i = 0; i < rec->size - sizeof(*rec); i++)
		(void)printf("%02x", bytes[i]);
	(void)putchar('\n');
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct dump *d = ctx;

	must(ev_check(rec, rec->size), "not a record", rec);
	must(rec->ts_ns >= d->last_ns, "time goes back", rec);
	d->last_ns = rec->ts_ns;
	d->counts[rec->kind]++;
	use_tids(d, rec);
	if (d->prints)
		print(rec);
	return 0;
}

static void put_counts(const char *key, const struct trace_count *counts, size_t nr)
{
	(void)printf(", \"%s\": {", key);
	for (size_t i = 0; i < nr; i++)
		(void)printf("%s\"%s\": %" PRIu64, i ? ", " : "", counts[i].name, counts[i].count);
	(void)printf("}");
}

static void put_damage(const struct trace_info *info)
{
	(void)printf(", \"damage\": {");
	for (size_t i = 0; i < info->nr_damage; i++)
		(void)printf("%s\"%s\": %" PRIu64, i ? ", " : "", info->damage[i].name,
		             info->damage[i].count);
	(void)printf("}");
}

static void put_cpus(const struct trace_info *info)
{
	(void)printf(", \"cpus\": [");
	for (size_t i = 0; i < info->nr_cpus; i++) {
		const struct trace_cpu_info *c = &info->cpus[i];

		(void)printf(
			"%s{\"cpu\": %u, \"core\": %d, \"llc\": %d, \"node\": %d, \"events\": %" PRIu64
			", \"losses\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"capacity\": %u}",
			i ? ", " : "", c->cpu, c->core, c->llc, c->node, c->nr_events, c->nr_losses,
			c->nr_lost, c->capacity);
	}
	(void)printf("]");
}

static void put_info(const struct dump *d, const struct trace_info *info)
{
	(void)printf("{\"producer\": \"%s\", \"release\": \"%s\", \"start_ns\": %" PRIu64
	             ", \"end_ns\": %" PRIu64 ", \"start_real_ns\": %" PRIu64
	             ", \"clock\": %u, \"packets\": %" PRIu64 ", \"valid_from_ns\": %" PRIu64
	             ", \"processes\": %zu, \"threads\": %zu, \"enabled\": %zu"
	             ", \"unnamed\": %" PRIu64,
	             info->producer_name, info->release, info->start_ns, info->end_ns,
	             info->start_real_ns, info->clock, info->nr_packets, info->valid_from_ns,
	             info->nr_processes, info->nr_threads, info->nr_enabled, d->nr_unnamed);
	put_counts("events", info->events, info->nr_events);
	put_counts("categories", info->categories, info->nr_categories);
	put_damage(info);
	put_cpus(info);
	(void)printf(", \"unknown\": {");
	for (size_t i = 0; i < info->nr_unknown; i++)
		(void)printf("%s\"%s%u\": %" PRIu64, i ? ", " : "",
		             info->unknown[i].is_event ? "event " : "packet ",
		             info->unknown[i].number, info->unknown[i].count);
	(void)printf("}, \"records\": {");
	for (unsigned int kind = 0, nr = 0; kind < EV_KIND_MAX; kind++)
		if (d->counts[kind])
			(void)printf("%s\"%s\": %" PRIu64, nr++ ? ", " : "", ev_kind_name(kind),
			             d->counts[kind]);
	(void)printf("}}\n");
}

int main(int argc, char **argv)
{
	struct dump d = { 0 };
	struct ev_sink sink = { .push = push, .ctx = &d };
	struct trace_read_cfg cfg = { 0 };
	struct trace_info *info = NULL;
	struct diag diag = { 0 };
	char line[600];

	for (int i = 2; i < argc; i++) {
		d.prints |= strcmp(argv[i], "records") == 0;
		if (strncmp(argv[i], "workers=", 8) == 0)
			cfg.nr_workers = (unsigned int)strtoul(argv[i] + 8, NULL, 10);
	}
	if (argc < 2 || map_new(sizeof(uint32_t), 1U << 24, &d.named) < 0)
		return 2;
	if (trace_read_file(argv[1], &cfg, &sink, &diag, &info) < 0) {
		diag_format(&diag, line, sizeof(line));
		(void)fprintf(stderr, "read_dump: %s\n", line);
		return 1;
	}
	put_info(&d, info);
	trace_info_free(info);
	map_free(d.named);
	return 0;
}
