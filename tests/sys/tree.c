#include "../unit.h"

#include "tree.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

void tree_init(struct tree *t)
{
	snprintf(t->root, sizeof(t->root), "/tmp/schedscope-test.XXXXXX");
	assert_non_null(mkdtemp(t->root));
}

void tree_mkdir(const struct tree *t, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", t->root, path);
	for (char *slash = full + strlen(t->root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
}

void tree_write(const struct tree *t, const char *path, const char *content)
{
	char full[PATH_MAX], parent[PATH_MAX];
	char *slash;
	FILE *f;

	snprintf(parent, sizeof(parent), "%s", path);
	slash = strrchr(parent, '/');
	if (slash) {
		*slash = '\0';
		tree_mkdir(t, parent);
	}
	snprintf(full, sizeof(full), "%s/%s", t->root, path);
	f = fopen(full, "we");
	assert_non_null(f);
	fprintf(f, "%s\n", content);
	expect_eq(fclose(f), 0);
}

char *fixture_read(const char *name)
{
	const char *source = getenv("SCHEDSCOPE_SOURCE");
	char path[PATH_MAX];
	char *text = NULL;

	snprintf(path, sizeof(path), "%s/tests/sys/fixtures/%s", source ? source : ".", name);
	expect_eq(text_read_file(path, 1024 * 1024, &text), 0);
	return text;
}

void tree_unpack(const struct tree *t, const char *fixture)
{
	char *text = fixture_read(fixture);
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *tab = strchr(line, '\t');

		if (line[0] == '#')
			continue;
		assert_non_null(tab);
		*tab = '\0';
		tree_write(t, line, tab + 1);
	}
	free(text);
}

static int delete_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void tree_done(struct tree *t)
{
	nftw(t->root, delete_one, 16, FTW_DEPTH | FTW_PHYS);
}
