/* Loaded traces: which files, how many, for which session. */
#include "mcp/traces/trace_store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit.h"
#include "mcp/traces/trace_child.h"

enum { ME = 1, OTHER = 2 };

struct room {
	char dir[64];     /* allowed */
	char other[64];   /* not */
	char trace[128];  /* in the first */
	char secret[128]; /* in the second */
	struct trace_store *s;
};

static void copy_file(const char *to)
{
	char from[512], buf[4096];
	FILE *in, *out;
	size_t n;

	snprintf(from, sizeof(from), "%s/tests/data/perfetto/c-guest-idle.pftrace.gz",
	         getenv("SCHEDSCOPE_SOURCE"));
	in = fopen(from, "r");
	out = fopen(to, "w");
	assert_non_null(in);
	assert_non_null(out);
	while ((n = fread(buf, 1, sizeof(buf), in)) > 0)
		assert_int_equal(fwrite(buf, 1, n, out), n);
	fclose(in);
	fclose(out);
}

static void open_room(struct room *r, size_t max_traces, uint64_t max_bytes)
{
	const char *dirs[] = { r->dir };
	struct trace_store_cfg cfg = { dirs, 1, max_traces, max_bytes };
	struct diag d = { 0 };

	strcpy(r->dir, "/tmp/trace-store-a-XXXXXX");
	strcpy(r->other, "/tmp/trace-store-b-XXXXXX");
	assert_non_null(mkdtemp(r->dir));
	assert_non_null(mkdtemp(r->other));
	snprintf(r->trace, sizeof(r->trace), "%s/one.pftrace.gz", r->dir);
	snprintf(r->secret, sizeof(r->secret), "%s/two.pftrace.gz", r->other);
	copy_file(r->trace);
	copy_file(r->secret);
	assert_int_equal(trace_store_new(&cfg, &d, &r->s), 0);
}

static void close_room(struct room *r)
{
	char command[256];

	trace_store_free(r->s);
	snprintf(command, sizeof(command), "rm -r '%s' '%s'", r->dir, r->other);
	assert_int_equal(system(command), 0);
}

static int load_for(struct room *r, uint64_t owner, const char *path, const char *id,
                    size_t *nr_evicted)
{
	struct trace_load what = { .owner = owner, .path = path, .id = id };
	struct diag d = { 0 };
	char got[TRACE_ID_LEN];
	size_t nr = 0;
	int err = trace_store_load(r->s, &what, &d, got, &nr);

	if (!err && id)
		assert_string_equal(got, id);
	if (nr_evicted)
		*nr_evicted = nr;
	return err;
}

static int load(struct room *r, const char *path, const char *id, size_t *nr_evicted)
{
	return load_for(r, ME, path, id, nr_evicted);
}

static struct trace_child *borrow(struct room *r, const char *id)
{
	struct trace_child *rec = NULL;
	struct diag d = { 0 };

	return trace_store_borrow(r->s, ME, id, &d, &rec) ? NULL : rec;
}

static bool is_loaded_for(struct room *r, uint64_t owner, const char *id)
{
	struct trace_child *rec = NULL;
	struct diag d = { 0 };

	if (trace_store_borrow(r->s, owner, id, &d, &rec))
		return false;
	trace_store_return(r->s, rec);
	return true;
}

static bool is_loaded(struct room *r, const char *id)
{
	return is_loaded_for(r, ME, id);
}

static void only_what_lies_below_is_opened(void **state)
{
	struct room r;
	struct diag d = { 0 };
	char link[160], up[512], *real = NULL;

	(void)state;
	open_room(&r, 4, UINT64_MAX);
	assert_int_equal(load(&r, r.trace, NULL, NULL), 0);
	assert_true(is_loaded(&r, "one.pftrace"));
	assert_int_equal(load(&r, r.secret, NULL, NULL), -EACCES);
	snprintf(link, sizeof(link), "%s/link", r.dir);
	assert_int_equal(symlink(r.secret, link), 0);
	assert_int_equal(load(&r, link, NULL, NULL), -EACCES);
	unlink(link);
	assert_int_equal(symlink(r.other, link), 0);
	snprintf(up, sizeof(up), "%s/two.pftrace.gz", link);
	assert_int_equal(load(&r, up, NULL, NULL), -EACCES);
	snprintf(up, sizeof(up), "%s/../%s/two.pftrace.gz", r.dir, r.other + 5);
	assert_int_equal(trace_store_allow(r.s, ME, up, false, &d, &real), -EACCES);
	assert_non_null(strstr(d.what, r.dir));
	assert_int_equal(load(&r, r.dir, NULL, NULL), -EACCES);
	snprintf(up, sizeof(up), "%s-x", r.dir);
	assert_int_equal(load(&r, up, NULL, NULL), -EACCES);
	snprintf(up, sizeof(up), "%s/nope", r.dir);
	assert_int_equal(load(&r, up, NULL, NULL), -ENOENT);
	close_room(&r);
}

