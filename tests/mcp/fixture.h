/*
 * tests/mcp/fixture — tables of tools, resources and prompts for tests of the protocol, in place of the real ones, and a link
 * that keeps what was sent.
 *
 * Tools: echo (text), fail, wait (until it is cancelled, or for "ms"; tells its progress), big ("bytes" of text), choose
 * (asks which of three fruits), talk (one message of each level up to warning); and 130 more of the same to make pages. Resources: fake://clock changes ten times a second and has a revision, fake://ticks changes all the time
 * and has none, fake://still never changes and is looked at five times a second at most. One prompt: greet (name).
 */
#pragma once

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "mcp/server.h"

#define FIXTURE_NR_TOOLS 136U /* all but one in the core */

/* How many subscribers fake://clock has now, and how many calls of wait ran to their end or were cancelled. */
int fixture_nr_watching(void);
int fixture_nr_cancelled(void);
/* How often fake://still was read, by any client. */
int fixture_nr_reads(void);

struct sent {
	void *exchange;
	json_t *value; /* NULL for an end without a text */
	bool is_last;
	enum mcp_end end;
};

struct fake_link {
	pthread_mutex_t lock;
	pthread_cond_t has_more;
	struct sent *sent;
	size_t nr;
	size_t size;
	size_t nr_bad; /* texts that are no JSON-RPC */
};

void fake_link_init(struct fake_link *l);
void fake_link_done(struct fake_link *l);
struct mcp_link fake_link_use(struct fake_link *l);
/* Forgets what was sent. */
void fake_link_clear(struct fake_link *l);
/* Waits for so many messages; false after ten seconds. */
bool fake_link_wait(struct fake_link *l, size_t nr);
