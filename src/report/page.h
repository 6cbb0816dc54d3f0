/*
 * report/page — a report: one HTML file that needs nothing else, opens from a disk, and can be read without scripts.
 *
 * Answer first: the verdict, what it rests on, the worst waits, who kept whom waiting, pictures, tables, words. Then the data, for the
 * scripts that follow them. A policy of content names by their hashes the one style and the one script that may be used;
 * nothing is fetched. docs/report.md says what is where.
 *
 * The source is lent until the page is freed. One thread; analyses start others and wait for them. Never prints.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/pass.h"
#include "base/attr.h"
#include "base/cleanup.h"

struct page;
struct report_compare;

struct page_cfg {
	const struct source *s;
	const struct pass_args *args;
	const struct report_compare *compare; /* judged, lent; NULL = it is compared with nothing */
	const char *title;                    /* NULL = made of the name of the file */
	const char *command;                  /* that makes this report */
	const char *generator;                /* the program and its version */
	/* Called now and then, with how much is done of all. May be NULL. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

/* -ENODATA with a sentence for a recording without switches; -ENOMEM; what arguments make impossible. */
MUST_USE int page_make(const struct page_cfg *cfg, struct diag *d, struct page **out);
/* The whole file. -EIO, -ENOMEM. */
MUST_USE int page_write(const struct page *p, FILE *out);
/* The first sentence of the verdict; untrusted. */
const char *page_verdict(const struct page *p);
void page_free(struct page *p); /* NULL is fine */
DEFINE_SCOPED(page, page_free)
/* What begins every page: a file that begins with it may be replaced by another report. */
#define PAGE_MARK "<!doctype html>\n<!-- a report of schedscope -->\n"
