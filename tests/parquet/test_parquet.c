/* The writer, by a reader of its own. */
#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "parquet_reader.h"
#include "parquet_story.h"

#define ENCODING(nr) (1U << (nr))
enum { PLAIN = 0, DELTA = 5, DICTIONARY = 8 };

static struct parquet_value text(const char *s)
{
	return (struct parquet_value){ .text = s, .len = strlen(s) };
}

static struct parquet_value number(int64_t value)
{
	return (struct parquet_value){ .i64 = value };
}

static const struct parquet_value null = { .is_null = true };

/* Writes, reads, compares; the reader is the caller's to look at. */
static void round_trip(const struct parquet_story *s, struct parquet_reader *r, uint8_t **file)
{
	const char *what;
	size_t size;

	expect_eq(parquet_story_write(s, file, &size), 0);
	what = parquet_story_check(s, *file, size);
	if (what)
		fail_msg("%s", what);
	assert_true(parquet_reader_read(r, *file, size));
}

/* One column of nr values. */
static void one_column(struct parquet_column c, struct parquet_value *values, size_t nr,
                       uint32_t encodings, uint32_t groups)
{
	struct parquet_story s = { .columns = &c,
		                   .nr_columns = 1,
		                   .values = values,
		                   .nr_rows = nr,
		                   .group_rows = 3000,
		                   .page_rows = 700 };
	SCOPED(scoped_free) uint8_t *file = NULL;
	struct parquet_reader r;

	round_trip(&s, &r, &file);
	expect_eq(r.columns[0].encodings, encodings);
	expect_eq(r.nr_groups, groups);
	parquet_reader_done(&r);
}

static void a_file_without_rows_has_its_schema(void **state)
{
	struct parquet_column columns[] = { { "a", PARQUET_I64, PARQUET_DELTA, false },
		                            { "b", PARQUET_TEXT, PARQUET_DICTIONARY, true } };
	struct parquet_story s = { .columns = columns, .nr_columns = 2 };
	SCOPED(scoped_free) uint8_t *file = NULL;
	struct parquet_reader r;

	(void)state;
	round_trip(&s, &r, &file);
	expect_eq(r.nr_rows, 0);
	expect_eq(r.nr_groups, 0);
	expect_eq(r.nr_columns, 2);
	assert_non_null(strstr(r.writer, "schedscope version "));
	parquet_reader_done(&r);
}

static void integers_of_all_sizes_come_back(void **state)
{
	static struct parquet_value values[10000];
	const size_t nr = sizeof(values) / sizeof(values[0]);
	uint64_t x = 88172645463325252ULL;

	(void)state;
	for (size_t i = 0; i < nr; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		values[i] = number((int64_t)(x >> (i % 64)));
		if (i % 3 == 1)
			values[i].i64 = -values[i].i64;
		if (i % 1000 == 0)
			values[i].i64 = i % 2000 ? INT64_MIN : INT64_MAX;
	}
	one_column((struct parquet_column){ "x", PARQUET_I64, PARQUET_DELTA, true }, values, nr,
	           ENCODING(DELTA), 4);
	one_column((struct parquet_column){ "x", PARQUET_I64, PARQUET_PLAIN, true }, values, nr,
	           ENCODING(PLAIN), 4);
	one_column((struct parquet_column){ "x", PARQUET_I64, PARQUET_DICTIONARY, false }, values,
	           nr, ENCODING(DICTIONARY), 4);
}

/* Each length around the borders of blocks, pages and groups of eight. */
static void lengths_around_borders_come_back(void **state)
{
	static struct parquet_value values[1500];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		values[i] = i % 7 == 3 || (i > 200 && i < 300) ? null
		                                               : number((int64_t)(i / 20 * 5));
	for (size_t nr = 1; nr < 420; nr++) {
		one_column((struct parquet_column){ "x", PARQUET_I64, PARQUET_DELTA, false },
		           values, nr, ENCODING(DELTA), 1);
		one_column((struct parquet_column){ "x", PARQUET_I64, PARQUET_DICTIONARY, false },
		           values, nr, ENCODING(DICTIONARY), 1);
	}
	for (size_t nr = 690; nr < 715; nr++)
		one_column((struct parquet_column){ "x", PARQUET_I64, PARQUET_DICTIONARY, false },
		           values, nr, ENCODING(DICTIONARY), 1);
}

