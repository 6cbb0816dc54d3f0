#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "render/flame_page_assets.h"
#include "render/flame_priv.h"
#include "render/profile_words.h"

#define MAX_FUNCTIONS 2000U /* of the list; the heaviest */
#define MAX_PROCESSES 200U  /* with a list of their own */

/* What the list below the graph is made of. */
struct flame_page {
	const struct flame *f;
	struct json_writer w;
	struct profile_function_sum *sums;  /* of all, by function */
	struct profile_function_sum *parts; /* of one process */
	uint32_t *order;                    /* functions, the heaviest first */
	uint32_t *shown; /* by function: its place in the list + 1; 0 = left out */
	uint32_t nr;     /* functions that are there at all */
};

static void scoped_page(struct flame_page *g)
{
	free(g->sums);
	free(g->parts);
	free(g->order);
	free(g->shown);
}

static uint64_t heaviest(const struct profile_function_sum *sum)
{
	uint64_t now = sum->w[PROFILE_NOW].total_value, old = sum->w[PROFILE_BEFORE].total_value;

	return now > old ? now : old;
}

static int by_weight(const void *a, const void *b, void *ctx)
{
	const struct profile_function_sum *sums = ctx;
	uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
	uint64_t va = heaviest(&sums[ia]), vb = heaviest(&sums[ib]);

	if (va != vb)
		return va < vb ? 1 : -1;
	return (ia > ib) - (ia < ib);
}

static int choose_functions(struct flame_page *g)
{
	uint32_t nr = profile_tree_nr_functions(g->f->tree);
	int err;

	g->sums = calloc((size_t)nr + 1, sizeof(*g->sums));
	g->parts = calloc((size_t)nr + 1, sizeof(*g->parts));
	g->order = calloc((size_t)nr + 1, sizeof(*g->order));
	g->shown = calloc((size_t)nr + 1, sizeof(*g->shown));
	if (!g->sums || !g->parts || !g->order || !g->shown)
		return -ENOMEM;
	err = profile_tree_sum(g->f->tree, PROFILE_TREE_ROOT, g->sums);
	if (err)
		return err;
	for (uint32_t i = 0; i < nr; i++)
		if (g->sums[i].node != PROFILE_NONE)
			g->order[g->nr++] = i;
	qsort_r(g->order, g->nr, sizeof(*g->order), by_weight, g->sums);
	for (uint32_t i = 0; i < g->nr && i < MAX_FUNCTIONS; i++)
		g->shown[g->order[i]] = i + 1;
	return 0;
}

static void put_names(struct flame_page *g)
{
	char text[FLAME_LABEL_BYTES];

	jw_begin_array(&g->w, "kinds");
	for (int i = 0; i < PROFILE_CODES; i++)
		jw_string(&g->w, NULL, flame_kind_names[i]);
	jw_end_array(&g->w);
	jw_begin_array(&g->w, "names");
	for (uint32_t i = 0; i < g->nr && i < MAX_FUNCTIONS; i++) {
		const struct profile_node *n = profile_tree_at(g->f->tree,
		                                               g->sums[g->order[i]].node);

		jw_begin_array(&g->w, NULL);
		jw_string(&g->w, NULL, n->name);
		jw_string(&g->w, NULL, n->frame->module);
		jw_string(&g->w, NULL, flame_place(n->frame, text));
		jw_u64(&g->w, NULL, profile_code_of(n->frame));
		jw_end_array(&g->w);
	}
	jw_end_array(&g->w);
}

static void put_functions(struct flame_page *g, const struct profile_function_sum *sums)
{
	jw_begin_array(&g->w, "functions");
	for (uint32_t i = 0; i < profile_tree_nr_functions(g->f->tree); i++) {
		const struct profile_weight *w = sums[i].w;

		if (!g->shown[i] || sums[i].node == PROFILE_NONE)
			continue;
		jw_begin_array(&g->w, NULL);
		jw_u64(&g->w, NULL, g->shown[i] - 1);
		for (int side = 0; side < (g->f->cfg->before ? PROFILE_SIDES : 1); side++) {
			jw_u64(&g->w, NULL, w[side].self_value);
			jw_u64(&g->w, NULL, w[side].total_value);
		}
		jw_end_array(&g->w);
	}
	jw_end_array(&g->w);
}

