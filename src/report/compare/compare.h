/*
 * report/compare/compare — recordings before and after, side by side in a page: what differs in the machines, what changed beyond noise, and
 * waits on the same axes.
 *
 * Recordings are added one after the other and can be closed then: only sums are kept. One before and one after are compared as
 * `diff` does it, with the same numbers. Sets of at least DIFF_MIN_SET recordings each are compared recording by recording
 * (docs/definitions.md, Comparison). Never prints.
 */
#pragma once

#include <stdio.h>

#include "analyze/pass.h"
#include "base/attr.h"
#include "base/cleanup.h"
#include "base/json_write.h"

#define COMPARE_MAX_RECORDINGS 64 /* of a side */

struct report_compare;

enum compare_side { COMPARE_BEFORE, COMPARE_AFTER, COMPARE_SIDES };

/* -ENOMEM. */
MUST_USE int report_compare_new(struct diag *d, struct report_compare **out);
void report_compare_free(struct report_compare *c); /* NULL is fine */
DEFINE_SCOPED(report_compare, report_compare_free)

/* -E2BIG beyond COMPARE_MAX_RECORDINGS, -EINVAL for one that the side has already, -ENOMEM, or what scope_init() says of the arguments. */
MUST_USE int report_compare_add(struct report_compare *c, enum compare_side side,
                                const struct source *s, const struct pass_args *args,
                                struct diag *d);
/* Once, when all are added: -EINVAL if a side has none, -ENOMEM. */
MUST_USE int report_compare_judge(struct report_compare *c, struct diag *d);

/* The section of the page; errors are those of the stream. */
void report_compare_html(const struct report_compare *c, FILE *out);
/* The member "compare" of the object that is open. */
void report_compare_document(const struct report_compare *c, struct json_writer *w);
