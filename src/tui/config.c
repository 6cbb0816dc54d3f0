#include "tui/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"

enum field_type {
	FIELD_NUMBER,
	FIELD_BOOL,
	FIELD_TEXT,
	FIELD_THEME,
	FIELD_EVENT,
	FIELD_EVENTS,
	FIELD_IGNORED
};

struct field {
	const char *key;
	enum field_type type;
	size_t offset, size;
	uint32_t min, max;
};

#define FIELD(k, t, f, lo, hi)                                                            \
	{                                                                                 \
		k, t, offsetof(struct config, f), sizeof(((struct config *)0)->f), lo, hi \
	}
#define HOUR_MS 3600000U

static const struct field fields[] = {
	FIELD("theme", FIELD_THEME, theme, 0, 0),
	FIELD("tick_rate_ms", FIELD_NUMBER, tick_ms, CONFIG_TICK_MIN_MS, CONFIG_TICK_MAX_MS),
	FIELD("frame_rate_ms", FIELD_NUMBER, frame_ms, CONFIG_FRAME_MIN_MS, CONFIG_FRAME_MAX_MS),
	FIELD("debug", FIELD_BOOL, is_debug, 0, 0),
	FIELD("exclude_bpf", FIELD_BOOL, has_no_bpf, 0, 0),
	FIELD("stats_socket_path", FIELD_TEXT, stats_socket, 0, 0),
	FIELD("trace_file_prefix", FIELD_TEXT, trace_prefix, 0, 0),
	FIELD("trace_duration_ms", FIELD_NUMBER, trace_duration_ms, 10, HOUR_MS),
	FIELD("trace_warmup_ms", FIELD_NUMBER, trace_warmup_ms, 0, HOUR_MS),
	FIELD("worker_threads", FIELD_NUMBER, worker_threads, 1, 1024),
	FIELD("default_profiling_event", FIELD_EVENT, default_event, 0, 0),
	FIELD("perf_events", FIELD_EVENTS, events, 0, 0), /* scxtop cannot read a file without it */
	{ .key = "trace_ticks", .type = FIELD_IGNORED },
	{ .key = "trace_tick_warmup", .type = FIELD_IGNORED },
};
#define NR_FIELDS (sizeof(fields) / sizeof(fields[0]))

void config_init(struct config *c)
{
	*c = (struct config){ .theme = &themes[0],
		              .tick_ms = 250,
		              .frame_ms = 250,
		              .stats_socket = "/var/run/scx/root/stats",
		              .trace_prefix = "scxtop_trace",
		              .trace_duration_ms = 1250,
		              .trace_warmup_ms = 750,
		              .worker_threads = 4,
		              .default_event = EVENT_WORD_BUSY };
	keymap_init(&c->keys);
}

void config_done(struct config *c)
{
	toml_free(c->file);
	c->file = NULL;
}

static const struct field *field_find(const char *key)
{
	for (size_t i = 0; i < NR_FIELDS; i++)
		if (strcmp(fields[i].key, key) == 0)
			return &fields[i];
	return NULL;
}

int config_add_event(struct config *c, const char *word, struct diag *d)
{
	char raw[EVENT_WORD_BYTES + 8];
	struct event_word parsed;
	int err;

	if (strlen(word) >= EVENT_WORD_BYTES - 8)
		return diag_set(d, -EINVAL, NULL, "the name of an event is too long");
	snprintf(raw, sizeof(raw), "raw:%s", word);
	err = event_word_parse(raw, &parsed, d);
	if (err)
		return err;
	if (c->events.nr == CONFIG_EVENTS)
		return diag_set(d, -E2BIG, NULL, "there are more than %u events", CONFIG_EVENTS);
	memcpy(c->events.words[c->events.nr++], word, strlen(word) + 1);
	return 0;
}

static const char *take_events(struct config *c, const struct toml_entry *e)
{
	struct config_events before = c->events;
	char word[EVENT_WORD_BYTES];
	size_t at = 0;

	if (e->type != TOML_ARRAY)
		return "is not a list of events";
	c->events.nr = 0;
	while (toml_array_next(e, &at, word, sizeof(word))) {
		if (config_add_event(c, word, NULL)) {
			c->events = before;
			return "has an entry that is not NAME:0xCONFIG:TYPE, or too many entries";
		}
	}
	return NULL;
}

