/* fuzz/fuzz_parser_answer — any bytes as what the process that reads symbols answers: a table of functions, texts, numbers. */
#include <string.h>

#include "base/cleanup.h"
#include "fuzz.h"
#include "symbol/symtab.h"
#include "sys/rights/sandbox_msg.h"

static void read_words(struct sandbox_msg *m)
{
	size_t len;
	const char *text;

	m->at = 0;
	m->error = 0;
	while (!m->error) {
		text = sandbox_get_text(m);
		fuzz_check(!text || strlen(text) < m->len);
		(void)sandbox_get_u64(m);
		fuzz_check(sandbox_get_bytes(m, &len) || len == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SCOPED(sandbox_msg_done) struct sandbox_msg m = { 0 };
	SCOPED(scoped_symtab) struct symtab *t = NULL;
	struct symtab_hit hit;

	for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
		uint64_t word = 0;

		memcpy(&word, data + i, size - i < sizeof(word) ? size - i : sizeof(word));
		sandbox_put_u64(&m, word);
	}
	if (symtab_get(&m, &t) == 0)
		for (uint64_t a = 1; a; a <<= 1)
			if (symtab_find(t, a, &hit)) /* sanitizers look at the name */
				fuzz_check(hit.start <= a && strlen(hit.name) < size);
	read_words(&m);
	return 0;
}
