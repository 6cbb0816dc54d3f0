/*
 * The data of a report against the analyses: recordings of several recorders and made-up ones are packed, unpacked again by an
 * independent decoder, and sums over spans of buckets are those that analyses report of the same time and tasks.
 */
#include "against.h"

#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/recording.h"

static const struct pass_args all = { .cpu = PASS_ANY_CPU };

static struct recording *load(const char *name)
{
	struct recording_cfg cfg = { .nr_workers = 1 };
	struct recording *rec = NULL;
	struct diag d = { 0 };
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/data/%s", getenv("SCHEDSCOPE_SOURCE"), name);
	if (recording_open(path, &cfg, &d, &rec))
		fail_msg("%s: %s", name, d.what);
	return rec;
}

static struct report_data *make(const struct source *s, const struct pass_args *args,
                                uint64_t max_bytes)
{
	struct report_data_cfg cfg = { .s = s, .args = args, .max_bytes = max_bytes };
	struct report_data *r = NULL;
	struct diag d = { 0 };

	if (report_data_begin(&cfg, &d, &r) || report_data_make(r, &cfg, &d))
		fail_msg("%s", d.what);
	return r;
}

static void check_more(const char *name, const struct pass_args *args, uint64_t max_bytes, int nr,
                       bool each_bucket)
{
	struct recording *rec = load(name);
	const struct source *s = recording_source(rec);
	struct report_data *r = make(s, args, max_bytes);
	struct unpacked u;

	srandom(7);
	unpack(r, &u);
	print_message("# %s: %llu events, %zu bytes\n", name,
	              (unsigned long long)s->facts->nr_events, u.bytes);
	expect_random_spans(s, args, &u, nr, !max_bytes);
	if (each_bucket)
		expect_each_bucket(s, args, &u);
	unpacked_done(&u);
	report_data_free(r);
	recording_close(rec);
}

static void check(const char *name, const struct pass_args *args, uint64_t max_bytes, int nr)
{
	check_more(name, args, max_bytes, nr, false);
}

static void recordings_of_perfetto(void **state)
{
	(void)state;
	check("perfetto/c-guest-idle.pftrace.gz", &all, 0, 60);
	check("perfetto/e-guest-eevdf.pftrace.gz", &all, 0, 60);
	check("perfetto/e-guest-scx-stall.pftrace.gz", &all, 0, 60);
	check("perfetto/e-guest-scx-vtime.pftrace.gz", &all, 0, 60);
}

static void recordings_of_wprof(void **state)
{
	(void)state;
	check("wprof/guest-d.pb.gz", &all, 0, 40);
	check("wprof/host-a.pb.gz", &all, 0, 40);
}

static void recordings_of_perf(void **state)
{
	(void)state;
	check_more("perf/host-cgroups.data.gz", &all, 0, 60, true); /* tasks change their cgroups */
	check("perf/guest-6.1-all.data.gz", &all, 0, 60);
	check("perf/host-lost.data.gz", &all, 0, 60);
	check("perf/host-callgraph.data.gz", &all, 0, 5);
}

static void recordings_of_ftrace(void **state)
{
	(void)state;
	check("ftrace/guest-6.1-local.txt.gz", &all, 0, 60);
	check("tracecmd/guest-7.2-v7-lost.dat", &all, 0, 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recordings_of_perfetto),
		cmocka_unit_test(recordings_of_wprof),
		cmocka_unit_test(recordings_of_perf),
		cmocka_unit_test(recordings_of_ftrace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
