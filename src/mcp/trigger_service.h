/*
 * mcp/trigger_service — triggers of clients: "tell me when this task waits for more than 5 ms".
 *
 * A trigger is a condition on the live stream (model/trigger), judged where rows are made, and the resource trigger://ID. When it
 * fires, the service's thread takes a shot of the rolling timeline and writes down why, so that it can be read after that time has left
 * the window. The last few are kept; within the cooldown it is only counted.
 *
 * A trigger belongs to a client, and goes with it. One that is neither read nor subscribed to for TRIGGER_IDLE_NS ends, for there are
 * clients whose end is not seen. Its id cannot be guessed: a client that has it may read it, and no other client learns of it. Any thread; no program
 * is attached while there is no trigger, and the thread sleeps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/json_write.h"

#define TRIGGER_ID_LEN     17U /* with its NUL */
#define TRIGGERS_PER_OWNER 8U
#define TRIGGER_WHEN_LEN   512U
#define TRIGGER_IDLE_NS    600000000000ULL

struct live_feed;
struct trigger_service;

/* The feed is lent. */
MUST_USE int trigger_service_new(struct live_feed *feed, struct trigger_service **out);
void trigger_service_free(struct trigger_service *s); /* NULL is fine, as in the calls below */

/* -EINVAL for words that are no condition, -EUSERS if the client has too many; -ENOTSUP: this kernel cannot tell. */
MUST_USE int trigger_service_add(struct trigger_service *s, uint64_t owner, const char *when,
                                 uint64_t cooldown_ns, struct diag *d, char id[TRIGGER_ID_LEN]);
/* -ENOENT with a sentence if there is none, or not of that owner. */
MUST_USE int trigger_service_remove(struct trigger_service *s, uint64_t owner, const char *id,
                                    struct diag *d);
/* All of a client. */
void trigger_service_forget(struct trigger_service *s, uint64_t owner);
bool trigger_service_has(struct trigger_service *s, uint64_t owner);

/* What it is, how often it fired, and why: members of an object. -ENOENT. */
MUST_USE int trigger_service_put(struct trigger_service *s, const char *id,
                                 struct json_writer *out);
/* One line about each of a client: id, when, and how often it fired. None for no owner (0). */
struct trigger_line {
	char id[TRIGGER_ID_LEN];
	char when[TRIGGER_WHEN_LEN];
	uint64_t fired;
};
uint32_t trigger_service_list(struct trigger_service *s, uint64_t owner,
                              struct trigger_line lines[TRIGGERS_PER_OWNER]);

/* While there are subscribers it does not end for want of readers. A hold of one that is gone is fine. */
void trigger_service_hold(struct trigger_service *s, const char *id);
void trigger_service_drop(struct trigger_service *s, const char *id);
/* Changes when there is something new to read, and when it is gone. */
uint64_t trigger_service_revision(struct trigger_service *s, const char *id);
