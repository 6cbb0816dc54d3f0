/*
 * fuzz/fuzz_toml — any bytes as settings: read, changed, read again; also as the settings of the screen.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/toml.h"
#include "fuzz.h"
#include "tui/config.h"

static void no_log(void *ctx, enum log_level level, const char *line)
{
	(void)ctx;
	(void)level;
	fuzz_check(line[0]);
}

static void check_entries(const struct toml *t)
{
	char word[64];

	for (size_t i = 0; i < t->nr; i++) {
		const struct toml_entry *e = &t->entries[i];
		size_t at = 0;

		fuzz_check(e->begin <= e->end && e->end <= t->len);
		while (toml_array_next(e, &at, word, sizeof(word)))
			fuzz_check(at <= strlen(e->text));
	}
}

/* What was set is found, and the rest of the text is still there. */
static void check_change(struct toml *t)
{
	size_t nr = t->nr, len = t->len;
	struct diag d = { 0 };
	const struct toml_entry *e;

	if (toml_set(t, "keymap", "?", "\"Quit\"", &d)) {
		fuzz_check(d.what[0] && t->nr == nr && t->len == len);
		return;
	}
	e = toml_find(t, "keymap", "?");
	fuzz_check(e && strcmp(e->text, "Quit") == 0);
}

static void check_config(const char *text, size_t size)
{
	static struct config a, b;
	struct diag d = { 0 };
	char *saved = NULL;

	config_init(&a);
	config_init(&b);
	if (config_read(&a, text, size, "fuzz", &d) == 0 && config_write(&a, &d, &saved) == 0) {
		fuzz_check(config_read(&b, saved, strlen(saved), "fuzz", &d) == 0);
		fuzz_check(a.theme == b.theme && a.tick_ms == b.tick_ms &&
		           a.frame_ms == b.frame_ms);
		fuzz_check(strcmp(a.trace_prefix, b.trace_prefix) == 0);
	}
	free(saved);
	config_done(&a);
	config_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct toml *t = NULL;
	struct diag d = { 0 };
	int err = toml_parse(text, size, &d, &t);

	log_set_sink(no_log, NULL);
	fuzz_check(!err || (d.code == err && d.what[0]));
	if (!err) {
		check_entries(t);
		check_change(t);
		check_entries(t);
		toml_free(t);
	}
	check_config(text, size);
	free(text);
	return 0;
}