static const char *take_event(struct config *c, const struct toml_entry *e)
{
	struct event_word parsed;

	if (e->type != TOML_STRING || strlen(e->text) >= sizeof(c->default_event) ||
	    event_word_parse(e->text, &parsed, NULL))
		return "is not an event";
	memcpy(c->default_event, e->text, strlen(e->text) + 1);
	return NULL;
}

/* What is wrong with a value, or NULL once it is taken. */
static const char *take(struct config *c, const struct field *f, const struct toml_entry *e)
{
	char *at = (char *)c + f->offset;
	const struct theme *theme;

	switch (f->type) {
	case FIELD_NUMBER:
		if (e->type != TOML_INTEGER || e->integer < f->min || e->integer > f->max)
			return "is not a number in its range";
		*(uint32_t *)(void *)at = (uint32_t)e->integer;
		return NULL;
	case FIELD_BOOL:
		if (e->type != TOML_BOOLEAN)
			return "is neither true nor false";
		*(bool *)at = e->integer != 0;
		return NULL;
	case FIELD_TEXT:
		if (e->type != TOML_STRING || strlen(e->text) >= f->size)
			return "is not a text, or is too long";
		memcpy(at, e->text, strlen(e->text) + 1);
		return NULL;
	case FIELD_THEME:
		theme = e->type == TOML_STRING ? theme_find(e->text) : NULL;
		if (!theme)
			return "is not a theme";
		c->theme = theme;
		return NULL;
	case FIELD_EVENT:
		return take_event(c, e);
	case FIELD_EVENTS:
		return take_events(c, e);
	case FIELD_IGNORED:
		break;
	}
	return NULL;
}

static const char *take_key(struct config *c, const struct toml_entry *e)
{
	const struct action_entry *action = e->type == TOML_STRING ? action_find(e->text) : NULL;
	uint32_t key = key_from_text(e->key);

	if (key == KEY_NONE)
		return "is not a key";
	if (!action)
		return "has no known action";
	return keymap_set(&c->keys, key, action) ? "is one key too many" : NULL;
}

static void take_entry(struct config *c, const struct toml_entry *e, const char *name)
{
	const char *wrong = NULL;
	char key[64];

	if (e->type == TOML_TABLE)
		return;
	if (strcmp(e->table, "keymap") == 0) {
		wrong = take_key(c, e);
	} else {
		const struct field *f = *e->table ? NULL : field_find(e->key);

		wrong = f ? take(c, f, e) : "is not known";
	}
	if (wrong)
		log_warn("%s, line %u: '%s' %s, and is left out", name, e->line,
		         text_printable(key, sizeof(key), e->key, strlen(e->key)), wrong);
}

int config_read(struct config *c, const char *text, size_t len, const char *name, struct diag *d)
{
	struct toml *file = NULL;
	int err = toml_parse(text, len, d, &file);

	if (err)
		return err;
	for (size_t i = 0; i < file->nr; i++)
		take_entry(c, &file->entries[i], name);
	toml_free(c->file);
	c->file = file;
	return 0;
}

/*
 * $XDG_CONFIG_HOME or ~/.config, and the path below it; a relative XDG path does not count, as its
 * standard says.
 */
static int path_below(const char *rest, char path[PATH_MAX])
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int len;

	if (xdg && *xdg == '/')
		len = snprintf(path, PATH_MAX, "%s/%s", xdg, rest);
	else if (home && *home == '/')
		len = snprintf(path, PATH_MAX, "%s/.config/%s", home, rest);
	else
		return -ENOENT;
	return len < 0 || len >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int config_load(struct config *c, struct diag *d)
{
	static const char *const names[] = { "schedscope/config.toml", "scxtop/scxtop.toml" };
	char path[PATH_MAX];

	for (size_t i = 0; i < 2; i++) {
		SCOPED(scoped_free) char *text = NULL;
		struct diag why = { 0 };
		int err;

		if (path_below(names[i], path))
			return 0;
		err = text_read_file(path, TOML_MAX_BYTES, &text);
		if (err == -ENOENT)
			continue;
		if (err)
			return diag_set(d, err, NULL, "cannot read '%s'", path);
		err = config_read(c, text, strlen(text), path, &why);
		if (err)
			return diag_set(d, err, "correct the file, or move it away", "'%s': %.150s",
			                path, why.what);
		return 0;
	}
	return 0;
}

