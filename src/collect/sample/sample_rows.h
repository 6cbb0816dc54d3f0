/*
 * collect/sample/sample_rows — the rows of a profile, added up over all that the kernel handed out.
 *
 * Bounded. Pure. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct prof_key;
struct prof_row;
struct sample_rows;

MUST_USE int sample_rows_new(uint32_t max_rows, struct sample_rows **out);
void sample_rows_free(struct sample_rows *r); /* NULL is fine */
/* Keys that differ in nothing but the generation are one row. -E2BIG when there is no room for another. */
MUST_USE int sample_rows_add(struct sample_rows *r, const struct prof_key *key,
                             const struct prof_row *row);
uint32_t sample_rows_nr(const struct sample_rows *r);
/* By number, in order of insertion; lent until the next row is added. */
const struct prof_row *sample_rows_at(const struct sample_rows *r, uint32_t idx,
                                      const struct prof_key **key);