static void new_files_are_allowed_below_only(void **state)
{
	struct room r;
	char path[160], *real = NULL;
	struct diag d = { 0 };

	(void)state;
	open_room(&r, 4, UINT64_MAX);
	snprintf(path, sizeof(path), "%s/new.json", r.dir);
	assert_int_equal(trace_store_allow(r.s, ME, path, true, &d, &real), 0);
	assert_string_equal(real, path);
	free(real);
	snprintf(path, sizeof(path), "%s/new.json", r.other);
	assert_int_equal(trace_store_allow(r.s, ME, path, true, &d, &real), -EACCES);
	snprintf(path, sizeof(path), "%s/link", r.dir);
	assert_int_equal(symlink("/tmp/nothing", path), 0);
	assert_int_not_equal(trace_store_allow(r.s, ME, path, true, &d, &real), 0);
	snprintf(path, sizeof(path), "%s/..", r.dir);
	assert_int_not_equal(trace_store_allow(r.s, ME, path, true, &d, &real), 0);
	snprintf(path, sizeof(path), "%s/", r.dir);
	assert_int_not_equal(trace_store_allow(r.s, ME, path, true, &d, &real), 0);
	close_room(&r);
}

static void the_longest_unused_goes_first(void **state)
{
	struct room r;
	size_t nr;

	(void)state;
	open_room(&r, 2, UINT64_MAX);
	assert_int_equal(load(&r, r.trace, "a", &nr), 0);
	assert_int_equal(load(&r, r.trace, "b", &nr), 0);
	assert_true(is_loaded(&r, "a"));
	assert_int_equal(load(&r, r.trace, "c", &nr), 0);
	expect_eq(nr, 1);
	assert_false(is_loaded(&r, "b"));
	assert_true(is_loaded(&r, "a"));
	/* The same id again takes no more room. */
	assert_int_equal(load(&r, r.trace, "c", &nr), 0);
	expect_eq(nr, 0);
	close_room(&r);
}

static void a_lent_trace_is_never_evicted(void **state)
{
	struct room r;
	struct trace_child *a;
	size_t nr;

	(void)state;
	open_room(&r, 1, UINT64_MAX);
	assert_int_equal(load(&r, r.trace, "a", &nr), 0);
	a = borrow(&r, "a");
	assert_int_equal(load(&r, r.trace, "b", &nr), 0);
	expect_eq(nr, 0);
	assert_true(trace_child_events(a) > 0);
	trace_store_return(r.s, a);
	/* Now there was one too many, and the one just used stays. */
	assert_true(is_loaded(&r, "a"));
	assert_false(is_loaded(&r, "b"));
	close_room(&r);
}

static void memory_is_bounded_too(void **state)
{
	struct room r;
	struct trace_child *a;
	uint64_t bytes;
	size_t nr;

	(void)state;
	open_room(&r, 9, UINT64_MAX);
	assert_int_equal(load(&r, r.trace, "a", &nr), 0);
	a = borrow(&r, "a");
	bytes = trace_child_bytes(a);
	trace_store_return(r.s, a);
	close_room(&r);
	open_room(&r, 9, bytes + bytes / 2);
	assert_int_equal(load(&r, r.trace, "a", &nr), 0);
	assert_int_equal(load(&r, r.trace, "b", &nr), 0);
	expect_eq(nr, 1);
	close_room(&r);
	open_room(&r, 9, bytes / 2);
	assert_int_equal(load(&r, r.trace, "a", &nr), -E2BIG);
	close_room(&r);
}

