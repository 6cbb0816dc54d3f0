/* Parquet files of intervals: their sums are those of the daemon, whatever fails meanwhile. */
#include "../unit.h"

#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../parquet/parquet_reader.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "serve/columns.h"

#define SECOND_NS 1000000000ULL
#define MINUTE_NS (60 * SECOND_NS)
#define MIDNIGHT  (1794960000ULL * SECOND_NS) /* 2026-11-18 00:00:00 UTC */
#define FILES_MAX (16U << 20)

/* A daemon without a machine. */
struct world {
	char dir[64];
	struct serve_source src;
	struct sums *s;
	struct columns *c;
	struct dumps *dumps;
	struct columns_now now;
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void remove_tree(const char *path)
{
	(void)nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void begin(struct world *w, const char *host)
{
	struct columns_cfg cfg = { .dir = w->dir,
		                   .host = host,
		                   .labels = "{\"role\":\"web\"}",
		                   .version = "1.2",
		                   .every_ns = 5 * MINUTE_NS };

	expect_eq(columns_open(&cfg, NULL, &w->c), 0);
	columns_begin(w->c, &w->src, w->s, w->dumps, &w->now);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	log_set_level(LOG_ERROR);
	setenv("TZ", "UTC", 1);
	(void)snprintf(w->dir, sizeof(w->dir), "/tmp/test-columns-XXXXXX");
	if (!mkdtemp(w->dir) || sums_new(2, &w->s))
		return -1;
	w->s->groups = STAT_GROUP_LATENCY;
	w->now = (struct columns_now){ 1000 * SECOND_NS, MIDNIGHT + 3 * MINUTE_NS };
	(void)snprintf(w->src.kernel, sizeof(w->src.kernel), "6.12.9");
	(void)snprintf(w->src.host, sizeof(w->src.host), "web-1");
	w->src.clock_to_unix_s = (double)(w->now.unix_ns - w->now.boot_ns) / 1e9;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	columns_close(w->c);
	dumps_close(w->dumps);
	sums_free(w->s);
	remove_tree(w->dir);
	free(w);
	return 0;
}

static void pass(struct world *w, uint64_t ns)
{
	w->now.boot_ns += ns;
	w->now.unix_ns += ns;
}

/* Files of a table, those of all days and hosts, in order. */
static size_t list(const struct world *w, const char *table, glob_t *out)
{
	char pattern[256];

	(void)snprintf(pattern, sizeof(pattern), "%s/%s/*/*/*", w->dir, table);
	(void)glob(pattern, 0, NULL, out);
	return out->gl_pathc;
}

static size_t nr_files(const struct world *w, const char *table)
{
	glob_t found = { 0 };
	size_t nr = list(w, table, &found);

	globfree(&found);
	return nr;
}

/* All that is below the folder and is no folder, hidden files included. */
static size_t nr_entries;

static int count_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)path, (void)st, (void)ftw;
	nr_entries += type != FTW_D;
	return 0;
}

static size_t count_entries(const struct world *w)
{
	nr_entries = 0;
	(void)nftw(w->dir, count_one, 8, FTW_PHYS);
	return nr_entries;
}