static int events_text(const struct config *c, char *buf, size_t size)
{
	size_t used = (size_t)snprintf(buf, size, "[");

	for (size_t i = 0; i < c->events.nr && used + 4 < size; i++) {
		int err;

		used += (size_t)snprintf(buf + used, size - used, "%s", i ? ", " : "");
		err = toml_quote(c->events.words[i], buf + used, size - used);
		if (err)
			return err;
		used += strlen(buf + used);
	}
	return snprintf(buf + used, size - used, "]") < (int)(size - used) ? 0 : -ENOSPC;
}

static int value_text(const struct config *c, const struct field *f, char *buf, size_t size)
{
	const char *at = (const char *)c + f->offset;

	switch (f->type) {
	case FIELD_NUMBER:
		snprintf(buf, size, "%u", *(const uint32_t *)(const void *)at);
		return 0;
	case FIELD_BOOL:
		snprintf(buf, size, "%s", *(const bool *)at ? "true" : "false");
		return 0;
	case FIELD_TEXT:
	case FIELD_EVENT:
		return toml_quote(at, buf, size);
	case FIELD_EVENTS:
		return events_text(c, buf, size);
	case FIELD_THEME:
		return toml_quote(c->theme->name, buf, size);
	case FIELD_IGNORED:
		break;
	}
	return -ENOENT;
}

static int write_fields(const struct config *c, struct toml *t, struct diag *d)
{
	char value[2 * PATH_MAX];

	for (size_t i = 0; i < NR_FIELDS; i++) {
		const struct toml_entry *e = toml_find(t, "", fields[i].key);
		int err = value_text(c, &fields[i], value, sizeof(value));

		if (err == -ENOENT)
			continue;
		/* What says the same stays as it is written. */
		if (!err && e && strlen(value) == e->end - e->begin &&
		    memcmp(t->text + e->begin, value, strlen(value)) == 0)
			continue;
		if (!err)
			err = toml_set(t, "", fields[i].key, value, d);
		if (err)
			return diag_set(d, err, NULL, "cannot write '%s'", fields[i].key);
	}
	return 0;
}

/* Keys cannot be changed from the screen: they are written once, for the user to edit. */
static int write_keys(const struct config *c, struct toml *t, struct diag *d)
{
	for (size_t i = 0; i < t->nr; i++)
		if (strcmp(t->entries[i].table, "keymap") == 0)
			return 0;
	for (size_t i = 0; i < c->keys.nr; i++) {
		char text[KEY_TEXT], action[80];
		int err = toml_quote(c->keys.entries[i].action->name, action, sizeof(action));

		if (!err)
			err = toml_set(t, "keymap", key_to_text(c->keys.entries[i].key, text),
			               action, d);
		if (err)
			return diag_set(d, err, NULL, "cannot write the keys");
	}
	return 0;
}

int config_write(struct config *c, struct diag *d, char **out)
{
	SCOPED(scoped_toml) struct toml *t = NULL;
	int err = toml_parse(c->file ? c->file->text : "", c->file ? c->file->len : 0, d, &t);

	if (!err)
		err = write_fields(c, t, d);
	if (!err)
		err = write_keys(c, t, d);
	if (err)
		return err;
	*out = strdup(t->text);
	return *out ? 0 : diag_set(d, -ENOMEM, NULL, "out of memory");
}

/* The folders of a path, for the user alone, as the XDG standard asks. */
static int make_folders(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		int err;

		*p = '\0';
		err = mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
		*p = '/';
		if (err)
			return err;
	}
	return 0;
}

static int write_file(const char *path, const char *text)
{
	char temporary[PATH_MAX + 8];
	SCOPED(scoped_close) int fd = -1;
	size_t len = strlen(text);
	int err = 0;

	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != (ssize_t)len || fsync(fd))
		err = errno ? -errno : -EIO;
	if (!err && rename(temporary, path))
		err = -errno;
	if (err)
		unlink(temporary);
	return err;
}

int config_store(const char *text, struct diag *d, char path[PATH_MAX])
{
	int err = path_below("schedscope/config.toml", path);
	if (err)
		return diag_set(d, err, "set HOME", "there is no folder for settings");
	err = make_folders(path);
	if (!err)
		err = write_file(path, text);
	if (err)
		return diag_set(d, err, "check the folder and its permissions", "cannot write '%s'",
		                path);
	return 0;
}
