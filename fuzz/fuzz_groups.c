/* fuzz/fuzz_groups — each line is the value of one `stat -g`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "stat/stat_groups.h"

#define WORDS_MAX 16

/* A machine on which every word that begins with an e is an event. */
static bool is_event(void *ctx, const char *name)
{
	(void)ctx;
	return name[0] == 'e';
}

static void check_groups(const struct stat_groups *g)
{
	fuzz_check(stat_groups_all(g) && !(stat_groups_all(g) >> 8));
	fuzz_check(g->nr_events <= STAT_EVENTS_MAX);
	fuzz_check(!g->is_ipc_implied || g->has_ipc);
	fuzz_check((!g->nr_events && !g->has_ipc) || (stat_groups_all(g) & STAT_GROUP_PERF));
	for (size_t i = 0; i < g->nr_events; i++) {
		fuzz_check(g->events[i][0] && memchr(g->events[i], '\0', sizeof(g->events[i])));
		for (size_t other = 0; other < i; other++)
			fuzz_check(strcmp(g->events[i], g->events[other]) != 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *at = text;
	const char *words[WORDS_MAX];
	struct stat_groups g = { 0 };
	struct diag d = { 0 };
	size_t nr = 0;
	int err;

	while (at && nr < WORDS_MAX)
		words[nr++] = strsep(&at, "\n");
	err = stat_groups_parse(words, size ? nr : 0, is_event, NULL, &d, &g);
	if (err)
		fuzz_check(err == -EINVAL && d.code == err && d.what[0]);
	else
		check_groups(&g);
	free(text);
	return 0;
}
