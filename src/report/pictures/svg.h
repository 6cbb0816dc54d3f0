/*
 * report/pictures/svg — what the static pictures of a page share: frames, axes of time, colours of tasks.
 *
 * Pictures scale with the page. Colours are classes of page.css, which has them for light, dark and paper; nothing has a style of
 * its own.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#define SVG_WIDTH  960.0
#define SVG_LEFT   110.0 /* for names */
#define SVG_COLORS 7U    /* of tasks: classes t0 to t6 */

struct svg_span {
	uint64_t from_ns, to_ns; /* what lies between SVG_LEFT and SVG_WIDTH */
};

/* <svg> with a role and a label for those who do not see it. */
void svg_begin(FILE *out, double height, const char *class_name, const char *label);
void svg_end(FILE *out);
double svg_x(const struct svg_span *s, uint64_t ns);
/* Without its end: the caller closes it, with /> or with a title. */
void svg_rect(FILE *out, const char *class_name, double x, double y, double width, double height);
/* Of a text that is hostile. */
void svg_text(FILE *out, const char *class_name, double x, double y, const char *text);
/* A line with the first and the last moment, after start_ns. */
void svg_axis(FILE *out, const struct svg_span *s, double y, uint64_t start_ns);
/* The same for tasks of the same name, in every picture. */
unsigned int svg_color(const char *comm);
