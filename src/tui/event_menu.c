#include "tui/event_menu.h"

#include <stdio.h>
#include <string.h>

static const char *const usual[] = {
	"perf:hw:cycles",
	"perf:hw:branches",
	"perf:hw:branch-misses",
	"perf:hw:cache-misses",
	"perf:hw:cache-references",
	"perf:hw:instructions",
	"perf:hw:ref-cycles",
	"perf:hw:stalled-cycles-backend",
	"perf:hw:stalled-cycles-frontend",
	"perf:hw:bus-cycles",
	"perf:hw:L1-dcache-load-misses",
	"perf:sw:cpu-clock",
	"perf:sw:task-clock",
	"perf:sw:context-switches",
	"perf:sw:page-faults",
	"perf:sw:minor-faults",
	"perf:sw:major-faults",
	"perf:sw:migrations",
	EVENT_WORD_BUSY,
	"cpu:cpu_user_util_percent",
	"cpu:cpu_system_util_percent",
	"cpu:cpu_frequency_mhz",
};
#define NR_USUAL (sizeof(usual) / sizeof(usual[0]))

static void put(char to[EVENT_WORD_BYTES], const char *word)
{
	snprintf(to, EVENT_WORD_BYTES, "%s", word);
}

void event_menu_init(struct event_menu *e, const char *start, const char (*raw)[EVENT_WORD_BYTES],
                     size_t nr_raw)
{
	struct event_word parsed;

	*e = (struct event_menu){ 0 };
	if (event_word_parse(start, &parsed, NULL) == 0)
		put(e->start, start);
	for (size_t i = 0; i < nr_raw && e->nr < EVENT_MENU_MORE / 2; i++) {
		char word[EVENT_WORD_BYTES + 8];

		snprintf(word, sizeof(word), "raw:%s", raw[i]);
		if (strlen(word) < EVENT_WORD_BYTES && event_word_parse(word, &parsed, NULL) == 0)
			put(e->more[e->nr++], word);
	}
	e->nr_settings = e->nr;
	if (e->start[0])
		event_menu_add(e, e->start);
}

static size_t nr_words(const struct event_menu *e)
{
	return NR_USUAL + (e ? e->nr : 0);
}

static const char *word_at(const struct event_menu *e, size_t place)
{
	return place < NR_USUAL ? usual[place] : e->more[place - NR_USUAL];
}

static size_t place_of(const struct event_menu *e, const char *word)
{
	size_t i = 0;

	while (i < nr_words(e) && strcmp(word_at(e, i), word) != 0)
		i++;
	return i;
}

void event_menu_add(struct event_menu *e, const char *word)
{
	if (place_of(e, word) < nr_words(e))
		return;
	if (e->nr == EVENT_MENU_MORE) {
		memmove(e->more[e->nr_settings], e->more[e->nr_settings + 1],
		        (e->nr - e->nr_settings - 1) * sizeof(e->more[0]));
		e->nr--;
	}
	put(e->more[e->nr++], word);
}

void event_menu_step(const struct event_menu *e, const char *from, bool is_next,
                     char out[EVENT_WORD_BYTES])
{
	size_t last = nr_words(e) - 1, place = place_of(e, from);

	if (is_next)
		place = place >= last ? 0 : place + 1;
	else
		place = place == 0 || place > last ? last : place - 1;
	put(out, word_at(e, place));
}

void event_menu_start(const struct event_menu *e, char out[EVENT_WORD_BYTES])
{
	put(out, e && e->start[0] ? e->start : EVENT_WORD_BUSY);
}
