#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_found(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	abort();
}

char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	fuzz_check(text);
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

uint64_t fuzz_take(struct fuzz_input *in, size_t nr_bytes)
{
	uint64_t v = 0;

	if (nr_bytes > in->left)
		nr_bytes = in->left;
	for (size_t i = 0; i < nr_bytes && i < sizeof(v); i++)
		v |= (uint64_t)in->at[i] << (8 * i);
	in->at += nr_bytes;
	in->left -= nr_bytes;
	return v;
}
