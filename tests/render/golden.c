#include "../unit.h"

#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	expect_eq(fclose(f), 0);
}

void golden_compare(const char *name, const char *text)
{
	const char *source = getenv("SCHEDSCOPE_SOURCE");
	const char *update = getenv("UPDATE_GOLDEN");
	char path[512];
	char *want = NULL;

	assert_non_null(source);
	snprintf(path, sizeof(path), "%s/tests/golden/%s", source, name);
	if (update && strcmp(update, "1") == 0)
		write_file(path, text);
	if (text_read_file(path, 1 << 20, &want) < 0)
		fail_msg("cannot read %s", path);
	if (strcmp(want, text) != 0)
		print_message("# %s differs; this is what came out:\n%s", name, text);
	assert_string_equal(text, want);
	free(want);
}
