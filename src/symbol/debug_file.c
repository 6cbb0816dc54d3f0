#include "symbol/debug_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "symbol/open_file.h"
#include "symbol/parser.h"

#define ID_TEXT (2U * ELF_BUILD_ID_MAX + 1U)

struct debug_lookup {
	const struct debug_search *in;
	const struct parser_facts *of;
	bool is_in_root; /* below the root of the process; else below ours */
	struct parser_facts *facts;
	int found; /* -1 = not yet */
};

static bool try_path(struct debug_lookup *l, bool is_link, const char *path)
{
	SCOPED(scoped_close) int fd = -1;

	fd = l->is_in_root ? open_file_in_root(l->in->proc, l->in->tgid, path, l->in->how, NULL)
	                   : open_file(path, l->in->how, NULL);
	if (fd < 0 || parser_identify_debug(l->in->parser, fd, l->of, is_link, l->facts))
		return false;
	l->found = TAKE_FD(fd);
	return true;
}

static bool try_id(struct debug_lookup *l, const char *dir)
{
	char path[PATH_MAX], hex[ID_TEXT];

	for (size_t i = 0; i < l->of->nr_build_id; i++)
		snprintf(hex + 2 * i, 3, "%02x", l->of->build_id[i]);
	return l->of->nr_build_id > 1 &&
	       (size_t)snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", dir, hex,
	                        hex + 2) < sizeof(path) &&
	       try_path(l, false, path);
}

static bool try_link(struct debug_lookup *l, const char *dir, const char *below)
{
	const char *slash = strrchr(l->in->path, '/');
	int folder = slash ? (int)(slash - l->in->path) : 0;
	char path[PATH_MAX];

	/* A name, not a way out of the folder. */
	return l->of->link[0] && slash && !strchr(l->of->link, '/') &&
	       (size_t)snprintf(path, sizeof(path), "%s%.*s/%s%s", dir, folder, l->in->path, below,
	                        l->of->link) < sizeof(path) &&
	       try_path(l, true, path);
}

static bool search_root(struct debug_lookup *l)
{
	char dirs[PATH_MAX], *rest = dirs, *dir;

	snprintf(dirs, sizeof(dirs), "%s", l->in->dirs);
	while ((dir = strsep(&rest, ":")))
		if (*dir && try_id(l, dir))
			return true;
	if (try_link(l, "", "") || try_link(l, "", ".debug/"))
		return true;
	snprintf(dirs, sizeof(dirs), "%s", l->in->dirs);
	rest = dirs;
	while ((dir = strsep(&rest, ":")))
		if (*dir && try_link(l, dir, ""))
			return true;
	return false;
}

int debug_file_find(const struct debug_search *in, const struct parser_facts *stripped,
                    struct parser_facts *out)
{
	struct debug_lookup l = {
		.in = in, .of = stripped, .facts = out, .is_in_root = true, .found = -1
	};

	if (search_root(&l))
		return l.found;
	l.is_in_root = false;
	return search_root(&l) ? l.found : -ENOENT;
}
