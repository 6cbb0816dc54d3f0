/*
 * render/sheet — a report as people read it: a sentence that answers, tables chosen by hand, the command to run next.
 *
 * How each analysis is shown is data: sheets.c. In its sentences {path} is the value there. {path|s} is an "s" unless that value is 1,
 * {@path} the task, cgroup or class that the object there is about, and {@path:waker_} the task that its members waker_pid, ... name. A step
 * "^key" of a path is the row in which key is largest; {=path} may be 0. [A part in brackets] is left out if a value of it
 * is unknown or 0. Of several sentences the first one of which all other values are known and not 0 is taken.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/report.h"
#include "render/report_value.h"

#define SHEET_ANSWERS 4
#define SHEET_LISTS   10
#define SHEET_COLUMNS 12
#define SHEET_BYTES   1024

enum sheet_show {
	SHEET_VALUE,
	SHEET_TASK, /* what the object at the key is about; of a key that ends in '_', members with that prefix */
	SHEET_NAME,   /* the key of the row itself, in words */
	SHEET_TEXT,   /* takes the columns that are left, and is cut there */
	SHEET_SHARES, /* the same, of a list in the row: "cc1 71%, make 20%" */
	SHEET_BAR,    /* a part of 100 % */
	SHEET_SCALE,  /* beside the largest of the column; takes the columns that are left */
	SHEET_STATES, /* running, waiting, blocked and sleeping as one bar */
};

struct sheet_column {
	const char *title; /* NULL ends the list */
	const char *key;   /* a path in the row; "" is the row itself */
	enum sheet_show show;
};

/* A table. The last columns that do not fit are left out. */
struct sheet_list {
	const char *list;  /* path of an array of objects, or of an object of objects */
	const char *title; /* NULL = it needs none */
	const char *total; /* path of how many rows there are; NULL = all are in the report */
	struct sheet_column columns[SHEET_COLUMNS];
};

struct sheet {
	const char *id;                       /* of the analysis */
	const char *answers[SHEET_ANSWERS];   /* the last one may be for nothing found */
	const char *more;                     /* sentences in brackets */
	struct sheet_list lists[SHEET_LISTS]; /* none: all lists of the report */
	const char *next[SHEET_ANSWERS];      /* "explain FILE --tid {pid}" */
};

/* NULL: this analysis has none. */
const struct sheet *sheet_find(const char *id);

/* How values are shown. */
struct sheet_words {
	struct report_clock clock;
	bool is_for_shell; /* texts are quoted where a shell needs it */
};

/* The sentence, which is printable; false if a value that it needs is unknown or 0. */
bool sheet_say(const struct report_node *root, const char *sentence, const struct sheet_words *w,
               char *buf, size_t size);
/* The first of these that can be said; false: none. */
bool sheet_say_first(const struct report_node *root, const char *const *sentences,
                     const struct sheet_words *w, char *buf, size_t size);
/* A path with the steps of sentences. */
const struct report_node *sheet_at(const struct report_node *node, const char *path);
/* As report_value() shows it; large amounts of nothing in particular as "1.9G". */
char *sheet_value(const struct report_node *node, struct report_place place, char *buf,
                  size_t size);
/* How the value at a path is shown: the object that holds it says what its percentiles are of. */
struct report_place sheet_place(const struct report_node *root, const char *path,
                                struct report_clock clock);
/* "web/200", or "web (200)" in a sentence; "-" for none. prefix is that of its members, "" for none. */
char *sheet_task(const struct report_node *node, const char *prefix, bool is_sentence, char *buf,
                 size_t size);
