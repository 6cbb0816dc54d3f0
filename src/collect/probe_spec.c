#include "collect/probe_spec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"

#define RETURN_PREFIX "ret:"
#define RETURN_SUFFIX "%return"

/* A piece of the words. */
struct spec_piece {
	const char *at;
	size_t len;
};

static bool cut_prefix(struct spec_piece *p, const char *prefix)
{
	size_t len = strlen(prefix);

	if (p->len < len || memcmp(p->at, prefix, len) != 0)
		return false;
	p->at += len;
	p->len -= len;
	return true;
}

static bool cut_suffix(struct spec_piece *p, const char *suffix)
{
	size_t len = strlen(suffix);

	if (p->len < len || memcmp(p->at + p->len - len, suffix, len) != 0)
		return false;
	p->len -= len;
	return true;
}

/* Two pieces around the last c; false if there is none. */
static bool split_last(const struct spec_piece *p, char c, struct spec_piece *head,
                       struct spec_piece *tail)
{
	const char *at = memrchr(p->at, c, p->len);

	if (!at)
		return false;
	*head = (struct spec_piece){ p->at, (size_t)(at - p->at) };
	*tail = (struct spec_piece){ at + 1, p->len - head->len - 1 };
	return true;
}

static bool copy(char *to, size_t size, const struct spec_piece *from)
{
	if (!from->len || from->len >= size)
		return false;
	memcpy(to, from->at, from->len);
	to[from->len] = '\0';
	return true;
}

/* Letters as names of functions and tracepoints have them, in C and other languages. */
static bool is_name(const struct spec_piece *p)
{
	static const char others[] = "_.$";

	for (size_t i = 0; i < p->len; i++) {
		char c = p->at[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    !(c && strchr(others, c)))
			return false;
	}
	return p->len > 0;
}

static bool parse_offset(const struct spec_piece *p, uint64_t *out)
{
	char digits[24], *end;

	if (!copy(digits, sizeof(digits), p) || digits[0] < '0' || digits[0] > '9')
		return false;
	errno = 0;
	*out = strtoull(digits, &end, 0);
	return !errno && !*end;
}

/* The end says more than the beginning. */
static void set_name(struct probe_spec *s, const char *text)
{
	size_t len = strlen(text), most = sizeof(s->name) - 1;
	size_t cut = len > most ? len - most : 0;

	memcpy(s->name, text + cut, len - cut + 1);
}

static bool parse_kprobe(struct spec_piece all, struct probe_spec *out)
{
	return is_name(&all) && copy(out->symbol, sizeof(out->symbol), &all);
}

static bool parse_uprobe(struct spec_piece all, struct probe_spec *out)
{
	char text[PROBE_SYMBOL_LEN + PROBE_PATH_LEN + 40], offset[24] = "";
	struct spec_piece path, symbol, head, tail;
	const char *file;

	if (cut_prefix(&all, RETURN_PREFIX))
		out->type = EV_PROBE_URETPROBE;
	if (cut_suffix(&all, RETURN_SUFFIX))
		out->type = EV_PROBE_URETPROBE;
	if (!split_last(&all, ':', &path, &symbol))
		return false;
	if (split_last(&symbol, '+', &head, &tail)) {
		/* A function returns from everywhere. */
		if (out->type == EV_PROBE_URETPROBE || !parse_offset(&tail, &out->offset))
			return false;
		symbol = head;
		(void)snprintf(offset, sizeof(offset), "+0x%llx", (unsigned long long)out->offset);
	}
	if (!is_name(&symbol) || !copy(out->path, sizeof(out->path), &path) ||
	    !copy(out->symbol, sizeof(out->symbol), &symbol))
		return false;
	file = strrchr(out->path, '/');
	file = file ? file + 1 : out->path;
	(void)snprintf(text, sizeof(text), "%s:%s%s%s", file, out->symbol, offset,
	               out->type == EV_PROBE_URETPROBE ? RETURN_SUFFIX : "");
	set_name(out, text);
	return file[0] != '\0';
}

static bool parse_tracepoint(struct spec_piece all, struct probe_spec *out)
{
	struct spec_piece subsystem, name;

	return split_last(&all, ':', &subsystem, &name) && is_name(&subsystem) && is_name(&name) &&
	       copy(out->path, sizeof(out->path), &subsystem) &&
	       copy(out->symbol, sizeof(out->symbol), &name);
}

int probe_spec_parse(const struct events_probe *probe, struct probe_spec *out, struct diag *d)
{
	struct spec_piece all = { probe->spec, strlen(probe->spec) };
	struct probe_spec s = { .type = probe->type };

	if (probe->type == EV_PROBE_KPROBE) {
		if (!parse_kprobe(all, &s))
			return diag_set(d, -EINVAL, "give the name of a function of the kernel",
			                "'%.80s' is not a kprobe", probe->spec);
		set_name(&s, s.symbol);
	} else if (probe->type == EV_PROBE_TRACEPOINT) {
		if (!parse_tracepoint(all, &s))
			return diag_set(d, -EINVAL, "write SUBSYSTEM:NAME, as sched:sched_switch",
			                "'%.80s' is not a tracepoint", probe->spec);
		set_name(&s, probe->spec);
	} else if (!parse_uprobe(all, &s)) {
		return diag_set(d, -EINVAL,
		                "write PATH:SYMBOL, PATH:SYMBOL+OFFSET or ret:PATH:SYMBOL",
		                "'%.80s' is not a uprobe", probe->spec);
	}
	*out = s;
	return 0;
}

int probe_spec_check(const struct events_probe *probes, size_t nr, struct diag *d)
{
	struct probe_spec spec;
	int err = 0;

	if (nr > PROBES_MAX)
		return diag_set(d, -EINVAL, "leave some out",
		                "%zu probes are more than the maximum of %d", nr, PROBES_MAX);
	for (size_t i = 0; !err && i < nr; i++)
		err = probe_spec_parse(&probes[i], &spec, d);
	return err;
}
