/*
 * symbol/parser — programs, debug files and perf maps of others, taken apart by a process without rights (sys/rights/sandbox).
 *
 * The files are opened here and handed over; what comes back is checked before it is used. Only
 * that process ever runs the code that reads ELF and DWARF and demangles names, for root and other
 * users alike, so that there is one code path. It is started when it is first needed. If it dies,
 * hangs or uses up its memory or time, the call fails (-EIO), a new one is started for the next,
 * and parser_trouble() reports it; after PARSER_DEATHS_MAX no further one is started. One thread at
 * a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "symbol/dwarf_lines.h"
#include "symbol/dwarf_walk.h"
#include "symbol/elf_image.h"

#define PARSER_DEATHS_MAX 8U
#define PARSER_LINK_MAX   256U

struct parser;
struct prof_stack;
struct stack_copy;
struct symtab;
struct unwind_table;

struct parser_facts {
	struct elf_segments segments;
	uint8_t build_id[ELF_BUILD_ID_MAX];
	size_t nr_build_id; /* 0 = none */
	bool has_symtab, has_dwarf;
	char link[PARSER_LINK_MAX]; /* the name of its debug file; empty = it names none */
	uint32_t crc;               /* of that */
};

struct parser *parser_new(void);    /* NULL without memory */
void parser_free(struct parser *p); /* NULL is fine */

/* Descriptors are lent. -ENOEXEC if it is not a program or library. */
MUST_USE int parser_identify(struct parser *p, int fd, struct parser_facts *out);
/* Whether it is the debug file of that program: by build id, else, for one found by its name, by checksum. -ESRCH if not. */
MUST_USE int parser_identify_debug(struct parser *p, int fd, const struct parser_facts *of,
                                   bool is_link, struct parser_facts *out);
/* The functions of a program, and of its debug file (-1 = none). */
MUST_USE int parser_functions(struct parser *p, int fd, int debug_fd, struct symtab **out);
/* How its frames are walked, also by its debug file (-1 = none). -ENOENT if neither says anything about it. */
MUST_USE int parser_unwind(struct parser *p, int fd, int debug_fd, struct unwind_table **out);
MUST_USE int parser_perf_map(struct parser *p, int fd, struct symtab **out);

/* As those of symbol/dwarf_walk; a new process knows nothing of what was said to the one before. */
uint32_t parser_generation(struct parser *p); /* of the process that will be asked next */
MUST_USE int parser_walk_file(struct parser *p, uint64_t number, int fd);
MUST_USE int parser_walk_space(struct parser *p, uint64_t place, const struct dwarf_part *parts,
                               size_t nr);
MUST_USE int parser_walk_stack(struct parser *p, uint64_t place, const struct stack_copy *copy,
                               struct prof_stack *out);

/* A file with DWARF, which stays open there; zeroed but for fd and number. */
struct parser_lines {
	int fd;
	uint32_t number;    /* the caller's, another for each file */
	uint32_t opened_in; /* which process has it; 0 = none */
	bool is_bad;        /* not asked again */
};
/* As dwarf_lines_at(), names demangled. Texts are lent until the next call. */
size_t parser_lines_at(struct parser *p, struct parser_lines *l, uint64_t address,
                       struct dwarf_frame *out, size_t max);
/* The name as its author wrote it, lent until the next call; unchanged if that is not possible. */
const char *parser_demangle(struct parser *p, const char *name);

/* Once: what was left out because the process died. False if nothing was. */
bool parser_trouble(const struct parser *p, struct diag *out);
