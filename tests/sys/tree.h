/* tests/sys/tree — directories made for one test, from text: one file per line, path, tab, content. */
#pragma once

struct tree {
	char root[64];
};

void tree_init(struct tree *t);
void tree_write(const struct tree *t, const char *path, const char *content); /* makes parents */
void tree_mkdir(const struct tree *t, const char *path);
void tree_unpack(const struct tree *t, const char *fixture); /* tests/sys/fixtures/NAME */
void tree_done(struct tree *t);                              /* deletes it all */

/* A fixture's text, or the test fails; the caller frees it. */
char *fixture_read(const char *name);