static void nulls_alone_come_back(void **state)
{
	static struct parquet_value values[1000];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		values[i] = null;
	for (enum parquet_type type = PARQUET_I64; type <= PARQUET_TEXT; type++)
		one_column((struct parquet_column){ "x", type, PARQUET_PLAIN, false }, values, 1000,
		           ENCODING(PLAIN), 1);
	one_column((struct parquet_column){ "x", PARQUET_TEXT, PARQUET_DICTIONARY, false }, values,
	           1000, ENCODING(PLAIN), 1);
}

static void booleans_and_doubles_come_back(void **state)
{
	static struct parquet_value values[2000];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		values[i] = i % 5 ? (struct parquet_value){ .flag = i % 3 == 0,
			                                    .number = (double)i / 7 - 100 }
		                  : null;
	one_column((struct parquet_column){ "x", PARQUET_BOOL, PARQUET_PLAIN, false }, values, 2000,
	           ENCODING(PLAIN), 1);
	one_column((struct parquet_column){ "x", PARQUET_DOUBLE, PARQUET_PLAIN, false }, values,
	           2000, ENCODING(PLAIN), 1);
	values[7].number = NAN;
	values[8].number = -INFINITY;
	values[9].number = -0.0;
	values[11].number = 0.0;
	one_column((struct parquet_column){ "x", PARQUET_DOUBLE, PARQUET_DICTIONARY, false },
	           values, 2000, ENCODING(DICTIONARY), 1);
}

/* Invalid UTF-8, quotes, controls, an empty text, the longest that is taken, and one that is part of another. */
static void hostile_names_come_back(void **state)
{
	SCOPED(scoped_free) char *longest = malloc(PARQUET_TEXT_MAX + 1);
	struct parquet_value values[9];

	(void)state;
	assert_non_null(longest);
	memset(longest, 'x', PARQUET_TEXT_MAX);
	longest[PARQUET_TEXT_MAX] = '\0';
	values[0] = text("\xff\xfe\x80");
	values[1] = text("");
	values[2] = text("a\"';--\n\x1b[31m");
	values[3] = text("\xe2\x82");
	values[4] = text(longest);
	values[5] = text("PAR1");
	values[6] = text("\xf0\x9f\x90\x99");
	values[7] = null;
	values[8] = (struct parquet_value){ .text = "a\0b", .len = 3 };
	one_column((struct parquet_column){ "x", PARQUET_TEXT, PARQUET_PLAIN, false }, values, 9,
	           ENCODING(PLAIN), 1);
	/* The longest fits no dictionary beside others: from there on it is given up. */
	one_column((struct parquet_column){ "x", PARQUET_TEXT, PARQUET_DICTIONARY, false }, values,
	           9, ENCODING(PLAIN) | ENCODING(DICTIONARY), 1);
}

static void a_dictionary_that_is_too_large_is_given_up(void **state)
{
	const size_t nr = 70000;
	SCOPED(scoped_free) struct parquet_value *values = calloc(nr, sizeof(*values));
	SCOPED(scoped_free) char(*names)[16] = calloc(nr, sizeof(*names));
	struct parquet_column columns[] = { { "n", PARQUET_I64, PARQUET_DICTIONARY, false },
		                            { "t", PARQUET_TEXT, PARQUET_DICTIONARY, false } };

	(void)state;
	assert_true(values && names);
	for (uint32_t k = 0; k < 2; k++) {
		struct parquet_story s = {
			.columns = &columns[k], .nr_columns = 1, .values = values, .nr_rows = nr
		};
		SCOPED(scoped_free) uint8_t *file = NULL;
		struct parquet_reader r;

		for (size_t i = 0; i < nr; i++) {
			(void)snprintf(names[i], sizeof(names[i]), "name-%zu", i);
			values[i] = k ? text(names[i]) : number((int64_t)i * 1000003);
		}
		round_trip(&s, &r, &file);
		expect_eq(r.columns[0].encodings,
		          ENCODING(DICTIONARY) | ENCODING(k ? PLAIN : DELTA));
		parquet_reader_done(&r);
	}
}

