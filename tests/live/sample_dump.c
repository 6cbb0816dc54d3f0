/*
 * sample_dump EVENT [KEY=VALUE]... — takes a profile with collect/sample/sampler and prints it as lines of JSON, for tests.
 *
 * Says {"ready": true, ...} once it samples, ends on a line or the end of stdin, or when max= is reached and wait=full is
 * given. Then one line per row, and a last one with totals and with how many descriptors were open before, meanwhile
 * and after. On failure the sentence goes to stderr, with the descriptors, and the exit code is 1. Keys: freq, period,
 * pid, cpu, cgroup (a folder), max, min_off_us, stacks, no_kernel, no_user, wait, reads (how often it is read meanwhile),
 * late_ms (how long after the stop it reads for the last time), cost (1: BPF run time).
 *
 * EVENT "mmap" prints the reports of collect/sample/mmap_ring instead. Keys: pid.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/text.h"
#include "collect/bpf_cost.h"
#include "collect/sample/mmap_ring.h"
#include "collect/sample/sampler.h"
#include "sys/cpulist.h"

struct args {
	int argc;
	char **argv;
};

static const char *text_of(const struct args *a, const char *key)
{
	size_t len = strlen(key);

	for (int i = 2; i < a->argc; i++)
		if (strncmp(a->argv[i], key, len) == 0 && a->argv[i][len] == '=')
			return a->argv[i] + len + 1;
	return NULL;
}

static uint64_t number_of(const struct args *a, const char *key, uint64_t fallback)
{
	const char *text = text_of(a, key);
	uint64_t v;

	return text && text_to_u64(text, &v) ? v : fallback;
}

static int nr_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int nr = -1; /* its own */

	if (!dir)
		return -1;
	for (const struct dirent *e = readdir(dir); e; e = readdir(dir))
		nr += e->d_name[0] != '.';
	closedir(dir);
	return nr;
}

static int read_online(struct cpulist *out)
{
	SCOPED(scoped_free) char *text = NULL;
	int err = text_read_file("/sys/devices/system/cpu/online", 4096, &text);

	return err ? err : cpulist_parse(text, out);
}

static void print_stack(struct json_writer *w, const char *key, const uint64_t *ips, uint32_t nr)
{
	jw_begin_array(w, key);
	for (uint32_t i = 0; i < nr; i++)
		jw_u64(w, NULL, ips[i]);
	jw_end_array(w);
}

static int print_row(void *ctx, const struct sampler_row *r)
{
	struct json_writer *w = ctx;

	jw_begin_object(w, NULL);
	jw_u64(w, "tid", r->tid);
	jw_u64(w, "tgid", r->tgid);
	jw_string(w, "comm", r->comm);
	jw_u64(w, "cpu", r->cpu);
	jw_u64(w, "first_ns", r->first_ns);
	jw_u64(w, "last_ns", r->last_ns);
	jw_u64(w, "count", r->count);
	jw_u64(w, "value", r->value);
	print_stack(w, "kernel", r->kernel, r->nr_kernel);
	print_stack(w, "user", r->user, r->nr_user);
	jw_end_object(w);
	return jw_finish(w);
}

static int count_row(void *ctx, const struct sampler_row *r)
{
	*(uint64_t *)ctx += r->count;
	return 0;
}

static void print_totals(struct json_writer *w, const struct sampler_totals *t)
{
	jw_u64(w, "samples", t->samples);
	jw_u64(w, "kept", t->kept);
	jw_u64(w, "lost", t->lost);
	jw_u64(w, "missed", t->missed);
	jw_u64(w, "idle", t->idle);
	jw_u64(w, "no_stack", t->no_stack);
	jw_u64(w, "throttled", t->throttled);
	jw_u64(w, "nr_cpus", t->nr_cpus);
	jw_u64(w, "nr_skipped", t->nr_skipped);
}

/* Until someone says so, or it is full. Reading meanwhile must neither stop nor change anything. */
static int wait_for_end(const struct args *a, struct sampler *s, uint64_t *read_last,
                        struct diag *d)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	const char *wait = text_of(a, "wait");
	bool is_until_full = wait && strcmp(wait, "full") == 0;
	bool is_reading = number_of(a, "reads", 0);
	int err = 0;

	while (!err && poll(&in, 1, 20) == 0 && !(is_until_full && sampler_is_full(s))) {
		*read_last = 0;
		if (is_reading)
			err = sampler_read(s, count_row, read_last, d);
	}
	return err;
}

static int choose_cgroup(const struct args *a, struct sampler *s, struct diag *d)
{
	const char *path = text_of(a, "cgroup");
	struct stat st;

	if (!path)
		return 0;
	if (stat(path, &st))
		return diag_set(d, -errno, NULL, "no cgroup '%s'", path);
	return sampler_add_cgroup(s, (uint64_t)st.st_ino, false, d);
}

static void print_ready(struct json_writer *w, const struct sample_event *e)
{
	jw_begin_object(w, NULL);
	jw_bool(w, "ready", true);
	jw_string(w, "event", e->name);
	jw_bool(w, "is_default", e->is_default);
	jw_string(w, "why_default", e->why_default);
	jw_end_object(w);
	(void)!jw_finish(w);
}

