/* Files that are complete or absent, and folders as Hive names them. */
#include "../unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write_all.h"
#include "serve/parquet/parquet.h"
#include "serve/parquet/parquet_file.h"

struct place {
	char dir[64];
	int fd;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	(void)snprintf(p->dir, sizeof(p->dir), "/tmp/test-parquet-XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	p->fd = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = p;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	struct place *p = *state;

	close(p->fd);
	(void)nftw(p->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(p);
	return 0;
}

static int nr_entries(const struct place *p)
{
	DIR *dir = opendir(p->dir);
	int nr = 0;

	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr - 2;
}

static void put_text(const struct place *p, const char *name, const char *text)
{
	int fd = openat(p->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	expect_eq(write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static off_t size_of(const struct place *p, const char *name)
{
	struct stat st;

	return fstatat(p->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? -1 : st.st_size;
}

/* A small file of ours. */
static struct parquet_file *write_one(const struct place *place, const char *name,
                                      bool is_replacing)
{
	static const struct parquet_column c = { "x", PARQUET_I64, PARQUET_PLAIN, true };
	struct parquet_file *f = NULL;
	struct parquet_cfg cfg = { .columns = &c, .nr_columns = 1, .name = name };
	struct parquet *p = NULL;

	expect_eq(parquet_file_open(place->fd, name, is_replacing, NULL, &f), 0);
	cfg.fd = parquet_file_fd(f);
	expect_eq(parquet_open(&cfg, NULL, &p), 0);
	expect_eq(parquet_close(p, NULL), 0);
	parquet_free(p);
	expect_eq(parquet_file_sync(f, NULL), 0);
	return f;
}

static void partitions_are_named_as_hive_does(void **state)
{
	char buf[64];

	(void)state;
	expect_eq(parquet_partition(buf, sizeof(buf), "host", "web-1.example"), 0);
	assert_string_equal(buf, "host=web-1.example");
	expect_eq(parquet_partition(buf, sizeof(buf), "host", "../a b%\xff"), 0);
	assert_string_equal(buf, "host=..%2Fa%20b%25%FF");
	expect_eq(parquet_partition(buf, sizeof(buf), "host", NULL), 0);
	assert_string_equal(buf, "host=__HIVE_DEFAULT_PARTITION__");
	expect_eq(-parquet_partition(buf, 10, "host", "too-long"), ENAMETOOLONG);
	expect_eq(-parquet_partition(buf, 3, "host", "x"), ENAMETOOLONG);
}

static void a_file_appears_when_it_is_kept(void **state)
{
	const struct place *p = *state;
	struct parquet_file *f = write_one(p, "a.parquet", false);

	expect_eq(size_of(p, "a.parquet"), -1);
	expect_eq(nr_entries(p), 1); /* under another name, with a dot */
	expect_eq(parquet_file_keep(f, NULL), 0);
	parquet_file_close(f);
	assert_true(size_of(p, "a.parquet") > 12);
	expect_eq(nr_entries(p), 1);
}

static void a_file_that_is_not_kept_leaves_nothing(void **state)
{
	const struct place *p = *state;

	parquet_file_close(write_one(p, "a.parquet", false));
	expect_eq(nr_entries(p), 0);
}

static void files_that_are_there_stay(void **state)
{
	const struct place *p = *state;
	struct parquet_file *f = NULL;
	struct diag d = { 0 };

	put_text(p, "a.parquet", "PAR1 of another writer PAR1");
	expect_eq(-parquet_file_open(p->fd, "a.parquet", false, &d, &f), EEXIST);
	assert_non_null(strstr(d.hint, "--force"));
	d = (struct diag){ 0 };
	expect_eq(-parquet_file_open(p->fd, "a.parquet", true, &d, &f), EEXIST);
	assert_non_null(strstr(d.what, "not of schedscope"));
	expect_eq(size_of(p, "a.parquet"), 27);
	expect_eq(symlinkat("/etc/passwd", p->fd, "link.parquet"), 0);
	expect_eq(-parquet_file_open(p->fd, "link.parquet", true, NULL, &f), EEXIST);
	expect_eq(-parquet_file_open(p->fd, "b/c.parquet", true, NULL, &f), ENAMETOOLONG);
	expect_eq(nr_entries(p), 2);
}

static void our_own_is_replaced_when_asked_for(void **state)
{
	const struct place *p = *state;
	struct parquet_file *f = write_one(p, "a.parquet", false);

	expect_eq(parquet_file_keep(f, NULL), 0);
	parquet_file_close(f);
	f = NULL;
	expect_eq(-parquet_file_open(p->fd, "a.parquet", false, NULL, &f), EEXIST);
	f = write_one(p, "a.parquet", true);
	expect_eq(parquet_file_keep(f, NULL), 0);
	parquet_file_take_back(f); /* the one before cannot come back: it stays */
	parquet_file_close(f);
	assert_true(size_of(p, "a.parquet") > 12);
}

/* Another file may take the name while ours is written. */
static void a_name_that_was_taken_meanwhile_is_kept(void **state)
{
	const struct place *p = *state;
	struct parquet_file *f = write_one(p, "a.parquet", false);
	struct diag d = { 0 };

	put_text(p, "a.parquet", "mine");
	expect_eq(-parquet_file_keep(f, &d), EEXIST);
	parquet_file_close(f);
	expect_eq(size_of(p, "a.parquet"), 4);
	expect_eq(nr_entries(p), 1);
}

static void files_that_belong_together_go_together(void **state)
{
	const struct place *p = *state;
	struct parquet_file *a = write_one(p, "a.parquet", false);
	struct parquet_file *b = write_one(p, "b.parquet", false);

	put_text(p, "b.parquet", "mine");
	expect_eq(parquet_file_keep(a, NULL), 0);
	expect_eq(-parquet_file_keep(b, NULL), EEXIST);
	parquet_file_take_back(a);
	parquet_file_take_back(b);
	parquet_file_close(a);
	parquet_file_close(b);
	expect_eq(nr_entries(p), 1);
	expect_eq(size_of(p, "b.parquet"), 4);
}

static void folders_are_made_and_links_refused(void **state)
{
	static const char *const below[] = { "wait", "date=2026-11-18" };
	const struct place *p = *state;
	struct diag d = { 0 };
	int fd = parquet_folder_open(p->dir, below, 2, &d);

	assert_true(fd >= 0);
	close(fd);
	expect_eq(unlinkat(p->fd, "wait/date=2026-11-18", AT_REMOVEDIR), 0);
	expect_eq(symlinkat("/tmp", p->fd, "wait/date=2026-11-18"), 0);
	assert_true(parquet_folder_open(p->dir, below, 2, &d) < 0);
	assert_non_null(strstr(d.what, "nothing is written through it"));
	d = (struct diag){ 0 };
	expect_eq(-parquet_folder_open("/proc/no/such", below, 2, &d), ENOENT);
	assert_non_null(strstr(d.what, "/proc/no/such"));
}

#define with_place(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(partitions_are_named_as_hive_does),
		with_place(a_file_appears_when_it_is_kept),
		with_place(a_file_that_is_not_kept_leaves_nothing),
		with_place(files_that_are_there_stay),
		with_place(our_own_is_replaced_when_asked_for),
		with_place(a_name_that_was_taken_meanwhile_is_kept),
		with_place(files_that_belong_together_go_together),
		with_place(folders_are_made_and_links_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
