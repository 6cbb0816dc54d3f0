/*
 * report/content — all that a report says: the analyses behind its tables, and its worst waits, explained.
 *
 * The analyses are those of the command line with the same arguments, so that each table can be made again; they run at once,
 * and share one ledger and one sum of all waits. What does not apply to the recording is NULL. The source is lent; reads
 * only. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyses/batch.h"
#include "analyze/pass.h"
#include "base/attr.h"
#include "base/cleanup.h"
#include "model/pair.h"
#include "render/bottlenecks_text.h"

#define CONTENT_WAITS    16U
#define CONTENT_SLEEPS   3U
#define CONTENT_FINDINGS 4U /* that the verdict has room for */

enum content_part {
	CONTENT_BOTTLENECKS,
	CONTENT_SUMMARY,
	CONTENT_RUNTIME,
	CONTENT_BLAME_COMM,
	CONTENT_BLAME_PROCESS,
	CONTENT_BLAME_CGROUP,
	CONTENT_LATENCY,
	CONTENT_CPUS,
	CONTENT_IRQS,
	CONTENT_SOFTIRQS,
	CONTENT_IPIS,
	CONTENT_IDLE,
	CONTENT_FREQUENCIES,
	CONTENT_QUEUES,
	CONTENT_PARTS,
};

/* What is made beside the analyses, on a thread of theirs, as soon as the worst waits are known. */
struct content_beside {
	void (*fn)(void *ctx);
	void *ctx;
};

struct content {
	struct source source;         /* the one given, with what analyses share */
	const struct pass_args *args; /* lent */
	struct batch_item items[CONTENT_PARTS];
	struct batch batch;
	const struct report_node *parts[CONTENT_PARTS];
	/* The longest first; those that findings are about among them. */
	struct pair_wait waits[CONTENT_WAITS];
	uint32_t nr_waits;
	struct report *explained; /* {"waits": [...]}, in the same order */
	struct report *sleeps[CONTENT_SLEEPS];
	uint32_t nr_sleeps;
	/* The findings of the verdict; which wait or sleep each is about, as its number from 1 on; 0 = none. */
	const struct report_node *findings[CONTENT_FINDINGS];
	uint32_t finding_wait[CONTENT_FINDINGS];
	uint32_t finding_sleep[CONTENT_FINDINGS];
	uint32_t nr_findings;
	const struct content_beside *beside; /* lent; NULL = nothing */
	struct diag why;                     /* the worst waits are not known */
};

/* -ENODATA with a sentence where the recording has no switches; -ENOMEM. */
MUST_USE int content_init(struct content *c, const struct source *s, const struct pass_args *args,
                          const struct content_beside *beside, struct diag *d);
void content_done(struct content *c);

/* The name of a part in the document, and the words of the command that prints the same. */
const char *content_key(enum content_part part);
void content_command(const struct content *c, enum content_part part, char *buf, size_t size);
/* {"sentences": [...], ...} of a wait, or of a sleep; from 0 on. */
const struct report_node *content_wait(const struct content *c, uint32_t nr);
const struct report_node *content_sleep(const struct content *c, uint32_t nr);
/* A moment of the trace, in nanoseconds after its start. */
uint64_t content_after(const struct content *c, uint64_t ts_ns);