static void put_wholes(struct flame_page *g, const struct profile_weight *w)
{
	jw_u64(&g->w, "total", w[PROFILE_NOW].total_value);
	jw_u64_if(&g->w, "before", g->f->cfg->before, w[PROFILE_BEFORE].total_value);
}

static int put_processes(struct flame_page *g)
{
	const struct profile_tree *t = g->f->tree;
	char text[FLAME_LABEL_BYTES];
	uint32_t nr = 0, i;
	int err = 0;

	jw_begin_array(&g->w, "processes");
	for (i = profile_tree_at(t, PROFILE_TREE_ROOT)->child;
	     i != PROFILE_NONE && nr < MAX_PROCESSES && !err;
	     i = profile_tree_at(t, i)->next, nr++) {
		const struct profile_node *n = profile_tree_at(t, i);

		err = profile_tree_sum(t, i, g->parts);
		jw_begin_object(&g->w, NULL);
		jw_string(&g->w, "name", flame_label(n, text));
		put_wholes(g, n->w);
		if (!err)
			put_functions(g, g->parts);
		jw_end_object(&g->w);
	}
	jw_end_array(&g->w);
	return err;
}

static int make_data(struct flame_page *g, FILE *out)
{
	int err = choose_functions(g);

	if (err)
		return err;
	jw_init(&g->w, out, false);
	jw_begin_object(&g->w, NULL);
	jw_string(&g->w, "unit", profile_facts(g->f->p)->unit);
	put_wholes(g, profile_tree_at(g->f->tree, PROFILE_TREE_ROOT)->w);
	jw_u64(&g->w, "leftOut", g->nr > MAX_FUNCTIONS ? g->nr - MAX_FUNCTIONS : 0);
	put_names(g);
	put_functions(g, g->sums);
	err = put_processes(g);
	jw_end_object(&g->w);
	return err ? err : jw_finish(&g->w);
}

/* In JSON a '<' is always inside a string; escaped, no name can end the element that holds it. */
static void put_data(const char *json, FILE *out)
{
	for (; *json; json++) {
		if (*json == '<')
			fputs("\\u003c", out);
		else
			fputc(*json, out);
	}
}

static void put_page(const struct flame *f, const char *json, FILE *out)
{
	char words[PROFILE_WORDS_BYTES];

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
	      out);
	flame_put_text(f->cfg->title ? f->cfg->title : profile_words(f->p, words), out);
	fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", flame_page_css);
	fputs("<div class=\"bar\"><label>Process <select id=\"process\"></select></label>\n"
	      "<button id=\"flip\" type=\"button\">Turn over: flame or icicle</button>\n"
	      "<button id=\"reset\" type=\"button\">Reset</button></div>\n<div class=\"graph\">\n",
	      out);
	flame_put_svg(f, false, out);
	fputs("</div>\n<div class=\"list\"><h2>Functions</h2>"
	      "<input class=\"filter\" id=\"filter\" type=\"text\" placeholder=\"filter\" aria-label=\"filter\">\n"
	      "<table><thead><tr></tr></thead><tbody></tbody></table><div class=\"more\"></div></div>\n"
	      "<script type=\"application/json\" id=\"flame-data\">",
	      out);
	put_data(json, out);
	fprintf(out, "</script>\n<script>\n%s</script>\n</body>\n</html>\n", flame_page_js);
}

int flame_html(const struct profile *p, const struct flame_cfg *cfg, FILE *out)
{
	SCOPED(scoped_flame) struct flame f = { 0 };
	SCOPED(scoped_page) struct flame_page g = { .f = &f };
	SCOPED(scoped_free) char *json = NULL;
	size_t len = 0;
	FILE *mem;
	int err = flame_init(&f, p, cfg);

	if (err)
		return err;
	mem = open_memstream(&json, &len);
	if (!mem)
		return -ENOMEM;
	err = make_data(&g, mem);
	if (fclose(mem) != 0 && !err)
		err = -ENOMEM;
	if (err)
		return err;
	put_page(&f, json, out);
	return profile_written(out);
}