static void read_file(const char *path, struct parquet_reader *r)
{
	SCOPED(scoped_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *bytes = malloc(FILES_MAX);
	ssize_t size;

	assert_true(fd >= 0 && bytes);
	size = read(fd, bytes, FILES_MAX);
	assert_true(size > 0);
	if (!parquet_reader_read(r, bytes, (size_t)size))
		fail_msg("%s: %s", path, r->error);
	free(bytes);
}

/* The file of a table with a number. */
static void read_nr(const struct world *w, const char *table, size_t nr, struct parquet_reader *r)
{
	glob_t found = { 0 };

	assert_true(list(w, table, &found) > nr);
	read_file(found.gl_pathv[nr], r);
	globfree(&found);
}

static const struct read_value *cell(const struct parquet_reader *r, const char *column, size_t row)
{
	for (uint32_t i = 0; i < r->nr_columns; i++)
		if (strcmp(r->columns[i].name, column) == 0)
			return &r->columns[i].values[row];
	fail_msg("no column %s", column);
	return NULL;
}

static bool is_text(const struct parquet_reader *r, const char *column, size_t row,
                    const char *wanted)
{
	const struct read_value *v = cell(r, column, row);

	return wanted ? !v->is_null && v->len == strlen(wanted) &&
	                        memcmp(v->text, wanted, v->len) == 0
	              : v->is_null;
}

static uint64_t number(const struct parquet_reader *r, const char *column, size_t row)
{
	assert_false(cell(r, column, row)->is_null);
	return cell(r, column, row)->bits;
}

/* A distribution, of all files: its slots by their lower ends, and its sum. */
static void add_up(const struct world *w, const char *metric, const char *kind, const char *cgroup,
                   struct hist *out)
{
	glob_t found = { 0 };
	size_t nr = list(w, "latency_hist", &found);

	for (size_t i = 0; i < nr; i++) {
		struct parquet_reader r = { 0 };

		read_file(found.gl_pathv[i], &r);
		for (size_t row = 0; row < r.nr_rows; row++) {
			if (!is_text(&r, "metric", row, metric) ||
			    !is_text(&r, "kind", row, kind) || !is_text(&r, "cgroup", row, cgroup))
				continue;
			out->slots[hist_slot(number(&r, "low_ns", row))] += number(&r, "count",
			                                                           row);
			out->count += number(&r, "count", row);
			out->sum_ns += number(&r, "sum_ns", row);
		}
		parquet_reader_done(&r);
	}
	globfree(&found);
}

static void expect_written(const struct world *w, enum dist_id id, const char *kind)
{
	const struct hist *wanted = &w->s->dists[id].hist;
	struct hist got = { 0 };

	add_up(w, "sched_delay", kind, NULL, &got);
	expect_eq(got.count, wanted->count);
	expect_eq(got.sum_ns, wanted->sum_ns);
	assert_memory_equal(got.slots, wanted->slots, sizeof(got.slots));
}

static void wait_for(const struct world *w, uint64_t ns)
{
	const struct sums_peak peak = { .ns = ns,
		                        .at_ns = w->now.boot_ns,
		                        .tid = (uint32_t)(ns % 997),
		                        .cpu = 3,
		                        .comm = "nginx" };

	hist_add(&w->s->dists[DIST_DELAY_WOKEN].hist, ns, w->now.boot_ns, 3);
	sums_peak(w->s, DIST_DELAY_WOKEN, &peak);
}

static void write_now(const struct world *w)
{
	columns_write(w->c, &w->now);
}

static uint64_t counted(const struct sums_counts *c, const char *name)
{
	for (size_t i = 0; i < c->nr; i++)
		if (strcmp(c->items[i].name, name) == 0)
			return c->items[i].now;
	return UINT64_MAX;
}

static void sums_over_files_are_the_sums(void **state)
{
	struct world *w = *state;

	begin(w, NULL);
	for (uint64_t i = 1; i <= 3; i++) {
		for (uint64_t k = 0; k < 500 * i; k++)
			wait_for(w, k * k * 977 * i);
		pass(w, 5 * MINUTE_NS);
		write_now(w);
		expect_written(w, DIST_DELAY_WOKEN, "woken");
	}
	wait_for(w, 400 * SECOND_NS); /* beyond the last slot's beginning */
	write_now(w);
	expect_written(w, DIST_DELAY_WOKEN, "woken");
	expect_written(w, DIST_DELAY_NEW, "new");
	expect_eq(nr_files(w, "latency_hist"), 4);
	expect_eq(count_entries(w), 4); /* no other table, nothing left */
	expect_eq(counted(&w->s->columns.files, "latency_hist"), 4);
	expect_eq(counted(&w->s->columns.failures, "latency_hist"), 0);
	expect_eq(counted(&w->s->columns.files, "blame"), UINT64_MAX);
}

static void a_file_says_what_it_is_of(void **state)
{
	struct world *w = *state;
	struct parquet_reader r = { 0 };

	begin(w, NULL);
	counts_set(&w->s->lost, "ring", 7);
	wait_for(w, 1500);
	pass(w, MINUTE_NS);
	write_now(w);
	read_nr(w, "latency_hist", 0, &r);
	assert_string_equal(parquet_reader_note(&r, "schedscope.schema_version"), "1");
	assert_string_equal(parquet_reader_note(&r, "schedscope.table"), "latency_hist");
	assert_string_equal(parquet_reader_note(&r, "schedscope.host"), "web-1");
	assert_string_equal(parquet_reader_note(&r, "schedscope.kernel"), "6.12.9");
	assert_string_equal(parquet_reader_note(&r, "schedscope.labels"), "{\"role\":\"web\"}");
	assert_string_equal(parquet_reader_note(&r, "schedscope.lost_events"), "7");
	assert_null(parquet_reader_note(&r, "schedscope.boot_id")); /* unknown */
	for (size_t row = 0; row < r.nr_rows; row++) {
		expect_eq(number(&r, "from_ns", row), MIDNIGHT + 3 * MINUTE_NS);
		expect_eq(number(&r, "to_ns", row), MIDNIGHT + 4 * MINUTE_NS);
		assert_true(is_text(&r, "kernel", row, "6.12.9") &&
		            is_text(&r, "boot_id", row, NULL));
		assert_true(is_text(&r, "labels", row, "{\"role\":\"web\"}"));
	}
	parquet_reader_done(&r);
}

static void intervals_touch_and_end_where_those_of_others_do(void **state)
{
	struct world *w = *state;
	struct parquet_reader r = { 0 }, next = { 0 };

	begin(w, NULL);
	expect_eq(columns_due_ns(w->c), w->now.boot_ns + 2 * MINUTE_NS); /* 00:05 */
	pass(w, 2 * MINUTE_NS + 1000);
	write_now(w);
	expect_eq(columns_due_ns(w->c), w->now.boot_ns + 5 * MINUTE_NS - 1000);
	pass(w, 5 * MINUTE_NS);
	w->now.unix_ns += 300; /* a clock that is being adjusted */
	write_now(w);
	read_nr(w, "latency_hist", 0, &r);
	read_nr(w, "latency_hist", 1, &next);
	expect_eq(number(&next, "from_ns", 0), number(&r, "to_ns", 0));
	expect_eq(number(&next, "to_ns", 0), w->now.unix_ns);
	parquet_reader_done(&r);
	parquet_reader_done(&next);
}

static void a_clock_that_is_set_back_makes_no_interval_shorter(void **state)
{
	struct world *w = *state;
	struct parquet_reader r = { 0 };
	glob_t found = { 0 };

	begin(w, NULL);
	pass(w, MINUTE_NS);
	write_now(w);
	pass(w, 5 * MINUTE_NS);
	w->now.unix_ns -= 60 * MINUTE_NS;
	write_now(w);
	expect_eq(list(w, "latency_hist", &found), 2);
	assert_non_null(strstr(found.gl_pathv[0], "date=2026-11-17/host=web-1/20261117T"));
	read_file(found.gl_pathv[0], &r);
	expect_eq(number(&r, "to_ns", 0) - number(&r, "from_ns", 0), 5 * MINUTE_NS);
	parquet_reader_done(&r);
	globfree(&found);
}

/* A machine without a battery has 1970 for a while; that of its boot may be ahead. */
static void a_clock_that_was_never_set_has_its_day(void **state)
{
	struct world *w = *state;
	struct parquet_reader r = { 0 };
	glob_t found = { 0 };

	begin(w, NULL);
	pass(w, MINUTE_NS);
	w->now.unix_ns = 5 * SECOND_NS;
	w->src.clock_to_unix_s = ((double)w->now.unix_ns - (double)w->now.boot_ns) / 1e9;
	wait_for(w, 1500);
	write_now(w);
	expect_eq(list(w, "latency_hist", &found), 1);
	assert_non_null(strstr(found.gl_pathv[0], "date=1970-01-01/host=web-1/19700101T000000"));
	read_file(found.gl_pathv[0], &r);
	for (size_t row = 0; row < r.nr_rows; row++) {
		expect_eq(number(&r, "from_ns", row), 0);
		if (!cell(&r, "max_at_ns", row)->is_null)
			expect_eq(number(&r, "max_at_ns", row), w->now.unix_ns);
	}
	parquet_reader_done(&r);
	globfree(&found);
}

static void folders_are_those_of_hive(void **state)
{
	struct world *w = *state;
	glob_t found = { 0 };

	w->now.unix_ns = MIDNIGHT - MINUTE_NS;
	begin(w, "../a b");
	pass(w, 5 * MINUTE_NS);
	write_now(w);
	pass(w, 5 * MINUTE_NS);
	write_now(w);
	expect_eq(list(w, "latency_hist", &found), 2);
	assert_string_equal(
		found.gl_pathv[0] + strlen(w->dir),
		"/latency_hist/date=2026-11-17/host=..%2Fa%20b/20261117T235900.000000Z-20261118T000400.000000Z.parquet");
	assert_string_equal(
		found.gl_pathv[1] + strlen(w->dir),
		"/latency_hist/date=2026-11-18/host=..%2Fa%20b/20261118T000400.000000Z-20261118T000900.000000Z.parquet");
	globfree(&found);
}

/* Two attempts that fail, one that works: one file with all of it. */
static void expect_recovery(struct world *w)
{
	struct parquet_reader r = { 0 };
	uint64_t to_ns = w->s->columns.written_unix_ns;
	size_t nr = nr_files(w, "latency_hist");

	pass(w, 5 * MINUTE_NS);
	wait_for(w, 7777);
	write_now(w);
	expect_eq(counted(&w->s->columns.failures, "latency_hist"), 2);
	expect_eq(nr_files(w, "latency_hist"), nr + 1);
	expect_eq(w->s->columns.written_unix_ns, w->now.unix_ns);
	read_nr(w, "latency_hist", nr, &r);
	if (to_ns)
		expect_eq(number(&r, "from_ns", 0), to_ns);
	expect_eq(number(&r, "to_ns", 0), w->now.unix_ns);
	parquet_reader_done(&r);
}

static void fail_twice(struct world *w)
{
	for (int i = 0; i < 2; i++) {
		pass(w, 5 * MINUTE_NS);
		wait_for(w, 123456);
		write_now(w);
	}
	expect_eq(counted(&w->s->columns.failures, "latency_hist"), 2);
}

static void what_cannot_be_written_is_in_the_next_file(void **state)
{
	struct world *w = *state;
	char path[128];
	int fd;

	begin(w, NULL);
	(void)snprintf(path, sizeof(path), "%s/latency_hist", w->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600); /* in the way of the folder */
	assert_true(fd >= 0);
	close(fd);
	fail_twice(w);
	expect_eq(count_entries(w), 1);
	expect_eq(unlink(path), 0);
	expect_recovery(w);
	expect_written(w, DIST_DELAY_WOKEN, "woken");
}

static void a_full_disk_leaves_nothing_and_loses_nothing(void **state)
{
	struct rlimit old, tight;
	struct world *w = *state;

	begin(w, NULL);
	wait_for(w, 1000);
	pass(w, MINUTE_NS);
	write_now(w);
	signal(SIGXFSZ, SIG_IGN);
	expect_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	tight = old;
	tight.rlim_cur = 500;
	expect_eq(setrlimit(RLIMIT_FSIZE, &tight), 0);
	fail_twice(w);
	expect_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	expect_eq(count_entries(w), 1);
	expect_recovery(w);
	expect_written(w, DIST_DELAY_WOKEN, "woken");
}

static void a_folder_that_goes_and_comes_again_is_used_again(void **state)
{
	struct world *w = *state;

	begin(w, NULL);
	remove_tree(w->dir);
	fail_twice(w);
	expect_eq(access(w->dir, F_OK), -1); /* it is not ours to make */
	expect_eq(mkdir(w->dir, 0700), 0);
	expect_recovery(w);
	expect_written(w, DIST_DELAY_WOKEN, "woken");
}

static void a_link_in_the_way_is_not_followed(void **state)
{
	struct world *w = *state;
	char path[128], elsewhere[128];

	begin(w, NULL);
	(void)snprintf(path, sizeof(path), "%s/latency_hist", w->dir);
	(void)snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", w->dir);
	expect_eq(mkdir(elsewhere, 0700), 0);
	expect_eq(symlink(elsewhere, path), 0);
	write_now(w);
	expect_eq(counted(&w->s->columns.failures, "latency_hist"), 1);
	expect_eq(count_entries(w), 1); /* the link */
}

static void cgroups_have_what_they_counted_also_after_they_lost_their_seats(void **state)
{
	struct world *w = *state;
	struct hist got = { 0 };
	uint32_t a, b;

	begin(w, NULL);
	a = seats_find(w->s->cgroups, "/a");
	seats_note(w->s->cgroups, a, 1, 1000);
	seats_choose(w->s->cgroups, 1);
	hist_add(seats_sums(w->s->cgroups, a)->delay, 40000, 0, 0);
	pass(w, MINUTE_NS);
	write_now(w);
	hist_add(seats_sums(w->s->cgroups, a)->delay, 50000, 0, 0);
	for (uint32_t i = 0; i < 2; i++) { /* two that wait more: /a has no seat any more */
		b = seats_find(w->s->cgroups, i ? "/b" : "/c");
		seats_note(w->s->cgroups, b, 2, 1000000);
		seats_choose(w->s->cgroups, 2);
	}
	assert_false(seats_at(w->s->cgroups, a)->is_seated);
	pass(w, MINUTE_NS);
	write_now(w);
	add_up(w, "cgroup_sched_delay", NULL, "/a", &got);
	expect_eq(got.count, 2);
	expect_eq(got.sum_ns, 90000);
}

/* Of all files: the waits of a pair, or the time that they are about. */
static uint64_t blamed(const struct world *w, const char *victim, const char *culprit,
                       const char *column)
{
	glob_t found = { 0 };
	size_t nr = list(w, "blame", &found);
	uint64_t ns = 0;

	for (size_t i = 0; i < nr; i++) {
		struct parquet_reader r = { 0 };

		read_file(found.gl_pathv[i], &r);
		for (size_t row = 0; row < r.nr_rows; row++)
			if (is_text(&r, "victim", row, victim) &&
			    is_text(&r, "culprit", row, culprit))
				ns += number(&r, column, row);
		parquet_reader_done(&r);
	}
	globfree(&found);
	return ns;
}

/* The whole life of a cgroup within an interval, with more after it than are remembered. */
static void what_a_forgotten_cgroup_counted_is_other(void **state)
{
	struct world *w = *state;
	struct seats *s = w->s->cgroups;
	struct hist own = { 0 }, other = { 0 };
	char name[32];
	uint32_t a;

	w->s->blame.is_on = true;
	begin(w, NULL);
	a = seats_find(s, "/a");
	seats_note(s, a, 1, 1000);
	seats_choose(s, 1);
	hist_add(seats_sums(s, a)->delay, 40000, 0, 0);
	sums_blame_add(w->s, a, BLAME_SPECIAL | BLAME_IDLE, 40000);
	pass(w, MINUTE_NS);
	write_now(w);
	hist_add(seats_sums(s, a)->delay, 50000, 0, 0);
	sums_blame_add(w->s, a, BLAME_SPECIAL | BLAME_IDLE, 50000);
	for (uint32_t i = 0; i < SEATS_KNOWN + 10; i++) {
		snprintf(name, sizeof(name), "/pod-%u", i);
		seats_note(s, seats_find(s, name), 2, 1000000);
		sums_blame_forget(w->s, seats_replaced(s));
		seats_choose(s, 2);
	}
	assert_int_equal(seats_known(s, "/a"), SEAT_OTHER);
	for (int i = 0; i < 2; i++) { /* the second adds nothing */
		pass(w, MINUTE_NS);
		write_now(w);
	}
	add_up(w, "cgroup_sched_delay", NULL, "/a", &own);
	add_up(w, "cgroup_sched_delay", NULL, "other", &other);
	expect_eq(own.sum_ns, 40000);
	expect_eq(other.sum_ns, 50000);
	expect_eq(other.count, 1);
	expect_eq(blamed(w, "/a", "(idle)", "wait_ns"), 40000);
	expect_eq(blamed(w, "other", "other", "wait_ns"), 50000);
}

static void the_longest_is_that_of_its_interval(void **state)
{
	static const uint64_t longest[] = { 9000000, 2000000 };
	struct world *w = *state;

	begin(w, NULL);
	for (size_t i = 0; i < 2; i++) {
		struct parquet_reader r = { 0 };
		size_t nr = 0;

		pass(w, MINUTE_NS);
		wait_for(w, 1000);
		wait_for(w, longest[i]);
		write_now(w);
		read_nr(w, "latency_hist", i, &r);
		for (size_t row = 0; row < r.nr_rows; row++) {
			if (cell(&r, "max_ns", row)->is_null)
				continue;
			nr++;
			expect_eq(number(&r, "max_ns", row), longest[i]);
			expect_eq(number(&r, "max_tid", row), longest[i] % 997);
			expect_eq(number(&r, "max_cpu", row), 3);
			assert_true(is_text(&r, "max_comm", row, "nginx"));
			expect_eq(number(&r, "max_at_ns", row) / SECOND_NS,
			          w->now.unix_ns / SECOND_NS);
			assert_true(number(&r, "low_ns", row) <= longest[i] &&
			            longest[i] < number(&r, "high_ns", row));
		}
		expect_eq(nr, 1);
		parquet_reader_done(&r);
	}
}

static void blame_is_by_victim_and_culprit(void **state)
{
	struct world *w = *state;
	uint32_t a = seats_find(w->s->cgroups, "/a");

	seats_note(w->s->cgroups, a, 1, 1000);
	seats_choose(w->s->cgroups, 1);
	w->s->blame.is_on = true;
	begin(w, NULL);
	for (uint64_t i = 1; i <= 3; i++) {
		sums_blame_add(w->s, a, BLAME_SPECIAL | BLAME_IDLE, 1000 * i);
		if (i != 2)
			sums_blame_add(w->s, a, SEAT_OTHER, 5);
		w->s->blame.covered_ns += 5 * MINUTE_NS;
		pass(w, 5 * MINUTE_NS);
		write_now(w);
	}
	expect_eq(nr_files(w, "blame"), 3);
	expect_eq(blamed(w, "/a", "(idle)", "wait_ns"), 6000);
	expect_eq(blamed(w, "/a", "other", "wait_ns"), 10);
	expect_eq(blamed(w, NULL, NULL, "covered_ns"), 15 * MINUTE_NS);
	expect_eq(blamed(w, NULL, NULL, "wait_ns"), 0);
}

static void make_dump(const struct world *w, const char *name)
{
	char path[256];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", w->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	dumps_poll(w->dumps, w->s);
}

static void dumps_are_told_once(void **state)
{
	static const char name[] =
		"schedscope-20261118T000400-wakeup-latency-6.2ms-nginx-5.pftrace";
	struct world *w = *state;
	struct parquet_reader r = { 0 };

	expect_eq(dumps_open(w->dir, 10, NULL, &w->dumps), 0);
	w->s->has_dumps = true;
	dumps_poll(w->dumps, w->s);
	begin(w, NULL);
	write_now(w);
	pass(w, MINUTE_NS);
	make_dump(w, name);
	wait_for(w, 997 * 6000 + 5); /* of task 5, at that time */
	write_now(w);
	pass(w, MINUTE_NS);
	write_now(w); /* nothing new, and the day has a file: none */
	expect_eq(nr_files(w, "dumps"), 2);
	read_nr(w, "dumps", 0, &r);
	expect_eq(r.nr_rows, 0);
	parquet_reader_done(&r);
	r = (struct parquet_reader){ 0 };
	read_nr(w, "dumps", 1, &r);
	expect_eq(r.nr_rows, 1);
	assert_true(is_text(&r, "name", 0, name) && is_text(&r, "trigger", 0, "wakeup-latency"));
	expect_eq(number(&r, "tid", 0), 5);
	expect_eq(number(&r, "begun_ns", 0), MIDNIGHT + 4 * MINUTE_NS);
	parquet_reader_done(&r);
	r = (struct parquet_reader){ 0 };
	read_nr(w, "latency_hist", 1, &r);
	for (size_t row = 0; row < r.nr_rows; row++)
		if (!cell(&r, "max_ns", row)->is_null)
			assert_true(is_text(&r, "dump", row, name));
	parquet_reader_done(&r);
}

static void a_folder_that_cannot_be_used_is_refused_at_once(void **state)
{
	struct world *w = *state;
	struct columns_cfg cfg = { .dir = "/nonexistent/columns", .every_ns = MINUTE_NS };
	struct diag d = { 0 };

	assert_true(columns_open(&cfg, &d, &w->c) < 0);
	assert_non_null(strstr(d.what, "cannot write into the folder"));
	cfg.dir = "/dev/null";
	assert_true(columns_open(&cfg, NULL, &w->c) < 0);
	assert_null(w->c);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(sums_over_files_are_the_sums),
		CASE(a_file_says_what_it_is_of),
		CASE(intervals_touch_and_end_where_those_of_others_do),
		CASE(a_clock_that_is_set_back_makes_no_interval_shorter),
		CASE(a_clock_that_was_never_set_has_its_day),
		CASE(folders_are_those_of_hive),
		CASE(what_cannot_be_written_is_in_the_next_file),
		CASE(a_full_disk_leaves_nothing_and_loses_nothing),
		CASE(a_folder_that_goes_and_comes_again_is_used_again),
		CASE(a_link_in_the_way_is_not_followed),
		CASE(cgroups_have_what_they_counted_also_after_they_lost_their_seats),
		CASE(what_a_forgotten_cgroup_counted_is_other),
		CASE(the_longest_is_that_of_its_interval),
		CASE(blame_is_by_victim_and_culprit),
		CASE(dumps_are_told_once),
		CASE(a_folder_that_cannot_be_used_is_refused_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
