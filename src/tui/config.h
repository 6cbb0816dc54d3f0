/*
 * tui/config — the settings of the screen: config.toml below $XDG_CONFIG_HOME/schedscope, with the keys of scxtop.
 *
 * Where that file is missing, scxtop's own is read. What is unknown or out of range is reported
 * through base/log and left at its default: a file never keeps the program from starting. Saving
 * changes only values, so comments and order stay, and what was saved can always be read again.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"
#include "base/toml.h"
#include "machine/event_word.h"
#include "tui/keys.h"
#include "tui/theme.h"

#define CONFIG_TICK_MIN_MS  10U
#define CONFIG_TICK_MAX_MS  60000U
#define CONFIG_FRAME_MIN_MS 15U
#define CONFIG_FRAME_MAX_MS 5000U
#define CONFIG_EVENTS       24U

struct config {
	const struct theme *theme;
	uint32_t tick_ms, frame_ms;
	bool is_debug, has_no_bpf;
	char stats_socket[PATH_MAX];
	char trace_prefix[PATH_MAX];
	uint32_t trace_duration_ms, trace_warmup_ms;
	uint32_t worker_threads; /* kept for scxtop compatibility, unused */
	char default_event[EVENT_WORD_BYTES];
	struct config_events { /* each NAME:0xCONFIG:TYPE */
		char words[CONFIG_EVENTS][EVENT_WORD_BYTES];
		size_t nr;
	} events;
	struct keymap keys;
	struct toml *file; /* as read; NULL = none */
};

void config_init(struct config *c);
void config_done(struct config *c);

/* One more of them. -EINVAL with a sentence, -E2BIG. */
MUST_USE int config_add_event(struct config *c, const char *word, struct diag *d);

/* Takes what a text says; name is for messages. Fails only on what is not TOML, and then changes nothing. */
MUST_USE int config_read(struct config *c, const char *text, size_t len, const char *name,
                         struct diag *d);
/* From the user's files; none at all is fine. */
MUST_USE int config_load(struct config *c, struct diag *d);
/* The text that saving would write; to be freed. */
MUST_USE int config_write(struct config *c, struct diag *d, char **out);
/* Writes such a text: makes the folder too; the file changes at once or not at all. path is where it went. */
MUST_USE int config_store(const char *text, struct diag *d, char path[PATH_MAX]);
