/* render/summary_priv — what the files of the summary share: the screen, and members of its report. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/report.h"
#include "base/attr.h"
#include "render/summary_text.h"

enum summary_part { PART_LOAD, PART_WAITS, PART_PROBLEMS, PART_ANALYSES, PART_MISSING, NR_PARTS };

struct summary_screen {
	const struct report_node *root;
	const struct summary_text_cfg *cfg;
	FILE *out;
	size_t width;
	size_t cut;            /* lines are never longer */
	size_t rows[NR_PARTS]; /* that each part may use */
};

/* 0 if it is not there. */
uint64_t summary_number(const struct report_node *node, const char *path);
double summary_real(const struct report_node *node, const char *path);
const char *summary_text_at(const struct report_node *node, const char *path); /* NULL = unknown */
const struct report_node *summary_list(const struct summary_screen *s, const char *path);
size_t summary_len(const struct report_node *node);
const struct report_node *summary_first(const struct report_node *node);
/* One line, made safe, cut to the width, without blanks at its end. */
void PRINTF_LIKE(2, 3) summary_line(const struct summary_screen *s, const char *fmt, ...);
/* A line that ends with a list: what does not fit is left out, as a whole. */
void summary_causes(const struct summary_screen *s, const char *text);
/* The first sentence of all: what does not fit into a line goes on in a second one. */
void summary_headline(const struct summary_screen *s, const char *text);
size_t summary_count_headline(const struct summary_screen *s, const char *text); /* lines */

void summary_show_file(const struct summary_screen *s);
void summary_show_machine(const struct summary_screen *s);
void summary_show_losses(const struct summary_screen *s);
/* What the file does not hold, and how many lines that takes. */
void summary_show_coverage(const struct summary_screen *s);
size_t summary_count_coverage(const struct summary_screen *s);