static void an_unloaded_trace_stays_with_its_user(void **state)
{
	struct room r;
	struct trace_child *a;
	struct diag d = { 0 };
	char id[TRACE_ID_LEN];

	(void)state;
	open_room(&r, 4, UINT64_MAX);
	assert_int_equal(load(&r, r.trace, "a", NULL), 0);
	a = borrow(&r, "a");
	assert_int_equal(trace_store_unload(r.s, ME, "a", &d), 0);
	assert_false(is_loaded(&r, "a"));
	trace_store_id(r.s, a, id);
	assert_string_equal(id, "a");
	assert_true(trace_child_events(a) > 0);
	trace_store_return(r.s, a);
	assert_int_equal(trace_store_unload(r.s, ME, "a", &d), -ENOENT);
	close_room(&r);
}

static void *wait_for_a(void *ctx)
{
	return borrow(ctx, "a");
}

/* A caller that waits is notified, whether it comes back or goes. */
static void waiting_ends(void **state)
{
	struct room r;
	struct trace_child *a;
	struct diag d = { 0 };
	pthread_t thread;
	void *got;

	(void)state;
	open_room(&r, 4, UINT64_MAX);
	assert_int_equal(load(&r, r.trace, "a", NULL), 0);
	a = borrow(&r, "a");
	assert_int_equal(pthread_create(&thread, NULL, wait_for_a, &r), 0);
	usleep(20000);
	trace_store_return(r.s, a);
	pthread_join(thread, &got);
	assert_ptr_equal(got, a);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_a, &r), 0);
	usleep(20000);
	assert_int_equal(trace_store_unload(r.s, ME, "a", &d), 0);
	pthread_join(thread, &got);
	assert_null(got);
	trace_store_return(r.s, a);
	close_room(&r);
}

static void ids_are_listed_where_one_is_not_found(void **state)
{
	struct room r;
	struct trace_child *rec;
	struct diag d = { 0 };

	(void)state;
	open_room(&r, 4, UINT64_MAX);
	assert_int_equal(trace_store_borrow(r.s, ME, NULL, &d, &rec), -ENOENT);
	assert_non_null(strstr(d.hint, "load or record"));
	assert_int_equal(load(&r, r.trace, "first", NULL), 0);
	assert_true(is_loaded(&r, NULL));
	assert_int_equal(load(&r, r.trace, "second", NULL), 0);
	d = (struct diag){ 0 };
	assert_int_equal(trace_store_borrow(r.s, ME, "nope", &d, &rec), -ENOENT);
	assert_string_equal(d.what, "Trace 'nope' not found");
	assert_non_null(strstr(d.hint, "second"));
	assert_int_equal(load(&r, r.trace, "", NULL), -EINVAL);
	assert_int_equal(load(&r, r.trace, "a\nb", NULL), -EINVAL);
	close_room(&r);
}

static void our_own_files_go_with_their_traces(void **state)
{
	struct room r;
	struct diag d = { 0 };
	char *path = NULL, *second = NULL, dir[128];

	(void)state;
	open_room(&r, 4, UINT64_MAX);
	assert_int_equal(trace_store_temporary(r.s, ME, &d, &path), 0);
	assert_int_equal(trace_store_temporary(r.s, ME, &d, &second), 0);
	assert_string_not_equal(path, second);
	copy_file(path);
	copy_file(second);
	assert_int_equal(load(&r, path, "a", NULL), 0);
	/* Once more under its name: the file is still needed. */
	assert_int_equal(load(&r, path, "a", NULL), 0);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(trace_store_unload(r.s, ME, "a", &d), 0);
	assert_int_equal(access(path, F_OK), -1);
	snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(second, '/') - second), second);
	close_room(&r);
	assert_int_equal(access(dir, F_OK), -1);
	free(path);
	free(second);
}

static bool no_more(void *ctx, uint64_t done, uint64_t total)
{
	(void)done;
	(void)total;
	++*(int *)ctx;
	return false;
}

static void loading_can_be_given_up(void **state)
{
	struct room r;
	struct diag d = { 0 };
	int nr_calls = 0;
	struct trace_load what = { .owner = ME, .id = "a", .progress = no_more, .ctx = &nr_calls };
	char id[TRACE_ID_LEN];
	size_t nr;

	(void)state;
	open_room(&r, 4, UINT64_MAX);
	what.path = r.trace;
	assert_int_equal(trace_store_load(r.s, &what, &d, id, &nr), -ECANCELED);
	assert_int_equal(nr_calls, 1);
	assert_false(is_loaded(&r, "a"));
	close_room(&r);
}

