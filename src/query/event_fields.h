/*
 * query/event_fields — the fields of raw events, by the names that the kernel's tracepoints give them.
 *
 * One table says for each kind of record what its event is called and where its fields lie; queries, exports and
 * timelines read records through it. Fields that every event has: timestamp, cpu, pid (the task on the CPU, or
 * the one that the event is about), comm, event_type.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/event.h"
#include "analyze/source.h"

#define EVENT_FIELDS_MAX 12 /* of one kind, the common ones left out */

enum event_field_type {
	EVENT_FIELD_U64,
	EVENT_FIELD_I64,
	EVENT_FIELD_ID,
	EVENT_FIELD_TEXT,
	EVENT_FIELD_COMM,
	EVENT_FIELD_DEQUEUED, /* a bit of the flags of a leave */
	EVENT_FIELD_REASON,   /* of a number: why a scheduler went */
	EVENT_FIELD_CALL,     /* of a number: the name of a system call */
	EVENT_FIELD_POLICY,   /* of a number: the name of a policy */
	EVENT_FIELD_LOCK,     /* of a number: the kind of a lock */
	EVENT_FIELD_PROBE,    /* of a number: the name of a probe */
	EVENT_FIELD_SYMBOL /* of an address: the name of a function where it is known, else the address */
};

struct event_field {
	const char *name;
	enum event_field_type type;
	uint16_t offset; /* of the number or text; of the tid whose name is meant for EVENT_FIELD_COMM */
	uint16_t size;
};

struct event_value {
	bool is_text;
	bool is_signed;
	bool is_id;
	uint64_t u64;
	int64_t i64;
	const char *text; /* valid as long as record and source */
};

/* As the kernel calls the event: "sched_switch". NULL for what is not an event. */
const char *event_type_name(unsigned int kind);
/* Events of a kind that has a name; the sum over all kinds is facts.nr_events. */
uint64_t event_type_count(const struct source_facts *f, unsigned int kind);
/*
 * Kinds of a name: that of the event, of our own ("switch"), scxtop's "sched_migrate" and "softirq" (entry and
 * exit), "all". 0 for an unknown name.
 */
uint64_t event_kinds_by_name(const char *name);
/* Up to EVENT_FIELDS_MAX, ended by a NULL name. */
const struct event_field *event_fields(unsigned int kind);

/* False if this event has no such field, or its value is not known. Common fields included. */
bool event_value(const struct source *s, const struct ev_hdr *rec, const char *field,
                 struct event_value *out);
/* The same for a field of event_fields(). */
bool event_field_value(const struct source *s, const struct ev_hdr *rec,
                       const struct event_field *field, struct event_value *out);
/* Whether any kind has a field of that name, common ones included. */
bool event_field_exists(const char *field);
/* Whether it is a number in every event that has it. */
bool event_field_is_number(const char *field);
