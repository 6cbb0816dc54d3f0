/*
 * symbol/scan — text from the kernel and from JITs, taken apart piece by piece; it need not end with a NUL.
 *
 * Each call takes what it found off the front; false leaves the text as it was.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct scan {
	const char *at;
	const char *end;
};

bool scan_row(struct scan *s, struct scan *out);  /* up to the next newline; false at the end */
bool scan_word(struct scan *s, struct scan *out); /* up to the next space or tab; never empty */
bool scan_hex(struct scan *s, uint64_t *out);    /* without prefix, after spaces; at most 64 bits */
bool scan_number(struct scan *s, uint64_t *out); /* decimal */
bool scan_char(struct scan *s, char c);          /* exactly this one */
void scan_spaces(struct scan *s);

/* $x, $d, $t, $a: where code and data begin on ARM and RISC-V; local labels: ".L". No functions. */
bool scan_is_mapping_symbol(const struct scan *name);
