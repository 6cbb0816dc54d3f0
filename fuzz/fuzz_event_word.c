/* fuzz/fuzz_event_word — any text as the words for an event: what is taken has names that can be shown, and is searched for. */
#include <stdlib.h>
#include <string.h>

#include "base/fuzzy.h"
#include "fuzz.h"
#include "machine/event_word.h"

static void check_name(const char *name, size_t size)
{
	size_t len = strnlen(name, size);

	fuzz_check(len && len < size);
	for (size_t i = 0; i < len; i++)
		fuzz_check(name[i] > ' ' && name[i] <= '~');
}

/* The halves of the text, one in the other. */
static void check_search(char *text)
{
	char *name = text + strlen(text) / 2;
	char pattern[256];
	int32_t score;

	memcpy(pattern, text, (size_t)(name - text) % sizeof(pattern));
	pattern[(size_t)(name - text) % sizeof(pattern)] = '\0';
	score = fuzzy_score(pattern, name);
	fuzz_check(score == FUZZY_NONE || score <= FUZZY_WHOLE);
	score = fuzzy_score_typo(pattern, name);
	fuzz_check(score == FUZZY_NONE || score <= FUZZY_TYPO);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), title[EVENT_WORD_BYTES + 64];
	struct event_word w;

	if (event_word_parse(text, &w, NULL) == 0) {
		check_name(w.name, sizeof(w.name));
		if (w.source == EVENT_PERF)
			check_name(w.subsystem, sizeof(w.subsystem));
		check_name(event_word_title(&w, title, sizeof(title)), sizeof(title));
	}
	check_search(text);
	free(text);
	return 0;
}
