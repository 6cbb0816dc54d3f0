#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scope.h"
#include "report/compare/compare_priv.h"

/* Whether it was copied; NULL stays NULL. */
static bool copy(char **to, const char *text)
{
	*to = text ? strdup(text) : NULL;
	return !text || *to;
}

static uint32_t nr_kinds(const struct source_facts *f, int32_t (*kind)(const struct live_place *))
{
	int32_t most = -1;

	for (uint32_t i = 0; f->places && i < f->nr_places; i++)
		if (kind(&f->places[i]) > most)
			most = kind(&f->places[i]);
	return (uint32_t)(most + 1);
}

static int32_t llc_of(const struct live_place *p)
{
	return p->llc;
}

static int32_t node_of(const struct live_place *p)
{
	return p->node;
}

static int fill_facts(struct compare_facts *f, const struct source *s)
{
	const struct source_facts *from = s->facts;
	const char *slash = from->name ? strrchr(from->name, '/') : NULL;
	/* Its folder means nothing elsewhere. */
	bool is_copied = copy(&f->file, slash && slash[1] ? slash + 1
	                                : from->name      ? from->name
	                                                  : "recording");

	is_copied = copy(&f->producer, from->producer) && is_copied;
	is_copied = copy(&f->release, from->release) && is_copied;
	is_copied = copy(&f->machine, from->machine) && is_copied;
	is_copied = copy(&f->scheduler, from->scheduler) && is_copied;
	is_copied = copy(&f->filter, from->filter) && is_copied;
	is_copied = copy(&f->incomplete, from->incomplete) && is_copied;
	f->start_ns = s->start_ns;
	f->duration_ns = s->end_ns - s->start_ns;
	f->lost = from->lost;
	f->nr_cpus = from->nr_cpus;
	f->nr_llcs = nr_kinds(from, llc_of);
	f->nr_nodes = nr_kinds(from, node_of);
	f->has_scx = from->has_scx;
	f->has_waking = from->kinds[EV_WAKING] > 0;
	return is_copied ? 0 : -ENOMEM;
}

int compare_recording_fill(struct compare_recording *r, const struct source *s,
                           const struct pass_args *args, struct diag *d)
{
	int err;

	*r = (struct compare_recording){ 0 };
	err = fill_facts(&r->facts, s);
	if (!err)
		err = diff_names_fill(&r->names, s, args, d);
	r->facts.span_ns = r->names.span_ns;
	r->facts.covered_ns = r->names.covered_ns;
	if (!err)
		return 0;
	compare_recording_done(r);
	return diag_set(d, err, NULL, "out of memory");
}

void compare_recording_done(struct compare_recording *r)
{
	struct compare_facts *f = &r->facts;

	diff_names_done(&r->names);
	free(f->file);
	free(f->producer);
	free(f->release);
	free(f->machine);
	free(f->scheduler);
	free(f->filter);
	free(f->incomplete);
}
