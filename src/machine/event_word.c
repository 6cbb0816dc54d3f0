#include "machine/event_word.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "machine/machine.h"

#define HOW "write cpu:NAME, perf:SUBSYSTEM:EVENT or kprobe:FUNCTION"

static const char *const share_names[] = {
	[EVENT_BUSY] = "cpu_total_util_percent",
	[EVENT_USER] = "cpu_user_util_percent",
	[EVENT_SYSTEM] = "cpu_system_util_percent",
	[EVENT_MHZ] = "cpu_frequency_mhz",
};

static int wrong(const char *text, const char *hint, struct diag *d)
{
	char shown[80];

	text_printable(shown, sizeof(shown), text, strlen(text));
	return diag_set(d, -EINVAL, hint, "'%s' is not an event", shown);
}

/* What is behind the prefix, or NULL. */
static const char *after(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) == 0 ? text + len : NULL;
}

/* Names are bytes of files of the kernel: no blanks, no colons, nothing that is not printed. */
static bool take_name(const char *from, size_t len, char *to, size_t size)
{
	if (!len || len >= size)
		return false;
	for (size_t i = 0; i < len; i++)
		if (from[i] <= ' ' || from[i] > '~' || from[i] == ':')
			return false;
	memcpy(to, from, len);
	to[len] = '\0';
	return true;
}

static bool parse_cpu(const char *name, struct event_word *w)
{
	w->source = EVENT_CPU;
	for (size_t i = 0; i < sizeof(share_names) / sizeof(share_names[0]); i++) {
		if (strcmp(share_names[i], name) == 0) {
			w->share = (enum event_share)i;
			return take_name(name, strlen(name), w->name, sizeof(w->name));
		}
	}
	return false;
}

static bool parse_perf(const char *text, struct event_word *w)
{
	size_t len = strcspn(text, ":");

	w->source = EVENT_PERF;
	if (!text[len] || !take_name(text, len, w->subsystem, sizeof(w->subsystem)))
		return false;
	if (strcmp(w->subsystem, "hardware") == 0 || strcmp(w->subsystem, "software") == 0)
		memcpy(w->subsystem, w->subsystem[0] == 'h' ? "hw" : "sw", 3);
	text += len + 1;
	return take_name(text, strlen(text), w->name, sizeof(w->name));
}

static bool parse_kprobe(const char *text, struct event_word *w)
{
	w->source = EVENT_KPROBE;
	return take_name(text, strlen(text), w->name, sizeof(w->name));
}

static bool parse_raw(const char *text, struct event_word *w)
{
	size_t len = strcspn(text, ":");
	char config[32];
	uint64_t type;

	w->source = EVENT_RAW;
	if (!text[len] || !take_name(text, len, w->name, sizeof(w->name)))
		return false;
	text += len + 1;
	len = strcspn(text, ":");
	if (!text[len] || !take_name(text, len, config, sizeof(config)) ||
	    strncasecmp(config, "0x", 2) != 0 || !text_hex_to_u64(config + 2, &w->config))
		return false;
	if (!text_to_u64(text + len + 1, &type) || type > UINT32_MAX)
		return false;
	w->type = (uint32_t)type;
	return true;
}

int event_word_parse(const char *text, struct event_word *out, struct diag *d)
{
	static const struct {
		const char *prefix;
		bool (*parse)(const char *text, struct event_word *w);
		const char *how;
	} sources[] = {
		{ "cpu:", parse_cpu,
		  "of the CPU there are cpu_total_util_percent, cpu_user_util_percent, "
		  "cpu_system_util_percent and cpu_frequency_mhz" },
		{ "perf:", parse_perf,
		  "write perf:SUBSYSTEM:EVENT, as perf:hw:cycles or perf:sched:sched_switch" },
		{ "kprobe:", parse_kprobe, "write kprobe:FUNCTION" },
		{ "raw:", parse_raw, "write NAME:0xCONFIG:TYPE, as l2-misses:0x964:4" },
	};

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		const char *rest = after(text, sources[i].prefix);
		struct event_word w = { 0 };

		if (!rest)
			continue;
		if (!sources[i].parse(rest, &w))
			return wrong(text, sources[i].how, d);
		*out = w;
		return 0;
	}
	return wrong(text, HOW, d);
}

double event_share_of(const struct machine_cpu *c, enum event_share share)
{
	switch (share) {
	case EVENT_USER:
		return c->user;
	case EVENT_SYSTEM:
		return c->system;
	case EVENT_MHZ:
		return c->mhz;
	default:
		return c->busy;
	}
}

bool event_word_is_rate(const struct event_word *w)
{
	return w->source != EVENT_CPU;
}

char *event_word_title(const struct event_word *w, char *buf, size_t size)
{
	bool is_plain = w->source != EVENT_PERF || strcmp(w->subsystem, "hw") == 0 ||
	                strcmp(w->subsystem, "sw") == 0;

	if (is_plain)
		(void)snprintf(buf, size, "%s", w->name);
	else
		(void)snprintf(buf, size, "%s:%s", w->subsystem, w->name);
	return buf;
}