static int sample(const struct args *a, struct sampler *s, const struct sample_event *e,
                  struct json_writer *w, struct diag *d)
{
	struct sampler_totals totals;
	struct bpf_cost cost = { .stats_fd = -1 };
	uint64_t read_last = 0;
	double ns = 0;
	int fds[4], err, open_fds;

	bpf_cost_init(&cost, fds, sampler_program_fds(s, fds, 4));
	err = sampler_start(s, d);
	if (err)
		return err;
	if (number_of(a, "cost", 0) && bpf_cost_begin(&cost))
		return diag_set(d, -errno, NULL, "no BPF statistics");
	print_ready(w, e);
	open_fds = nr_fds();
	err = wait_for_end(a, s, &read_last, d);
	sampler_stop(s);
	bpf_cost_end(&cost);
	usleep((useconds_t)number_of(a, "late_ms", 0) * 1000);
	if (!err)
		err = sampler_read(s, print_row, w, d);
	if (err)
		return err;
	sampler_totals(s, &totals);
	jw_begin_object(w, NULL);
	jw_bool(w, "is_full", sampler_is_full(s));
	jw_i64(w, "open_fds", open_fds);
	jw_u64(w, "read_last", read_last);
	jw_bool(w, "has_cost", bpf_cost_ns_per_run(&cost, &ns));
	jw_double(w, "ns_per_run", ns, 1);
	jw_u64(w, "runs", cost.runs);
	print_totals(w, &totals);
	return 0;
}

static int profile(const struct args *a, const struct cpulist *online, struct json_writer *w,
                   struct diag *d)
{
	SCOPED(sample_event_done) struct sample_event event = { 0 };
	struct sampler_cfg cfg = {
		.event = &event,
		.frequency = number_of(a, "freq", 0),
		.period = number_of(a, "period", 0),
		.online = online,
		.cpu = (uint32_t)number_of(a, "cpu", SAMPLER_ANY_CPU),
		.tgid = (uint32_t)number_of(a, "pid", 0),
		.is_cgroup_only = text_of(a, "cgroup"),
		.max_samples = number_of(a, "max", 0),
		.min_off_ns = number_of(a, "min_off_us", 0) * 1000,
		.max_stacks = (uint32_t)number_of(a, "stacks", 0),
		.no_kernel = number_of(a, "no_kernel", 0),
		.no_user = number_of(a, "no_user", 0),
	};
	SCOPED(scoped_sampler) struct sampler *s = NULL;
	int err = sample_event_parse(a->argv[1], &event, d);

	if (!err)
		err = sampler_open(&cfg, d, &s);
	if (!err)
		err = choose_cgroup(a, s, d);
	return err ? err : sample(a, s, &event, w, d);
}

static int print_report(void *ctx, const struct mmap_report *r)
{
	static const char *const words[] = { "mapped", "exec", "fork", "exit" };
	struct json_writer *w = ctx;

	jw_begin_object(w, NULL);
	jw_string(w, "what", words[r->what]);
	jw_u64(w, "ts_ns", r->ts_ns);
	jw_u64(w, "tgid", r->tgid);
	jw_u64(w, "parent", r->parent_tgid);
	jw_u64(w, "start", r->start);
	jw_u64(w, "end", r->end);
	jw_u64(w, "offset", r->offset);
	jw_u64(w, "inode", r->inode);
	jw_string(w, "path", r->path);
	jw_end_object(w);
	return jw_finish(w);
}

static int watch_mappings(const struct args *a, const struct cpulist *online, struct json_writer *w,
                          struct diag *d)
{
	SCOPED(scoped_mmap_ring) struct mmap_ring *m = NULL;
	struct sample_event none = { .name = "mmap" };
	struct pollfd in[2] = { { .fd = STDIN_FILENO, .events = POLLIN } };
	int open_fds, err = mmap_ring_open(online, (uint32_t)number_of(a, "pid", 0), d, &m);

	if (err)
		return err;
	print_ready(w, &none);
	open_fds = nr_fds();
	in[1] = (struct pollfd){ .fd = mmap_ring_poll_fd(m), .events = POLLIN };
	do {
		(void)!poll(in, 2, -1);
		err = mmap_ring_take(m, print_report, w);
	} while (!err && !in[0].revents);
	jw_begin_object(w, NULL);
	jw_i64(w, "open_fds", open_fds);
	jw_u64(w, "lost", mmap_ring_lost(m));
	return err;
}

int main(int argc, char **argv)
{
	SCOPED(cpulist_done) struct cpulist online = { 0 };
	struct args a = { argc, argv };
	struct diag d = { 0 };
	struct json_writer w;
	char line[600];
	int before = nr_fds(), err;

	if (argc < 2 || read_online(&online))
		return 2;
	jw_init(&w, stdout, false);
	if (strcmp(argv[1], "mmap") == 0)
		err = watch_mappings(&a, &online, &w, &d);
	else
		err = profile(&a, &online, &w, &d);
	if (err) {
		diag_format(&d, line, sizeof(line));
		fprintf(stderr, "%s\nfds %d %d\n", line, before, nr_fds());
		return 1;
	}
	jw_i64(&w, "fds_before", before);
	jw_i64(&w, "fds_after", nr_fds());
	jw_end_object(&w);
	return jw_finish(&w) ? 1 : 0;
}
