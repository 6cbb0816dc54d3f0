#include "base/match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* Far above what names of a few hundred bytes need; reached within some milliseconds. */
#define STEPS_LIMIT     100000U
#define DEPTH_LIMIT     10000U
#define HEAP_LIMIT_KIB  8192U
#define NESTING_LIMIT   100U
#define SHOWN_PATTERN   80
#define COMPILE_OPTIONS (PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_DOLLAR_ENDONLY)

struct match {
	pcre2_match_context *limits;
	pcre2_match_data *data;
	uint64_t nr_aborted;
	size_t nr;
	pcre2_code *codes[MATCH_MAX_PATTERNS];
};

static void scoped_compile_context(pcre2_compile_context *const *c)
{
	pcre2_compile_context_free(*c);
}

static int refuse(const char *pattern, int error, size_t at, struct diag *d)
{
	char shown[SHOWN_PATTERN], why[128] = "unknown error";

	if (error == PCRE2_ERROR_HEAP_FAILED)
		return diag_set(d, -ENOMEM, NULL, "cannot compile a pattern");
	text_printable(shown, sizeof(shown), pattern, strlen(pattern));
	pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof(why));
	return diag_set(d, -EINVAL, "patterns are regular expressions in the syntax of PCRE2",
	                "pattern '%s' is wrong after %zu bytes: %s", shown, at, why);
}

static int add_pattern(struct match *m, const char *pattern, pcre2_compile_context *ctx,
                       struct diag *d)
{
	size_t len = strnlen(pattern, MATCH_MAX_PATTERN_BYTES + 1), at = 0;
	char shown[SHOWN_PATTERN];
	pcre2_code *code;
	int error = 0;

	if (len > MATCH_MAX_PATTERN_BYTES) {
		text_printable(shown, sizeof(shown), pattern, len);
		return diag_set(d, -EINVAL, NULL, "pattern '%s...' is longer than %d bytes", shown,
		                MATCH_MAX_PATTERN_BYTES);
	}
	code = pcre2_compile((PCRE2_SPTR)pattern, len, COMPILE_OPTIONS, &error, &at, ctx);
	if (!code)
		return refuse(pattern, error, at, d);
	m->codes[m->nr++] = code;
	return 0;
}

/* Without patterns yet; NULL when memory is short. */
static struct match *new_empty(void)
{
	SCOPED(scoped_match) struct match *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->limits = pcre2_match_context_create(NULL);
	m->data = pcre2_match_data_create(1, NULL);
	if (!m->limits || !m->data)
		return NULL;
	pcre2_set_match_limit(m->limits, STEPS_LIMIT);
	pcre2_set_depth_limit(m->limits, DEPTH_LIMIT);
	pcre2_set_heap_limit(m->limits, HEAP_LIMIT_KIB);
	return TAKE_PTR(m);
}

int match_new(const char *const *patterns, size_t nr, struct diag *d, struct match **out)
{
	SCOPED(scoped_compile_context) pcre2_compile_context *ctx = NULL;
	SCOPED(scoped_match) struct match *m = NULL;
	int err;

	if (nr > MATCH_MAX_PATTERNS)
		return diag_set(d, -EINVAL, "join some of them with '|'",
		                "%zu patterns are more than %d", nr, MATCH_MAX_PATTERNS);
	ctx = pcre2_compile_context_create(NULL);
	m = new_empty();
	if (!ctx || !m)
		return diag_set(d, -ENOMEM, NULL, "cannot compile a pattern");
	pcre2_set_parens_nest_limit(ctx, NESTING_LIMIT);
	for (size_t i = 0; i < nr; i++) {
		err = add_pattern(m, patterns[i], ctx, d);
		if (err)
			return err;
	}
	*out = TAKE_PTR(m);
	return 0;
}

void match_free(struct match *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nr; i++)
		pcre2_code_free(m->codes[i]);
	pcre2_match_data_free(m->data);
	pcre2_match_context_free(m->limits);
	free(m);
}

bool match_any(struct match *m, const char *s, size_t len)
{
	int rc;

	for (size_t i = 0; m && i < m->nr; i++) {
		rc = pcre2_match(m->codes[i], (PCRE2_SPTR)s, len, 0, 0, m->data, m->limits);
		if (rc >= 0)
			return true;
		if (rc != PCRE2_ERROR_NOMATCH)
			m->nr_aborted++;
	}
	return false;
}

bool match_is_empty(const struct match *m)
{
	return !m || m->nr == 0;
}

uint64_t match_nr_aborted(const struct match *m)
{
	return m ? m->nr_aborted : 0;
}
