/*
 * symbol/debug_file — the file that holds what was stripped off another one.
 *
 * By build id under .build-id of the debug directories, then by the name that the file itself gives, beside it, in
 * .debug beside it, and in the debug directories under its own folder. Taken only when the build ids are equal, or,
 * where there are none, the checksum is. Looked for in the process's own root first, while it lives.
 */
#pragma once

#include <stdint.h>

struct elf_image;

struct debug_search {
	const char *dirs; /* with colons between them */
	const char *proc;
	uint32_t tgid;    /* whose root */
	const char *path; /* of the stripped file, as the process sees it */
};

/* NULL if there is none. */
struct elf_image *debug_file_find(const struct debug_search *in, const struct elf_image *stripped);
