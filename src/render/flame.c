#include "render/flame.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/markup.h"
#include "base/text.h"
#include "base/utf8.h"
#include "profile/profile_list.h"
#include "render/flame_priv.h"
#include "render/profile_words.h"

#define THIN_PER_PIXEL 10.0   /* a tenth of a pixel can still be seen once zoomed in */
#define THIN_FIGURE    0.25   /* nothing zooms there: 4 pixels */
#define SMALLEST       0.0005 /* of the whole: what changed less did not change */
#define PLACE_BYTES    1024

double flame_change(const struct flame *f, const struct profile_weight w[PROFILE_SIDES],
                    bool is_self)
{
	const struct profile_weight *now = &w[PROFILE_NOW], *old = &w[PROFILE_BEFORE];

	return profile_share(is_self ? now->self_value : now->total_value, profile_value(f->p)) -
	       profile_share(is_self ? old->self_value : old->total_value,
	                     profile_value(f->cfg->before));
}

int flame_step(const struct flame *f, double change)
{
	int step;

	if (fabs(change) < SMALLEST || f->most <= 0)
		return 0;
	/* The root, so that small changes are seen beside a large one. */
	step = (int)ceil(FLAME_STEPS * sqrt(fmin(fabs(change) / f->most, 1)));
	return change < 0 ? -step : step;
}

char *flame_label(const struct profile_node *n, char buf[static FLAME_LABEL_BYTES])
{
	int len = (int)strnlen(n->name, FLAME_LABEL_BYTES - 64);

	if (n->kind == PROFILE_CALL || n->kind == PROFILE_ROOT || n->nr_ids == 0 ||
	    (n->nr_ids == 1 && n->id == 0))
		snprintf(buf, FLAME_LABEL_BYTES, "%.*s", len, n->name);
	else if (n->nr_ids == 1)
		snprintf(buf, FLAME_LABEL_BYTES, "%.*s (%u)", len, n->name, n->id);
	else
		snprintf(buf, FLAME_LABEL_BYTES, "%.*s (%u %s)", len, n->name, n->nr_ids,
		         n->kind == PROFILE_PROCESS ? "processes" : "threads");
	return buf;
}

char *flame_place(const struct profile_frame *frame, char buf[static FLAME_LABEL_BYTES])
{
	buf[0] = '\0';
	if (frame && frame->file && frame->line)
		snprintf(buf, FLAME_LABEL_BYTES, "%.*s:%u", PLACE_BYTES, frame->file, frame->line);
	else if (frame && frame->file)
		snprintf(buf, FLAME_LABEL_BYTES, "%.*s", PLACE_BYTES, frame->file);
	return buf;
}

/* A viewer may take references for hidden characters as they are: they are shown as unknown. */
static const char *escape_of(uint32_t code)
{
	const char *entity = markup_entity(code);

	return entity ? entity : markup_is_hidden(code) ? MARKUP_UNKNOWN : NULL;
}

void flame_put_text(const char *text, FILE *out)
{
	size_t len = strlen(text), taken;
	const char *escape;
	uint32_t code;

	for (; len > 0; text += taken, len -= taken) {
		taken = utf8_next(text, len, &code);
		escape = escape_of(code);
		if (escape)
			fputs(escape, out);
		else
			fwrite(text, 1, taken, out);
	}
}

static bool is_thin(const struct flame *f, const struct profile_node *n)
{
	double width = FLAME_WIDTH - 2.0 * FLAME_MARGIN;

	return profile_share(n->w[PROFILE_NOW].total_value, profile_value(f->p)) * width *
	               (f->cfg->is_figure ? THIN_FIGURE : THIN_PER_PIXEL) <
	       1;
}

/* Where each frame begins: behind the siblings before it. */
static int place_boxes(struct flame *f)
{
	uint32_t nr = profile_tree_nr(f->tree), nr_seen = 0, i = PROFILE_TREE_ROOT;
	SCOPED(scoped_free) uint64_t *next_x = calloc(nr, sizeof(*next_x));

	f->boxes = calloc(nr, sizeof(*f->boxes));
	if (!next_x || !f->boxes)
		return -ENOMEM;
	while (i != PROFILE_NONE) {
		const struct profile_node *n = profile_tree_at(f->tree, i);
		bool is_left_out = is_thin(f, n);

		if (!is_left_out) {
			uint64_t x = n->parent == PROFILE_NONE ? 0 : next_x[n->parent];

			if (n->parent != PROFILE_NONE)
				next_x[n->parent] += n->w[PROFILE_NOW].total_value;
			next_x[i] = x;
			f->boxes[f->nr++] = (struct flame_box){ .node = i, .x = x };
			f->depth = n->depth > f->depth ? n->depth : f->depth;
		}
		i = profile_tree_next(f->tree, PROFILE_TREE_ROOT, i, is_left_out);
	}
	for (i = 0; i < nr; i++)
		nr_seen += profile_tree_at(f->tree, i)->w[PROFILE_NOW].total_count > 0;
	f->nr_thin = nr_seen > f->nr ? nr_seen - f->nr : 0;
	return 0;
}

static void find_changes(struct flame *f)
{
	uint64_t gone = 0;

	for (uint32_t i = 0; i < profile_tree_nr(f->tree); i++) {
		const struct profile_node *n = profile_tree_at(f->tree, i);

		if (n->w[PROFILE_NOW].total_count)
			continue;
		f->nr_gone++;
		gone += n->w[PROFILE_BEFORE].self_value;
	}
	f->gone_share = profile_share(gone, profile_value(f->cfg->before));
	for (uint32_t i = 0; i < f->nr; i++) {
		const struct profile_node *n = profile_tree_at(f->tree, f->boxes[i].node);

		f->most = fmax(f->most, fabs(flame_change(f, n->w, false)));
	}
}

int flame_init(struct flame *f, const struct profile *p, const struct flame_cfg *cfg)
{
	struct profile_tree_cfg tree = { .before = cfg->before, .is_by_thread = cfg->is_by_thread };
	int err;

	*f = (struct flame){ .p = p, .cfg = cfg };
	err = profile_tree_new(p, &tree, &f->tree);
	if (!err && profile_value(p))
		err = place_boxes(f);
	if (!err && cfg->before)
		find_changes(f);
	return err;
}

void scoped_flame(struct flame *f)
{
	profile_tree_free(f->tree);
	free(f->boxes);
}

int flame_svg(const struct profile *p, const struct flame_cfg *cfg, FILE *out)
{
	SCOPED(scoped_flame) struct flame f = { 0 };
	int err = flame_init(&f, p, cfg);

	if (err)
		return err;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
	flame_put_svg(&f, true, out);
	return profile_written(out);
}

int flame_figure(const struct profile *p, const struct flame_cfg *cfg, FILE *out)
{
	struct flame_cfg figure = *cfg;
	SCOPED(scoped_flame) struct flame f = { 0 };
	int err;

	figure.is_figure = true;
	err = flame_init(&f, p, &figure);
	if (err)
		return err;
	flame_put_svg(&f, false, out);
	return profile_written(out);
}
