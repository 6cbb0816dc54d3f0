/*
 * fuzz/replay — feeds each file of a folder to a fuzz target, and prints TAP.
 *
 * So the corpus, and with it every finding of the past, is a unit test of any compiler.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define INPUT_MAX (16 << 20)

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "re");
	uint8_t *data = malloc(INPUT_MAX);
	size_t size;
	int err = 0;

	if (!file || !data) {
		err = -errno;
	} else {
		size = fread(data, 1, INPUT_MAX, file);
		err = ferror(file) ? -EIO : 0;
		/* A buffer of the exact size lets sanitizers see a read beyond the end. */
		data = realloc(data, size ? size : 1);
		if (!err && data)
			LLVMFuzzerTestOneInput(data, size);
	}
	free(data);
	if (file)
		fclose(file);
	return err;
}

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	struct dirent **entries = NULL;
	char path[PATH_MAX];
	int nr, i, failed = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	nr = scandir(argv[1], &entries, is_input, alphasort);
	printf("1..%d\n", nr > 0 ? nr : 1);
	if (nr <= 0) {
		printf("not ok 1 - '%s' has no inputs\n", argv[1]);
		return 1;
	}
	for (i = 0; i < nr; i++) {
		int err;

		snprintf(path, sizeof(path), "%s/%s", argv[1], entries[i]->d_name);
		err = replay_file(path);
		failed |= err;
		printf("%sok %d - %s\n", err ? "not " : "", i + 1, entries[i]->d_name);
		fflush(stdout); /* a crash in the next one must not swallow this line */
		free(entries[i]);
	}
	free(entries);
	return failed != 0;
}
