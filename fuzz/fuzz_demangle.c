/* fuzz/fuzz_demangle — any name, in C++ and in Rust. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "symbol/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = fuzz_text(data, size), buf[DEMANGLE_NAME_MAX];

	fuzz_check(strlen(demangle(name, buf)) < sizeof(buf));
	free(name);
	return 0;
}