static void count(void *ctx, const struct trace_entry *e)
{
	(void)e;
	++*(int *)ctx;
}

static int nr_loaded(struct room *r, uint64_t owner)
{
	int nr = 0;

	trace_store_each(r->s, owner, count, &nr);
	return nr;
}

static const char *newest(struct room *r, uint64_t owner, size_t nr, char *id)
{
	struct diag d = { 0 };

	return trace_store_newest(r->s, owner, nr, id, &d) ? NULL : id;
}

static void traces_of_others_are_not_there(void **state)
{
	struct room r;
	struct diag d = { 0 };
	char id[TRACE_ID_LEN];

	(void)state;
	open_room(&r, 8, UINT64_MAX);
	assert_int_equal(load_for(&r, ME, r.trace, "a", NULL), 0);
	assert_false(is_loaded_for(&r, OTHER, "a"));
	assert_false(is_loaded_for(&r, OTHER, NULL));
	assert_int_equal(trace_store_unload(r.s, OTHER, "a", &d), -ENOENT);
	assert_null(strstr(d.hint, "loaded are"));
	expect_eq(nr_loaded(&r, OTHER), 0);
	/* The same name is another trace; the newest of each is the one that is meant. */
	assert_int_equal(load_for(&r, OTHER, r.trace, "a", NULL), 0);
	assert_int_equal(load_for(&r, OTHER, r.trace, "b", NULL), 0);
	assert_string_equal(newest(&r, ME, 0, id), "a");
	assert_string_equal(newest(&r, OTHER, 0, id), "b");
	assert_string_equal(newest(&r, OTHER, 1, id), "a");
	assert_null(newest(&r, OTHER, 2, id));
	assert_int_equal(load_for(&r, OTHER, r.trace, "a", NULL), 0);
	assert_string_equal(newest(&r, OTHER, 0, id), "a");
	assert_int_equal(trace_store_unload(r.s, OTHER, "a", &d), 0);
	assert_true(is_loaded_for(&r, ME, "a"));
	trace_store_forget(r.s, OTHER);
	expect_eq(nr_loaded(&r, OTHER), 0);
	expect_eq(nr_loaded(&r, ME), 1);
	close_room(&r);
}

/* Clients that nothing tells apart are told apart by what only one of them was told. */
static void without_an_owner_a_trace_is_reached_by_its_handle_alone(void **state)
{
	struct room r;
	struct diag d = { 0 };
	struct trace_load what = { .owner = TRACE_NO_OWNER, .id = "mine" };
	char first[TRACE_ID_LEN], second[TRACE_ID_LEN], id[TRACE_ID_LEN];
	size_t nr;

	(void)state;
	open_room(&r, 2, UINT64_MAX);
	what.path = r.trace;
	assert_int_equal(trace_store_load(r.s, &what, &d, first, &nr), 0);
	assert_int_equal(trace_store_load(r.s, &what, &d, second, &nr), 0);
	expect_eq(strlen(first), 32);
	assert_string_not_equal(first, second);
	assert_true(is_loaded_for(&r, TRACE_NO_OWNER, first));
	assert_false(is_loaded_for(&r, TRACE_NO_OWNER, NULL));
	assert_false(is_loaded_for(&r, TRACE_NO_OWNER, "mine"));
	assert_false(is_loaded_for(&r, ME, first));
	assert_null(newest(&r, TRACE_NO_OWNER, 0, id));
	expect_eq(nr_loaded(&r, TRACE_NO_OWNER), 0);
	assert_int_equal(trace_store_unload(r.s, TRACE_NO_OWNER, "nope", &d), -ENOENT);
	assert_null(strstr(d.hint, first));
	/* All of them share what an owner has: the one unused longest goes for the next client. */
	assert_true(is_loaded_for(&r, TRACE_NO_OWNER, second));
	assert_int_equal(load_for(&r, ME, r.trace, "a", &nr), 0);
	expect_eq(nr, 1);
	assert_false(is_loaded_for(&r, TRACE_NO_OWNER, first));
	assert_true(is_loaded_for(&r, TRACE_NO_OWNER, second));
	assert_int_equal(trace_store_unload(r.s, TRACE_NO_OWNER, second, &d), 0);
	close_room(&r);
}

