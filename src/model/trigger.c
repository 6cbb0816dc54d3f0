#include "model/trigger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/name_pattern.h"
#include "base/opt.h"
#include "base/text.h"

#define SHOWN   61 /* of a wrong word in a message */
#define PID_MAX 4194304U

const char *const trigger_kind_names[TRIGGER_KINDS + 1] = {
	[TRIGGER_WAKEUP_LATENCY] = "wakeup-latency",
	[TRIGGER_SLEEP] = "sleep",
	[TRIGGER_SLICE] = "slice",
	[TRIGGER_QUEUE_DEPTH] = "queue-depth",
	[TRIGGER_DSQ_LATENCY] = "dsq-latency",
	[TRIGGER_STALL] = "stall",
	[TRIGGER_THROTTLED] = "throttled",
	[TRIGGER_LOST] = "lost",
	[TRIGGER_UPROBE] = "uprobe",
	[TRIGGER_SCX_EJECT] = "scx-eject",
	[TRIGGER_USER] = "requested",
};

static const char usage[] = "write it as wakeup-latency>5ms or slice>20ms,comm=nginx*,pid=123";

static int refuse(struct diag *d, const char *what, const char *word)
{
	char shown[SHOWN];

	return diag_set(d, -EINVAL, usage, "trigger: '%s' %s",
	                text_printable(shown, sizeof(shown), word, strlen(word)), what);
}

/* A copy of a part of the text; false if it is empty or does not fit. */
static bool copy(char *to, size_t size, const char *from, size_t len)
{
	if (!len || len >= size)
		return false;
	memcpy(to, from, len);
	to[len] = '\0';
	return true;
}

/* "uprobe:FILE:SYMBOL": the file may hold colons, a symbol does not. Places and returns take no time. */
static int parse_uprobe(const char *what, struct diag *d, struct trigger *t)
{
	const char *path = what + strlen("uprobe:"), *colon = strrchr(path, ':');

	if (!colon || strncmp(path, "ret:", 4) == 0 || strpbrk(colon, "+%") ||
	    !copy(t->path, sizeof(t->path), path, (size_t)(colon - path)) ||
	    !copy(t->symbol, sizeof(t->symbol), colon + 1, strlen(colon + 1)))
		return refuse(d, "is not uprobe:FILE:SYMBOL", what);
	t->kind = TRIGGER_UPROBE;
	return 0;
}

static void list_kinds(char *buf, size_t size)
{
	size_t len = (size_t)snprintf(buf, size, "there are ");

	for (int kind = 0; kind < TRIGGER_USER && len < size; kind++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", kind ? ", " : "",
		                        trigger_kind_names[kind]);
}

static int parse_what(const char *what, struct diag *d, struct trigger *t)
{
	const char *near;
	char hint[160], shown[SHOWN];

	if (strncmp(what, "uprobe:", strlen("uprobe:")) == 0)
		return parse_uprobe(what, d, t);
	for (int kind = 0; kind < TRIGGER_UPROBE; kind++) {
		if (strcmp(what, trigger_kind_names[kind]) == 0) {
			t->kind = (enum trigger_kind)kind;
			return 0;
		}
	}
	near = opt_nearest(what, trigger_kind_names);
	if (near == trigger_kind_names[TRIGGER_USER])
		near = NULL;
	if (near)
		snprintf(hint, sizeof(hint), "did you mean '%s'?", near);
	else
		list_kinds(hint, sizeof(hint));
	return diag_set(d, -EINVAL, hint, "trigger: '%s' is not a trigger",
	                text_printable(shown, sizeof(shown), what, strlen(what)));
}

static int parse_limit(const char *limit, struct diag *d, struct trigger *t)
{
	if (t->kind == TRIGGER_QUEUE_DEPTH || t->kind == TRIGGER_LOST)
		return text_to_u64(limit, &t->limit) ? 0 : refuse(d, "is not a number", limit);
	return opt_read_duration(limit, 0, &t->limit)
	               ? 0
	               : refuse(d, "is not a time such as 5ms", limit);
}

static bool parse_id(const char *text, uint32_t *out)
{
	uint64_t id;

	if (!text_to_u64(text, &id) || !id || id > PID_MAX)
		return false;
	*out = (uint32_t)id;
	return true;
}

static int parse_condition(const char *word, struct diag *d, struct trigger *t)
{
	bool is_right = false;

	if (t->kind == TRIGGER_LOST)
		return refuse(d, "is a condition on tasks, and lost events are of no task", word);
	if (strncmp(word, "comm=", 5) == 0)
		is_right = !t->comm[0] &&
		           copy(t->comm, sizeof(t->comm), word + 5, strlen(word + 5));
	else if (strncmp(word, "cgroup=", 7) == 0)
		is_right = !t->cgroup[0] &&
		           copy(t->cgroup, sizeof(t->cgroup), word + 7, strlen(word + 7));
	else if (strncmp(word, "pid=", 4) == 0)
		is_right = !t->tgid && parse_id(word + 4, &t->tgid);
	else if (strncmp(word, "tid=", 4) == 0)
		is_right = !t->tid && parse_id(word + 4, &t->tid);
	if (!is_right)
		return refuse(d, "is not a condition, or is given twice", word);
	return word[0] == 'c' ? name_pattern_check(strchr(word, '=') + 1, d) : 0;
}

static bool is_scx_eject(const char *text)
{
	const char *name = trigger_kind_names[TRIGGER_SCX_EJECT];

	return strcspn(text, ">,") == strlen(name) && strncmp(text, name, strlen(name)) == 0;
}

/* It happens, or not: nothing is measured, and it happens to no task. */
static int parse_scx_eject(const char *text, struct diag *d, struct trigger *out)
{
	if (strpbrk(text, ">,"))
		return refuse(d, "is more than scx-eject, which has neither limit nor conditions",
		              text);
	*out = (struct trigger){ .kind = TRIGGER_SCX_EJECT };
	return 0;
}

int trigger_parse(const char *text, struct diag *d, struct trigger *out)
{
	SCOPED(scoped_free) char *words = strdup(text);
	struct trigger t = { 0 };
	char *rest = words ? strrchr(words, '>') : NULL, *word;
	int err;

	if (!words)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	if (is_scx_eject(text))
		return parse_scx_eject(text, d, out);
	if (!rest)
		return refuse(d, "has no '>' and limit", text);
	*rest++ = '\0';
	err = parse_what(words, d, &t);
	word = strsep(&rest, ",");
	if (!err)
		err = parse_limit(word, d, &t);
	while (!err && (word = strsep(&rest, ",")))
		err = parse_condition(word, d, &t);
	if (err)
		return err;
	*out = t;
	return 0;
}
