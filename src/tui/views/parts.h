/* tui/views/parts — pieces that more than one view is made of. */
#pragma once

#include "tui/view.h"

/*
 * CPUs at the right of wide screens, with what they did, the heat map and pressure below them where they leave room; on
 * top of others, as a line on small ones. What is left of the area.
 */
struct area parts_with_cpus(const struct machine *m, struct screen *s, struct grid *g,
                            struct area a);
/* A line "name  value" with the value at the right. */
void parts_value(struct grid *g, struct area a, const char *name, const char *value);
/* A sentence, broken between words where a line ends, and cut with an ellipsis; how many lines it took. */
int parts_sentence(struct grid *g, struct area a, enum style style, const char *text);
/* The text at the right of a frame: the filter, else the tick. */
void parts_right(const struct screen *s, char *out, size_t size);
/* "p50 4us  p99 12us  max 2ms" of a distribution. */
void parts_dist(const struct machine_dist *d, char *out, size_t size);
/* What a table of its own can be sorted by, for an act(): the keys that change it go from one to the next. */
struct parts_sort {
	enum view_sort sort;
	const char *name;
};
bool parts_sort_act(const struct parts_sort *sorts, size_t nr, struct screen *s,
                    enum action action);
/* The one that is in use; the first where the screen's is none of these. */
enum view_sort parts_sort_of(const struct parts_sort *sorts, size_t nr, const struct screen *s);
/*
 * Halves or doubles a rate of samples within bounds, and reports it. hz 0 = the default. False:
 * another action.
 */
struct parts_rate {
	double usual, min, max;
};
bool parts_rate_act(const struct parts_rate *r, double *hz, struct screen *s, enum action action);

/* Values over time, in a frame: the newest at the right, an interval to a cell. */
struct parts_chart {
	const char *title;
	struct machine_history of; /* may be unknown */
	double max;                /* as high as the frame; 0 = the largest in sight */
	enum style style;          /* STYLE_TEXT = by the bands of their parts of max */
};
void parts_chart(const struct machine *m, const struct parts_chart *c, struct grid *g,
                 struct area a);
/* The largest of the newest values, as many as there are cells; 0 = none is known. */
double parts_largest(const struct machine_history *h, int cells);

int heat_height(const struct machine *m); /* that it has use for, with its frame */
void heat_draw(const struct machine *m, const struct screen *s, struct grid *g, struct area a);
#define PRESSURE_LINES 8
void pressure_draw(const struct machine *m, const struct screen *s, struct grid *g, struct area a);
void memory_summary_draw(const struct machine *m, struct grid *g, struct area a);
void network_summary_draw(const struct machine *m, const struct screen *s, struct grid *g,
                          struct area a);
