/*
 * report/html — how texts and numbers are written into a page.
 *
 * Every text from a recording is hostile: html_text() is the one way in. It writes what HTML takes for itself as entities, control
 * characters and those that turn the direction of text as visible escapes (\x1b, \u202e), and bytes that are not UTF-8 as
 * U+FFFD, so that a page shows what is there and nothing else. The result is right as text and inside a quoted attribute, in HTML
 * and in SVG. Attributes that scripts read have the name itself: html_attr_exact(). Errors are those of the stream.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/report.h"
#include "base/attr.h"

#define HTML_TIME_BYTES 24

void html_text(FILE *out, const char *text);
/* Words with a hyphen are in spans: lines break between words, and not after a hyphen. */
void html_command(FILE *out, const char *command);
/* name="text", after a blank. */
void html_attr(FILE *out, const char *name, const char *text);
/* The same of a name that is not shown: hidden characters are those of the name, as in the document of the page. */
void html_attr_exact(FILE *out, const char *name, const char *text);
void html_attr_u64(FILE *out, const char *name, uint64_t value);
/* "12.3ms" */
void html_time(FILE *out, uint64_t ns);
/* A number of an attribute of SVG: at most two decimals, with a point in every locale. */
void html_number(FILE *out, double value);

/* A <td> of a value: a number has its key and its raw value in data-key and data-value. NULL is an empty cell. */
void html_cell(FILE *out, const struct report_node *node);
/* The same, of a table whose cells are of several analyses; NULL = of the table's. */
void html_cell_of(FILE *out, const struct report_node *node, const char *analysis);
/* The same of a number that is in no report. */
void html_cell_u64(FILE *out, const char *key, uint64_t value);

/* JSON as the text of a script element, which nothing inside it can end: "<" occurs in strings only, and becomes an escape. */
void html_json(FILE *out, const char *json, size_t len);