/* Long texts end pages and row groups by their bytes. */
static void long_texts_do_not_fill_memory(void **state)
{
	enum { LONG = 1 << 20, ROWS = 150 };
	SCOPED(scoped_free) struct parquet_value *values = calloc(ROWS, sizeof(*values));
	SCOPED(scoped_free) char *bytes = malloc(LONG + ROWS);
	struct parquet_column c = { "t", PARQUET_TEXT, PARQUET_PLAIN, true };
	struct parquet_story s = {
		.columns = &c, .nr_columns = 1, .values = values, .nr_rows = ROWS
	};
	SCOPED(scoped_free) uint8_t *file = NULL;
	struct parquet_reader r;
	uint32_t x = 1;

	(void)state;
	assert_true(values && bytes);
	for (size_t i = 0; i < LONG + ROWS; i++) {
		x = x * 1664525 + 1013904223;
		bytes[i] = (char)(' ' + (x >> 24) % 90);
	}
	for (size_t i = 0; i < ROWS; i++)
		values[i] = (struct parquet_value){ .text = bytes + i, .len = LONG };
	round_trip(&s, &r, &file);
	assert_true(r.nr_groups > 1);
	parquet_reader_done(&r);
}

static struct parquet *open_one(const struct parquet_column *c, int fd)
{
	struct parquet_cfg cfg = { .columns = c, .nr_columns = 1, .fd = fd, .name = "one" };
	struct parquet *p = NULL;

	expect_eq(parquet_open(&cfg, NULL, &p), 0);
	return p;
}

static void rows_that_cannot_be_are_refused(void **state)
{
	static const struct parquet_column c = { "name", PARQUET_TEXT, PARQUET_PLAIN, true };
	SCOPED(scoped_free) char *longer = calloc(1, PARQUET_TEXT_MAX + 2);
	struct parquet_value v = { .text = longer, .len = PARQUET_TEXT_MAX + 1 };
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct parquet *p = open_one(&c, fd);
	struct diag d = { 0 };

	(void)state;
	expect_eq(-parquet_append(p, &null, &d), EINVAL);
	assert_non_null(strstr(d.what, "'name'"));
	d = (struct diag){ 0 };
	expect_eq(-parquet_append(p, &v, &d), E2BIG);
	assert_non_null(strstr(d.what, "more than 1048576 bytes"));
	expect_eq(parquet_rows(p), 0);
	expect_eq(parquet_close(p, &d), 0);
	parquet_free(p);
	close(fd);
}