/* A client that knows where its own recording is could guess where others have theirs. */
static void recordings_of_others_cannot_be_opened(void **state)
{
	struct diag d = { 0 };
	char *mine = NULL, *real = NULL;
	const char *dirs[] = { "/tmp" };
	struct trace_store_cfg cfg = { dirs, 1, 4, UINT64_MAX };
	struct room r = { 0 };

	(void)state;
	assert_int_equal(trace_store_new(&cfg, &d, &r.s), 0);
	assert_int_equal(trace_store_temporary(r.s, ME, &d, &mine), 0);
	copy_file(mine);
	assert_int_equal(load_for(&r, OTHER, mine, "x", NULL), -EACCES);
	assert_int_equal(trace_store_allow(r.s, OTHER, mine, true, &d, &real), -EACCES);
	assert_int_equal(load_for(&r, ME, mine, "x", NULL), 0);
	free(mine);
	trace_store_free(r.s);
}

/* Where the server was started is nothing that its clients know of. */
static void relative_paths_begin_in_an_allowed_directory(void **state)
{
	struct room r;
	struct diag d = { 0 };
	char path[160], *real = NULL;

	(void)state;
	open_room(&r, 4, UINT64_MAX);
	assert_int_equal(load(&r, "one.pftrace.gz", "a", NULL), 0);
	assert_int_equal(load(&r, "./one.pftrace.gz", "b", NULL), 0);
	assert_int_equal(load(&r, "nope", "c", NULL), -ENOENT);
	snprintf(path, sizeof(path), "../%s/two.pftrace.gz", r.other + 5);
	assert_int_equal(load(&r, path, "d", NULL), -EACCES);
	assert_int_equal(trace_store_allow(r.s, ME, "new.json", true, &d, &real), 0);
	snprintf(path, sizeof(path), "%s/new.json", r.dir);
	assert_string_equal(real, path);
	free(real);
	close_room(&r);
}

static void the_first_allowed_directory_that_has_the_file_counts(void **state)
{
	struct room r;
	struct trace_store *both = NULL;
	const char *dirs[] = { r.dir, r.other };
	struct trace_store_cfg cfg = { dirs, 2, 4, UINT64_MAX };
	struct diag d = { 0 };
	char *real = NULL;

	(void)state;
	open_room(&r, 4, UINT64_MAX);
	assert_int_equal(trace_store_new(&cfg, &d, &both), 0);
	assert_int_equal(trace_store_allow(both, ME, "two.pftrace.gz", false, &d, &real), 0);
	assert_string_equal(real, r.secret);
	free(real);
	trace_store_free(both);
	close_room(&r);
}

/* One with many does not push out the only one of another. */
static void the_owner_with_the_most_gives_first(void **state)
{
	struct room r;
	size_t nr;

	(void)state;
	open_room(&r, 3, UINT64_MAX);
	assert_int_equal(load_for(&r, ME, r.trace, "a", &nr), 0);
	assert_int_equal(load_for(&r, OTHER, r.trace, "b", &nr), 0);
	assert_int_equal(load_for(&r, OTHER, r.trace, "c", &nr), 0);
	assert_int_equal(load_for(&r, OTHER, r.trace, "d", &nr), 0);
	expect_eq(nr, 1);
	assert_true(is_loaded_for(&r, ME, "a"));
	assert_false(is_loaded_for(&r, OTHER, "b"));
	close_room(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_lies_below_is_opened),
		cmocka_unit_test(new_files_are_allowed_below_only),
		cmocka_unit_test(the_longest_unused_goes_first),
		cmocka_unit_test(a_lent_trace_is_never_evicted),
		cmocka_unit_test(memory_is_bounded_too),
		cmocka_unit_test(an_unloaded_trace_stays_with_its_user),
		cmocka_unit_test(waiting_ends),
		cmocka_unit_test(ids_are_listed_where_one_is_not_found),
		cmocka_unit_test(our_own_files_go_with_their_traces),
		cmocka_unit_test(loading_can_be_given_up),
		cmocka_unit_test(traces_of_others_are_not_there),
		cmocka_unit_test(without_an_owner_a_trace_is_reached_by_its_handle_alone),
		cmocka_unit_test(recordings_of_others_cannot_be_opened),
		cmocka_unit_test(relative_paths_begin_in_an_allowed_directory),
		cmocka_unit_test(the_first_allowed_directory_that_has_the_file_counts),
		cmocka_unit_test(the_owner_with_the_most_gives_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
