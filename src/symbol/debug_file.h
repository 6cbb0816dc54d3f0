/*
 * symbol/debug_file — the file that holds what was stripped off another one.
 *
 * By build id under .build-id of the debug directories, then by the name that the file itself gives, beside it, in
 * .debug beside it, and in the debug directories under its own folder. Taken only when the build ids are equal, or,
 * where there are none, the checksum is. Searched for below the process's own root first, while it is alive, and no
 * link there leads out of it.
 */
#pragma once

#include <stdint.h>

struct parser;
struct parser_facts;

struct debug_search {
	const char *dirs; /* with colons between them */
	const char *proc;
	uint32_t tgid;    /* whose root */
	const char *path; /* of the stripped file, as the process sees it */
	struct parser *parser;
	unsigned int how; /* files are opened: OPEN_* */
};

/* A descriptor, or -ENOENT. */
int debug_file_find(const struct debug_search *in, const struct parser_facts *stripped,
                    struct parser_facts *out);
