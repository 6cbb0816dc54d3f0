/*
 * trace/text/text — the text of ftrace, trace-cmd report and perf script; private to trace/text.
 *
 * A line is split into its columns (line.c), its event is found by name (event.c), and the fields of that event become
 * those of struct ftrace_event_in (fields.c; events that print no "key=value" in forms.c). Texts stay where they are: in
 * the bytes of the file. Lines may be hostile: each is looked at a bounded number of times.
 */
#pragma once

#include "trace/ftrace/cpus.h"

/* A part of a line. */
struct span {
	const char *at, *end;
};

static inline size_t span_len(struct span s)
{
	return (size_t)(s.end - s.at);
}

static inline bool span_begins(struct span s, const char *word, size_t len)
{
	return span_len(s) >= len && memcmp(s.at, word, len) == 0;
}

static inline void span_skip_spaces(struct span *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What begins with word: s is moved behind it. */
static inline bool span_take(struct span *s, const char *word, size_t len)
{
	if (!span_begins(*s, word, len))
		return false;
	s->at += len;
	return true;
}
#define SPAN_TAKE(s, word)   span_take(s, word, sizeof(word) - 1)
#define SPAN_BEGINS(s, word) span_begins(s, word, sizeof(word) - 1)

/* A decimal number, of any number of leading zeros; false without one, or if it does not fit. */
bool span_number(struct span *s, uint64_t *out);
/* The same with a sign, or with 0x. */
bool span_value(struct span *s, uint64_t *out);
bool span_hex(struct span *s, uint64_t *out);
/* Where word is in s; NULL = nowhere. */
const char *span_find(struct span s, const char *word, size_t len);
/* The next line, without its end; false behind the last. */
bool span_line(struct span *rest, struct span *line);

/* How the columns of a line are laid out. */
enum text_form {
	TEXT_COLUMNS, /* "comm-12    (  12) [003] d..2. 1.000002: event: fields" */
	TEXT_LATENCY, /* "comm-12      3d..2. 12us : event: fields" */
	TEXT_PERF,    /* "comm    12 [003] 1.000002:   event: fields" */
};

struct text_columns {
	enum text_form form;   /* of the last line that could be split */
	unsigned int irq_flag; /* which of the flags is that of interrupts */
};

struct text_line {
	enum text_form form;
	struct span comm; /* empty = unknown */
	uint32_t pid;
	bool has_pid;
	uint32_t tgid; /* 0 = not given */
	uint32_t cpu;
	bool has_cpu;
	bool has_system; /* perf printed one before the event: it is a tracepoint */
	bool is_count;   /* its time is a number without a unit */
	bool is_rounded; /* its time has microseconds */
	bool has_flags;  /* otherwise it is not known whether an interrupt was under way */
	uint8_t flags;   /* EV_FLAG_* */
	uint64_t ts_ns;
	uint64_t period; /* of perf; 1 = not given */
	struct span event, fields;
};

/* False if the line has no such columns. */
bool text_line_split(struct text_columns *c, struct span in, struct text_line *out);

#define TEXT_SPECS_MAX 8U

struct text_spec;
struct text_event;

/* Fills in the fields of an event; false if some of them are not there. */
typedef bool text_read_fn(const struct text_event *ev, struct span fields,
                          struct ftrace_event_in *e);

/* An event by its name. */
struct text_event {
	uint32_t member; /* ftrace_member(); 0 = not known to us */
	uint32_t name;   /* of decoder_text(), if not */
	bool is_ready;
	uint8_t fields[TEXT_SPECS_MAX]; /* ftrace_field() of those of spec */
	text_read_fn *read;             /* NULL = they are of no use to us */
	const struct text_spec *spec;
};

/* Finds what reads the fields of a member. fields.c */
void text_event_find(struct text_event *ev);
/* raw.c: "field=value field=value", by the kernel's names of fields, as 'trace-cmd report -R' prints them all. */
bool text_read_raw(const struct text_event *ev, struct span in, struct ftrace_event_in *e);
/* forms.c: of events that are printed in their own way; NULL for others. */
text_read_fn *text_form_of(uint32_t member);

static inline void text_put_number(struct ftrace_event_in *e, uint32_t field, uint64_t value)
{
	e->values[field] = value;
	e->has |= 1U << field;
}

static inline void text_put_text(struct ftrace_event_in *e, uint32_t field, struct span s)
{
	e->bytes[field] = (const uint8_t *)s.at;
	e->values[field] = span_len(s);
	e->has |= 1U << field;
	e->texts |= 1U << field;
}

/* The function that something is in, without where in it; or its address. */
void text_put_symbol(struct ftrace_event_in *e, uint32_t nr, struct span word);
/*
 * The name of a task, which ends where word begins: " pid=". It may hold anything, also the word, but is never longer than
 * the kernel's; in is moved behind the word.
 */
bool text_take_comm(struct span *in, const char *word, size_t len, struct span *comm);

/* Whether these are lines of a trace: the first of them. detect.c */
bool text_is_trace(struct span in);
/* The next block of text in the HTML of systrace; false behind the last. */
bool text_next_block(struct span *rest, struct span *block);
bool text_is_html(struct span in);
/* Whether "<" stands as "&lt;" in it, and a copy without; the caller frees out->at. -E2BIG, -ENOMEM. escaped.c */
bool text_is_escaped(struct span in);
MUST_USE int text_unescape(struct reader *r, struct span in, struct span *out);

/* What is said once in a file. header.c */
struct text_header {
	uint32_t nr_flags;      /* lines of the header that describe one */
	bool has_other_clock;   /* events of perf disagree about it */
	bool is_graph;          /* of the function_graph tracer, which has no such lines */
	uint32_t clock;         /* 0 = unknown */
	uint32_t nr_clock_said; /* events of perf that said one, or none */
};
/* A comment; false if it is none. */
bool text_comment(struct reader *r, struct text_header *h, struct text_columns *c, struct span in);
/* A line without columns that is no damage: "cpus=2", "CPU 1 is empty". r may be NULL. */
bool text_is_remark(struct reader *r, struct span in);
/* "CPU:1 [LOST 12 EVENTS]" and the like; count 0 = not said. */
bool text_is_loss(struct span in, uint64_t *cpu, uint64_t *count);

/* Names and processes of tasks, from the columns of lines. names.c */
struct text_names;
struct text_names *text_names_new(struct reader *r); /* NULL without memory */
void text_names_free(struct text_names *n);
MUST_USE int text_names_see(struct text_names *n, const struct text_line *line);

/* Samples of perf script: an event, and below it the frames. stacks.c */
struct text_stacks;
struct text_stacks *text_stacks_new(struct reader *r); /* NULL without memory */
void text_stacks_free(struct text_stacks *s);
/* An event begins, whose frames may follow. */
MUST_USE int text_stacks_begin(struct text_stacks *s, const struct text_line *line,
                               uint32_t member);
/* A frame of it; false if the line is none. */
bool text_stacks_frame(struct text_stacks *s, struct span in);
bool text_stacks_is_frame(struct span in);
/* It ends. */
void text_stacks_end(struct text_stacks *s);
/* All of them into the info. 0, -ENOMEM or -E2BIG. */
MUST_USE int text_stacks_finish(struct text_stacks *s);
