/* tui/parts — pieces that more than one view is made of. */
#pragma once

#include "tui/view.h"

/*
 * CPUs at the right of wide screens, with the heat map below them where they leave room; on top of others, as a line on
 * small ones. What is left of the area.
 */
struct area parts_with_cpus(const struct machine *m, const struct screen *s, struct grid *g,
                            struct area a);
/* A line "name  value" with the value at the right. */
void parts_value(struct grid *g, struct area a, const char *name, const char *value);
/* A sentence, broken between words where a line ends; how many lines it took. */
int parts_sentence(struct grid *g, struct area a, enum style style, const char *text);
/* What stands at the right of a frame: the filter, else the tick. */
void parts_right(const struct screen *s, char *out, size_t size);
/* "p50 4us  p99 12us  max 2ms" of a distribution. */
void parts_dist(const struct machine_dist *d, char *out, size_t size);

void heat_draw(const struct machine *m, const struct screen *s, struct grid *g, struct area a);
void memory_summary_draw(const struct machine *m, struct grid *g, struct area a);
void network_summary_draw(const struct machine *m, const struct screen *s, struct grid *g,
                          struct area a);
