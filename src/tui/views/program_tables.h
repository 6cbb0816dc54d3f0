/* tui/views/program_tables — the tables of one BPF program: operations of its scheduler, and the lines that time goes to. */
#pragma once

#include "machine/machine_program.h"
#include "tui/view.h"

/* Programs of the same scheduler, itself included. */
int program_ops_nr(const struct machine *m, const struct machine_bpf *of);
void program_ops_draw(const struct machine *m, const struct machine_bpf *of, const struct screen *s,
                      struct grid *g, struct area a);
/* NULL = it is not sampled: then how to. Settles s->program_scroll. */
void program_hot_draw(const struct machine_hot *hot, struct screen *s, struct grid *g,
                      struct area a);
