/* fuzz/fuzz_trigger — the value of one `record --trigger`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "model/trigger.h"

static void check_trigger(const struct trigger *t)
{
	fuzz_check(t->kind < TRIGGER_USER);
	fuzz_check(memchr(t->comm, '\0', sizeof(t->comm)) != NULL);
	fuzz_check(memchr(t->cgroup, '\0', sizeof(t->cgroup)) != NULL);
	fuzz_check(memchr(t->path, '\0', sizeof(t->path)) != NULL);
	fuzz_check(memchr(t->symbol, '\0', sizeof(t->symbol)) != NULL);
	fuzz_check((t->kind == TRIGGER_UPROBE) == (t->path[0] && t->symbol[0]));
	fuzz_check(t->tgid <= 4194304 && t->tid <= 4194304);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct trigger t;
	struct diag d = { 0 };
	int err = trigger_parse(text, &d, &t);

	if (err)
		fuzz_check(err == -EINVAL && d.code == err && d.what[0]);
	else
		check_trigger(&t);
	free(text);
	return 0;
}
