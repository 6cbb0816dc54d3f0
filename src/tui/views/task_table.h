/*
 * tui/views/task_table — the table of processes or threads that several views share.
 *
 * Settles screen.selected, scroll, selected_tid and is_following as view.h says.
 */
#pragma once

#include "tui/view.h"

/* Processes, or the threads of screen.process. */
void task_table_draw(const struct machine *m, struct screen *s, struct grid *g, struct area a);
int task_table_rows(const struct machine *m, const struct screen *s);
/* All threads, or those of screen.process. */
void task_table_draw_threads(const struct machine *m, struct screen *s, struct grid *g,
                             struct area a);
int task_table_thread_rows(const struct machine *m, const struct screen *s);
/* Only the rows that a filter leaves, without selection: for parts of other views. */
struct task_list;
void task_table_draw_list(const struct machine *m, const struct task_list *l,
                          const struct screen *s, struct grid *g, struct area a);