static void schemas_that_cannot_be_are_refused(void **state)
{
	static const struct {
		struct parquet_column columns[2];
		uint32_t nr;
		const char *what;
	} cases[] = {
		{ { { "", PARQUET_I64, PARQUET_PLAIN, false } }, 1, "no name" },
		{ { { "a", PARQUET_I64, PARQUET_PLAIN, false },
		    { "a", PARQUET_TEXT, PARQUET_PLAIN, false } },
		  2,
		  "two columns are called 'a'" },
		{ { { "a", PARQUET_TEXT, PARQUET_DELTA, false } }, 1, "integers" },
		{ { { "a", PARQUET_BOOL, PARQUET_DICTIONARY, false } }, 1, "booleans" },
		{ { { "a", PARQUET_I64, PARQUET_PLAIN, false } }, 0, "1 to 1024 columns" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct parquet_cfg cfg = { .columns = cases[i].columns,
			                   .nr_columns = cases[i].nr,
			                   .fd = -1,
			                   .name = "x" };
		struct parquet *p = NULL;
		struct diag d = { 0 };

		expect_eq(-parquet_open(&cfg, &d, &p), EINVAL);
		assert_non_null(strstr(d.what, cases[i].what));
		assert_null(p);
	}
}

/* The first error sticks: nothing that follows makes a file of it. */
static void a_full_disk_is_reported_and_sticks(void **state)
{
	static const struct parquet_column c = { "x", PARQUET_I64, PARQUET_PLAIN, true };
	int fd = open("/dev/full", O_WRONLY);
	struct parquet_cfg cfg = { .columns = &c, .nr_columns = 1, .fd = fd, .name = "one" };
	struct parquet *p = NULL;
	struct diag d = { 0 };

	(void)state;
	expect_eq(-parquet_open(&cfg, &d, &p), ENOSPC);
	assert_non_null(strstr(d.what, "'one'"));
	assert_non_null(strstr(d.hint, "make room"));
	close(fd);
}

static void an_error_of_a_row_group_sticks(void **state)
{
	static const struct parquet_column c = { "x", PARQUET_I64, PARQUET_PLAIN, true };
	struct parquet_value v = number(1);
	struct diag d = { 0 };
	int fds[2];
	struct parquet *p;

	(void)state;
	expect_eq(pipe2(fds, O_CLOEXEC), 0);
	p = open_one(&c, fds[1]);
	expect_eq(parquet_append(p, &v, &d), 0);
	close(fds[1]); /* writing fails from now on */
	expect_eq(-parquet_close(p, &d), EBADF);
	d = (struct diag){ 0 };
	expect_eq(-parquet_append(p, &v, &d), EBADF);
	assert_true(d.what[0]);
	expect_eq(-parquet_close(p, NULL), EBADF);
	parquet_free(p);
	close(fds[0]);
}

/* Memory that is in use does not grow with the rows: what a row group has is written. */
static void memory_does_not_grow_with_rows(void **state)
{
	static const struct parquet_column columns[] = {
		{ "ts", PARQUET_I64, PARQUET_DELTA, false },
		{ "name", PARQUET_TEXT, PARQUET_DICTIONARY, false },
	};
	struct parquet_cfg cfg = { .columns = columns,
		                   .nr_columns = 2,
		                   .fd = open("/dev/null", O_WRONLY),
		                   .name = "many",
		                   .group_rows = 65536 };
	struct parquet_value row[2];
	struct parquet *p = NULL;
	struct rusage warm, end;

	(void)state;
	expect_eq(parquet_open(&cfg, NULL, &p), 0);
	for (uint64_t i = 0; i < 3000000; i++) {
		row[0] = number((int64_t)(i * 1000 + i % 77));
		row[1] = text(i % 3 ? "worker" : "io");
		expect_eq(parquet_append(p, row, NULL), 0);
		if (i == 300000)
			getrusage(RUSAGE_SELF, &warm);
	}
	expect_eq(parquet_close(p, NULL), 0);
	getrusage(RUSAGE_SELF, &end);
	expect_eq(parquet_rows(p), 3000000);
	assert_true(end.ru_maxrss - warm.ru_maxrss < 4096); /* kB; the rows have 50,000 */
	parquet_free(p);
	close(cfg.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_without_rows_has_its_schema),
		cmocka_unit_test(integers_of_all_sizes_come_back),
		cmocka_unit_test(lengths_around_borders_come_back),
		cmocka_unit_test(nulls_alone_come_back),
		cmocka_unit_test(booleans_and_doubles_come_back),
		cmocka_unit_test(hostile_names_come_back),
		cmocka_unit_test(a_dictionary_that_is_too_large_is_given_up),
		cmocka_unit_test(long_texts_do_not_fill_memory),
		cmocka_unit_test(rows_that_cannot_be_are_refused),
		cmocka_unit_test(schemas_that_cannot_be_are_refused),
		cmocka_unit_test(a_full_disk_is_reported_and_sticks),
		cmocka_unit_test(an_error_of_a_row_group_sticks),
		unit_test_if(!IS_SANITIZED, memory_does_not_grow_with_rows,
		             "the allocator of sanitizers keeps what is freed"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
