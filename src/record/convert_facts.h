/*
 * record/convert_facts — what a trace says about itself, as the configuration of a writer. Private to record/convert*.c.
 *
 * Texts are those of the info, or in the arena; both must live as long as the writer.
 */
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "trace/perfetto/write/writer.h"
#include "trace/reader.h"

struct convert_facts {
	const struct trace_info *info;
	struct trace_symbol *symbols; /* by value */
	bool has_clocks_left;         /* not written yet */
	struct trace_system system;
	struct trace_writer_cfg cfg;
};

/* cfg is filled in but for the form of the file. 0 or -ENOMEM. */
MUST_USE int convert_facts_init(struct convert_facts *f, const struct trace_info *info,
                                struct arena *mem);
/* What was lost besides the records of it. */
void convert_losses(const struct trace_info *info, struct trace_losses *out);
