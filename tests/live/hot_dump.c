/*
 * hot_dump [KEY=VALUE]... — looks at this machine for each line of stdin, as the views of the profile and of BPF programs
 * do, and prints what they are shown as a line of JSON. A line has words: needs= (bits of enum machine_need), hz=, clears=,
 * program=, hot=1; what it does not have stays. Keys of the command line: tgid, proc=1. After the end of stdin it waits no
 * longer, and ends.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "base/text.h"
#include "machine/machine_program.h"
#include "machine/machine_source.h"
#include "profile/machine_profile.h"
#include "profile/profile.h"

static void put_number(struct json_writer *w, const char *key, double value)
{
	if (isnan(value))
		jw_null(w, key);
	else
		jw_double(w, key, value, 6);
}

static void put_stack(struct json_writer *w, const struct machine_profile_stack *stack)
{
	jw_begin_object(w, NULL);
	jw_u64(w, "samples", stack->samples);
	jw_begin_array(w, "frames");
	for (uint32_t i = 0; i < stack->nr; i++)
		jw_string(w, NULL, stack->frames[i]->symbol);
	jw_end_array(w);
	jw_end_object(w);
}

static void put_row(struct json_writer *w, const struct machine_profile_row *r)
{
	jw_begin_object(w, NULL);
	jw_u64(w, "key", r->key);
	jw_string(w, "symbol", r->symbol);
	jw_string(w, "module", r->module);
	jw_bool(w, "is_kernel", r->is_kernel);
	jw_u64(w, "samples", r->samples);
	jw_u64(w, "total", r->total);
	jw_string(w, "file", r->file);
	jw_u64(w, "line", r->line);
	jw_u64(w, "tgid", r->tgid);
	jw_string(w, "comm", r->comm);
	jw_begin_array(w, "stacks");
	for (uint32_t i = 0; i < r->nr_stacks; i++)
		put_stack(w, &r->stacks[i]);
	jw_end_array(w);
	jw_end_object(w);
}

static void put_profile(struct json_writer *w, const struct machine_profile *p)
{
	if (!p) {
		jw_null(w, "profile");
		return;
	}
	jw_begin_object(w, "profile");
	jw_string(w, "refusal", p->refusal);
	jw_bool(w, "is_starting", p->is_starting);
	jw_string(w, "event", p->event);
	put_number(w, "hz", p->hz);
	put_number(w, "seconds", p->seconds);
	jw_u64(w, "samples", p->samples);
	jw_u64(w, "lost", p->lost);
	jw_u64(w, "idle", p->idle);
	jw_u64(w, "nr_functions", p->nr_functions);
	jw_begin_array(w, "rows");
	for (size_t i = 0; i < p->nr_rows; i++)
		put_row(w, &p->rows[i]);
	jw_end_array(w);
	jw_end_object(w);
}

static void put_program(struct json_writer *w, const struct machine_bpf *p)
{
	jw_begin_object(w, NULL);
	jw_u64(w, "id", p->id);
	jw_string(w, "type", p->type);
	jw_string(w, "name", p->name);
	put_number(w, "cpu", p->cpu);
	put_number(w, "ns_per_run", p->ns_per_run);
	put_number(w, "runs_per_s", p->runs_per_s);
	put_number(w, "p50_ns", p->p50_ns);
	put_number(w, "p99_ns", p->p99_ns);
	jw_u64(w, "run_ns", p->run_ns);
	jw_u64(w, "runs", p->runs);
	jw_u64(w, "misses", p->misses);
	jw_u64(w, "insns", p->insns);
	jw_u64(w, "nr_maps", p->nr_maps);
	jw_u64(w, "btf_id", p->btf_id);
	jw_bool(w, "is_gpl", p->is_gpl);
	jw_string(w, "struct", p->struct_name);
	jw_string(w, "op", p->op);
	jw_string(w, "owner", p->owner);
	jw_bool(w, "is_sched_ext", p->is_sched_ext);
	jw_end_object(w);
}

static void put_hot(struct json_writer *w, const struct machine_hot *h)
{
	jw_begin_object(w, "hot");
	jw_string(w, "refusal", h->refusal);
	jw_string(w, "event", h->event);
	jw_u64(w, "seen", h->seen);
	jw_u64(w, "samples", h->samples);
	jw_u64(w, "total", h->total);
	jw_u64(w, "lost", h->lost);
	jw_begin_array(w, "lines");
	for (size_t i = 0; i < h->nr_lines; i++) {
		jw_begin_object(w, NULL);
		jw_string(w, "function", h->lines[i].function);
		jw_string(w, "file", h->lines[i].file);
		jw_string(w, "text", h->lines[i].text);
		jw_u64(w, "line", h->lines[i].line);
		jw_u64(w, "samples", h->lines[i].samples);
		jw_u64(w, "total", h->lines[i].total);
		jw_end_object(w);
	}
	jw_end_array(w);
	jw_end_object(w);
}

static void put_programs(struct json_writer *w, const struct machine *m)
{
	jw_begin_array(w, "programs");
	for (size_t i = 0; i < m->nr_programs; i++)
		put_program(w, &m->programs[i]);
	jw_end_array(w);
	if (!m->bpf)
		return;
	jw_string(w, "refusal", m->bpf->refusal);
	put_number(w, "cost", m->bpf->cost);
	jw_u64(w, "program", m->bpf->program);
	jw_u64(w, "nr_history", m->bpf->ns_history.nr);
	if (m->bpf->hot)
		put_hot(w, m->bpf->hot);
}

struct cost {
	uint64_t wall_ns, cpu_ns;
};

static void print_refresh(const struct machine *m, struct cost refresh)
{
	struct json_writer w;

	jw_init(&w, stdout, false);
	jw_begin_object(&w, NULL);
	jw_u64(&w, "refresh_ns", refresh.wall_ns);
	jw_u64(&w, "refresh_cpu_ns", refresh.cpu_ns);
	jw_u64(&w, "nr_cpus", m->nr_cpus);
	put_number(&w, "interval_s", m->interval_s);
	put_profile(&w, m->profile);
	put_programs(&w, m);
	jw_begin_array(&w, "log");
	for (size_t i = 0; i < m->nr_log; i++)
		jw_string(&w, NULL, m->log[i]);
	jw_end_array(&w);
	jw_end_object(&w);
	putchar('\n');
	fflush(stdout);
}

/* "needs=64 hz=99" into a request. */
static void obey(char *line, struct machine_request *r)
{
	char *rest = NULL;

	for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
		uint64_t v = 0;
		char *value = strchr(word, '=');

		if (!value || !text_to_u64(value + 1, &v))
			continue;
		*value = '\0';
		if (strcmp(word, "needs") == 0)
			r->needs = (uint32_t)v;
		else if (strcmp(word, "hz") == 0)
			r->sample_hz = (double)v;
		else if (strcmp(word, "clears") == 0)
			r->nr_clears = (uint32_t)v;
		else if (strcmp(word, "program") == 0)
			r->program = (uint32_t)v;
		else if (strcmp(word, "hot") == 0)
			r->is_program_hot = v;
	}
}

