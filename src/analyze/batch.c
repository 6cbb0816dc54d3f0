#include "analyze/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parallel.h"

struct work {
	const struct source *s;
	const struct pass_args *args;
	struct batch *b;
};

static void run_one(void *ctx, unsigned int worker, size_t item)
{
	struct work *w = ctx;
	struct batch_result *result = &w->b->results[item];
	uint64_t start = clock_boot_ns();

	(void)worker;
	if (pass_run(result->pass, w->s, w->args, &result->d, &result->report))
		result->report = NULL;
	result->ns = clock_boot_ns() - start;
}

int batch_run(const struct source *s, const struct pass_args *args, const char *category,
              struct diag *d, struct batch *out)
{
	struct work w = { .s = s, .args = args, .b = out };
	struct parallel all = { .fn = run_one, .ctx = &w };

	*out = (struct batch){ .results = calloc(nr_passes, sizeof(*out->results)) };
	if (!out->results || timeline_index_all(s->timeline)) {
		batch_done(out);
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	for (size_t i = 0; i < nr_passes; i++)
		if (pass_applies(passes[i], s) &&
		    (!category || !strcmp(category, passes[i]->category)))
			out->results[out->nr++].pass = passes[i];
	parallel_for(&all, out->nr);
	return 0;
}

void batch_done(struct batch *b)
{
	for (size_t i = 0; i < b->nr; i++)
		report_free(b->results[i].report);
	free(b->results);
	*b = (struct batch){ 0 };
}
