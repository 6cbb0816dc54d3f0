#include "sys/pmu/event_names.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/text.h"
#include "sys/rights/broker.h"

#define TEXT_MAX   (64U << 20) /* kallsyms of a large kernel is about 20 MB */
#define NAMES_MAX  (1U << 20)
#define BTF_PREFIX "btf_trace_"

static const char *const tracefs[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

static char *slurp_tracefs(const char *root, const char *file)
{
	char path[256], *text = NULL;

	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s%s/%s", root, tracefs[i], file);
		if (broker_read(path, TEXT_MAX, &text) == 0)
			return text;
	}
	return NULL;
}

static int add(struct event_names *n, size_t *cap, const char *subsystem, const char *name)
{
	if (n->nr == NAMES_MAX || GROW(n->items, *cap, n->nr))
		return -ENOMEM;
	n->items[n->nr++] = (struct event_name){ subsystem, name };
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct event_name *x = a, *y = b;
	int order = strcmp(x->subsystem, y->subsystem);

	return order ? order : strcmp(x->name, y->name);
}

/* "subsystem:event" per line. */
static int parse_events(char *text, struct event_names *n)
{
	char *save = NULL;
	size_t cap = 0;
	int err = 0;

	for (char *line = strtok_r(text, " \t\n", &save); line && !err;
	     line = strtok_r(NULL, " \t\n", &save)) {
		char *colon = strchr(line, ':');

		if (!colon || colon == line || !colon[1])
			continue;
		*colon = '\0';
		err = add(n, &cap, line, colon + 1);
	}
	return err;
}

/* A typedef btf_trace_NAME for each; the texts are collected one after the other. */
static int read_btf(struct event_names *n)
{
	struct btf *vmlinux = btf__load_vmlinux_btf();
	__u32 nr = vmlinux ? btf__type_cnt(vmlinux) : 0;
	size_t cap = 0, len = 0;
	FILE *all = open_memstream(&n->text, &len);
	int err = all ? 0 : -ENOMEM;

	for (__u32 i = 1; all && i < nr; i++) {
		const struct btf_type *t = btf__type_by_id(vmlinux, i);
		const char *name = btf_is_typedef(t) ? btf__name_by_offset(vmlinux, t->name_off)
		                                     : NULL;

		if (name && strncmp(name, BTF_PREFIX, strlen(BTF_PREFIX)) == 0)
			(void)fprintf(all, "%s\n", name + strlen(BTF_PREFIX));
	}
	if (all && fclose(all) != 0)
		err = -ENOMEM;
	btf__free(vmlinux);
	for (char *save = NULL, *line = err ? NULL : strtok_r(n->text, "\n", &save); line && !err;
	     line = strtok_r(NULL, "\n", &save))
		err = add(n, &cap, "unknown", line);
	return err;
}

static int finish(struct event_names *n, int err, const char *what, struct diag *d)
{
	if (err)
		diag_set(d, err, NULL, "cannot list %s: %s", what, strerror(-err));
	else if (!n->nr)
		err = diag_set(
			d, -ENOENT,
			"mount tracefs: mount -t tracefs nodev /sys/kernel/tracing; reading it "
			"needs root",
			"this kernel does not list its %s", what);
	if (err)
		event_names_done(n);
	return err;
}

int event_names_tracepoints(const char *root, struct diag *d, struct event_names *out)
{
	int err;

	*out = (struct event_names){ .source = "tracefs" };
	out->text = slurp_tracefs(root, "available_events");
	if (out->text) {
		err = parse_events(out->text, out);
	} else {
		out->source = "btf";
		err = read_btf(out);
	}
	if (!err && out->nr)
		qsort(out->items, out->nr, sizeof(*out->items), compare);
	return finish(out, err, "tracepoints", d);
}

/* "name" or "name [module]" per line. */
static int parse_functions(char *text, struct event_names *n)
{
	char *save = NULL;
	size_t cap = 0;
	int err = 0;

	for (char *line = strtok_r(text, "\n", &save); line && !err;
	     line = strtok_r(NULL, "\n", &save)) {
		line[strcspn(line, " \t")] = '\0';
		if (*line)
			err = add(n, &cap, "kernel", line);
	}
	return err;
}

/* "address type name [module]" per line; functions are of type t, T, w and W. */
static int parse_symbols(char *text, struct event_names *n)
{
	char *save = NULL;
	size_t cap = 0;
	int err = 0;

	for (char *line = strtok_r(text, "\n", &save); line && !err;
	     line = strtok_r(NULL, "\n", &save)) {
		char *type = line + strcspn(line, " ");

		if (!type[0] || !type[1] || !strchr("tTwW", type[1]) || type[2] != ' ' || !type[3])
			continue;
		type[3 + strcspn(type + 3, " \t")] = '\0';
		err = add(n, &cap, "kernel", type + 3);
	}
	return err;
}

int event_names_functions(const char *root, struct diag *d, struct event_names *out)
{
	char path[256];
	int err = 0;

	*out = (struct event_names){ .source = "tracefs" };
	out->text = slurp_tracefs(root, "available_filter_functions");
	if (out->text)
		return finish(out, parse_functions(out->text, out), "functions", d);
	out->source = "kallsyms";
	(void)snprintf(path, sizeof(path), "%s/proc/kallsyms", root);
	if (broker_read(path, TEXT_MAX, &out->text))
		out->text = NULL;
	else
		err = parse_symbols(out->text, out);
	return finish(out, err, "functions", d);
}

int event_names_id(const char *root, const char *subsystem, const char *name, uint64_t *out)
{
	char path[512];

	/* Words of the user: they stay below their folder. */
	if (strchr(subsystem, '/') || strchr(name, '/') || subsystem[0] == '.' || name[0] == '.')
		return -ENOENT;
	for (size_t i = 0; i < 2; i++) {
		SCOPED(scoped_free) char *text = NULL;

		(void)snprintf(path, sizeof(path), "%s%s/events/%s/%s/id", root, tracefs[i],
		               subsystem, name);
		if (broker_read(path, 64, &text))
			continue;
		text_chomp(text);
		return text_to_u64(text, out) ? 0 : -ENOENT;
	}
	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s%s/events/sched", root, tracefs[i]);
		if (access(path, R_OK | X_OK) == 0)
			return -ENOENT;
	}
	return -ENODEV;
}

void event_names_done(struct event_names *n)
{
	free(n->items);
	free(n->text);
	*n = (struct event_names){ 0 };
}