static uint64_t number_of(int argc, char **argv, const char *key)
{
	size_t len = strlen(key);
	uint64_t v = 0;

	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], key, len) == 0 && argv[i][len] == '=' &&
		    text_to_u64(argv[i] + len + 1, &v))
			return v;
	return 0;
}

int main(int argc, char **argv)
{
	const struct machine_source_cfg cfg = {
		.is_proc_only = number_of(argc, argv, "proc"),
		.tgid = (uint32_t)number_of(argc, argv, "tgid"),
	};
	struct machine_request request = { .needs = MACHINE_CPUS };
	struct machine_source *s = NULL;
	const struct machine *m = NULL;
	struct diag d = { 0 };
	char line[256];

	if (machine_source_open(&cfg, &d, &s)) {
		fprintf(stderr, "%s\n", d.what);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		struct cost cost = { clock_boot_ns(), clock_read_ns(CLOCK_THREAD_CPUTIME_ID) };

		obey(line, &request);
		if (machine_source_refresh(s, &request, &d, &m)) {
			fprintf(stderr, "%s\n", d.what);
			return 1;
		}
		cost.wall_ns = clock_boot_ns() - cost.wall_ns;
		cost.cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - cost.cpu_ns;
		print_refresh(m, cost);
	}
	machine_source_close(s);
	return 0;
}
