/*
 * fuzz/fuzz_match — lines of patterns, the last line is the subject. A search that takes longer than a
 * second is a finding: the limits promise some milliseconds per pattern.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/match.h"
#include "base/name_pattern.h"
#include "fuzz.h"

#define PATTERNS_MAX 8
#define SECONDS_MAX  1.0

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void search(const char *const *patterns, size_t nr, const char *subject, size_t len)
{
	double start = cpu_seconds();
	struct match *m = NULL;
	struct diag d = { 0 };
	int err = match_new(patterns, nr, &d, &m);
	bool is_match;

	fuzz_check(cpu_seconds() - start < SECONDS_MAX);
	if (err) {
		fuzz_check(err == -EINVAL && d.code == err && d.what[0]);
		return;
	}
	start = cpu_seconds();
	is_match = match_any(m, subject, len);
	fuzz_check(cpu_seconds() - start < SECONDS_MAX);
	fuzz_check(match_nr_aborted(m) + is_match <= nr);
	fuzz_check(match_is_empty(m) == (nr == 0));
	match_free(m);
}

/* A name or a glob becomes an expression that compiles, if it is short enough. */
static void convert(const char *pattern)
{
	enum name_pattern_kind kind = name_pattern_kind(pattern);
	struct match *m = NULL;
	struct diag d = { 0 };
	char *regex = NULL;
	int err;

	if (name_pattern_regex(pattern, &regex))
		return;
	err = match_new((const char *const[]){ regex }, 1, &d, &m);
	fuzz_check(!err || err == -EINVAL);
	match_free(m);
	free(regex);
	if (kind == NAME_PATTERN_REGEX)
		fuzz_check(name_pattern_check(pattern, &d) == err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *at = text, *line;
	const char *patterns[PATTERNS_MAX];
	size_t nr = 0;

	while (nr < PATTERNS_MAX && strchr(at, '\n')) {
		line = strsep(&at, "\n");
		patterns[nr++] = line;
		convert(line);
	}
	/* The subject may hold NULs: names are bytes with a length. */
	search(patterns, nr, at, size - (size_t)(at - text));
	free(text);
	return 0;
}
