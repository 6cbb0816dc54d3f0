/* render/sheet_text — a sheet on a terminal, or anywhere else. */
#pragma once

#include <stdio.h>

#include "base/attr.h"
#include "render/report_text.h"
#include "render/sheet.h"

/*
 * The parts of a sheet, from the top. left is how many lines of a terminal are free, from which each part takes what it needs; lists that
 * no longer fit are named. 0, -ENOMEM or -EIO.
 */
MUST_USE int sheet_text_answer(const struct sheet *v, const struct report_node *root,
                               const struct report_text_cfg *cfg, size_t *left, FILE *out);
MUST_USE int sheet_text_lists(const struct sheet *v, const struct report_node *root,
                              const struct report_text_cfg *cfg, size_t *left, FILE *out);
void sheet_text_next(const struct sheet *v, const struct report_node *root,
                     const struct report_text_cfg *cfg, FILE *out);
