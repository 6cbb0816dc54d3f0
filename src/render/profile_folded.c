#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "profile/profile_tree.h"
#include "render/profile_export.h"
#include "render/profile_words.h"

#define NAME_BYTES 4096 /* what does not fit is cut */

/* How other programs know the kind of code. */
static const char *const marks[PROFILE_CODES] = {
	[PROFILE_USER] = "",    [PROFILE_KERNEL] = "_[k]",  [PROFILE_BPF] = "_[k]",
	[PROFILE_JIT] = "_[j]", [PROFILE_INLINED] = "_[i]", [PROFILE_NAMELESS] = "",
};

/* A semicolon would make two frames of one, a newline two lines. */
static void put_name(const struct profile_node *n, FILE *out)
{
	char clean[NAME_BYTES];

	text_printable(clean, sizeof(clean), n->name, strlen(n->name));
	for (char *c = clean; *c; c++)
		if (*c == ';')
			*c = ':';
	fputs(*clean ? clean : "unknown", out);
	if (n->frame)
		fputs(marks[profile_code_of(n->frame)], out);
}

/* Outermost first. */
static void put_path(const struct profile_tree *t, uint32_t idx, uint32_t *path, FILE *out)
{
	uint32_t nr = 0;

	for (uint32_t i = idx; i != PROFILE_TREE_ROOT; i = profile_tree_at(t, i)->parent)
		path[nr++] = i;
	while (nr-- > 0) {
		put_name(profile_tree_at(t, path[nr]), out);
		fputc(nr ? ';' : ' ', out);
	}
}

static int folded(const struct profile *before, const struct profile *p, FILE *out)
{
	SCOPED(scoped_profile_tree) struct profile_tree *t = NULL;
	SCOPED(scoped_free) uint32_t *path = NULL;
	int err = profile_tree_new(p, &(struct profile_tree_cfg){ .before = before }, &t);

	if (err)
		return err;
	path = calloc((size_t)profile_tree_depth(t) + 1, sizeof(*path));
	if (!path)
		return -ENOMEM;
	for (uint32_t i = PROFILE_TREE_ROOT; i != PROFILE_NONE;
	     i = profile_tree_next(t, PROFILE_TREE_ROOT, i, false)) {
		const struct profile_weight *w = profile_tree_at(t, i)->w;

		if (!w[PROFILE_NOW].self_value && !w[PROFILE_BEFORE].self_value)
			continue;
		put_path(t, i, path, out);
		if (before)
			fprintf(out, "%" PRIu64 " ", w[PROFILE_BEFORE].self_value);
		fprintf(out, "%" PRIu64 "\n", w[PROFILE_NOW].self_value);
	}
	return profile_written(out);
}

int profile_folded(const struct profile *p, FILE *out)
{
	return folded(NULL, p, out);
}

int profile_folded_diff(const struct profile *before, const struct profile *p, FILE *out)
{
	return folded(before, p, out);
}
