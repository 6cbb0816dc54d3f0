#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/pmu/pmu_format.h"
#include "sys/pmu/pmu_internal.h"

#define FILE_CAP 4096U /* sysfs shows one page at most */
#define MAX_DEVS 4096U /* servers have hundreds of uncore PMUs */
#define PATH_CAP (3U * PMU_NAME_MAX)

/* A word that is safe as a file name and in a message. */
static bool is_name(const char *s)
{
	size_t len = strlen(s);

	if (!len || len >= PMU_NAME_MAX || s[0] == '.')
		return false;
	for (; *s; s++)
		if (!isgraph((unsigned char)*s) || *s == '/')
			return false;
	return true;
}

/* A file of the PMU, in a folder ("events/") or at its top (""). */
static int read_at(const struct pmu_sys *s, const struct pmu_dev *dev, const char *folder,
                   const char *name, char **out)
{
	char path[PATH_CAP];
	int len = snprintf(path, sizeof(path), "%s/%s%s", dev->name, folder, name);
	int err;

	if (len >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = text_read_file_at(s->fd, path, FILE_CAP, out);
	if (!err)
		text_chomp(*out);
	return err == -ENOTDIR || err == -EISDIR ? -ENOENT : err;
}

static int read_cpus(const struct pmu_sys *s, struct pmu_dev *dev, const char *what)
{
	SCOPED(scoped_free) char *text = NULL;
	int err = read_at(s, dev, "", what, &text);

	return err ? err : cpulist_parse(text, &dev->cpus);
}

/*
 * Core PMUs are "cpu", s390's "cpum_cf", and every one that lists its "cpus" (hybrid x86, arm); what
 * has a "cpumask" counts for more than the CPU it is opened on. False when it cannot be used.
 */
static bool dev_read(const struct pmu_sys *s, struct pmu_dev *dev)
{
	SCOPED(scoped_free) char *type = NULL;
	uint64_t value;
	int err;

	if (read_at(s, dev, "", "type", &type) || !text_to_u64(type, &value) || value > UINT32_MAX)
		return false;
	dev->type = (uint32_t)value;
	dev->is_core = strcmp(dev->name, "cpu") == 0 || strcmp(dev->name, "cpum_cf") == 0;
	err = read_cpus(s, dev, "cpus");
	if (!err)
		dev->is_core = true;
	else if (err == -ENOENT)
		err = read_cpus(s, dev, "cpumask");
	/* An empty list means that all of its CPUs are offline, while ours would mean "all". */
	return err == -ENOENT || (!err && dev->cpus.nr);
}

static int is_dev(const struct dirent *e)
{
	return is_name(e->d_name);
}

static int add_dev(struct pmu_sys *s, const char *name)
{
	struct pmu_dev dev = { 0 };
	struct pmu_dev *devs;

	snprintf(dev.name, sizeof(dev.name), "%.*s", PMU_NAME_MAX - 1, name);
	if (!dev_read(s, &dev)) {
		cpulist_done(&dev.cpus);
		return 0;
	}
	devs = realloc(s->devs, (s->nr + 1) * sizeof(*devs));
	if (!devs) {
		cpulist_done(&dev.cpus);
		return -ENOMEM;
	}
	s->devs = devs;
	s->devs[s->nr++] = dev;
	s->nr_core += dev.is_core;
	return 0;
}

int pmu_sys_open(const char *devices, struct diag *d, struct pmu_sys *out)
{
	SCOPED(pmu_sys_close) struct pmu_sys s = { .fd = -1 };
	struct dirent **names = NULL;
	int nr, err = 0;

	s.fd = open(devices, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s.fd < 0 && errno != ENOENT)
		return diag_set(d, -errno, NULL, "cannot open '%s'", devices);
	nr = s.fd < 0 ? 0 : scandirat(s.fd, ".", &names, is_dev, alphasort);
	if (nr < 0)
		return diag_set(d, -errno, NULL, "cannot list '%s'", devices);
	for (int i = 0; i < nr && !err && s.nr < MAX_DEVS; i++)
		err = add_dev(&s, names[i]->d_name);
	pmu_names_free(names, nr);
	if (err)
		return diag_set(d, err, NULL, "out of memory");
	*out = s;
	s = (struct pmu_sys){ .fd = -1 };
	return 0;
}

void pmu_sys_close(struct pmu_sys *s)
{
	for (size_t i = 0; i < s->nr; i++)
		cpulist_done(&s->devs[i].cpus);
	free(s->devs);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct pmu_sys){ .fd = -1 };
}

const struct pmu_dev *pmu_sys_find(const struct pmu_sys *s, const char *name)
{
	for (size_t i = 0; i < s->nr; i++)
		if (strcmp(s->devs[i].name, name) == 0)
			return &s->devs[i];
	return NULL;
}

/* Files beside an event that say how to read its count. */
static bool is_sibling(const char *name)
{
	static const char *const suffixes[] = { ".scale", ".unit", ".snapshot", ".per-pkg" };
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t n = strlen(suffixes[i]);

		if (len > n && strcmp(name + len - n, suffixes[i]) == 0)
			return true;
	}
	return false;
}

int pmu_dev_event(const struct pmu_sys *s, const struct pmu_dev *dev, const char *name, char **out)
{
	if (!is_name(name) || is_sibling(name))
		return -ENOENT;
	return read_at(s, dev, "events/", name, out);
}

/* An event under construction. */
struct event_build {
	const struct pmu_sys *sys;
	const struct pmu_dev *dev;
	struct diag *d;
	struct pmu_event *ev;
	bool is_nested; /* inside the text of a named event, which names no further one */
};

static int put(const struct event_build *b, const struct pmu_format *f, const struct pmu_term *t)
{
	uint64_t words[PMU_NR_WORDS] = { b->ev->config, b->ev->config1, b->ev->config2 };
	int err = pmu_format_put(f, t->value, words);

	if (err)
		return diag_set(b->d, err, NULL, "0x%llx is too large for '%s' of the PMU '%s'",
		                (unsigned long long)t->value, t->name, b->dev->name);
	b->ev->config = words[0];
	b->ev->config1 = words[1];
	b->ev->config2 = words[2];
	return 0;
}

/* The bits of a term: those of its format/ file, or a whole word for config, config1 and config2. */
static int format_of(const struct pmu_sys *s, const struct pmu_dev *dev, const char *name,
                     struct pmu_format *out)
{
	static const char *const words[] = { "config", "config1", "config2" };
	SCOPED(scoped_free) char *text = NULL;
	int err = read_at(s, dev, "format/", name, &text);

	if (!err)
		return pmu_format_parse(text, out);
	for (unsigned int i = 0; i < PMU_NR_WORDS; i++)
		if (strcmp(name, words[i]) == 0) {
			*out = (struct pmu_format){ .word = i, .mask = ~0ULL };
			return 0;
		}
	return err;
}

static int apply_all(const struct event_build *b, const char *terms);

static int apply_named(const struct event_build *b, const char *name)
{
	SCOPED(scoped_free) char *text = NULL;
	struct event_build nested = *b;
	int err = pmu_dev_event(b->sys, b->dev, name, &text);

	if (err)
		return diag_set(b->d, err,
		                "see what its folder in /sys/bus/event_source/devices offers",
		                "the PMU '%s' has no '%s'", b->dev->name, name);
	nested.is_nested = true;
	return apply_all(&nested, text);
}

static int apply(const struct event_build *b, const struct pmu_term *t)
{
	struct pmu_format f;
	int err;

	if (t->is_open)
		return diag_set(b->d, -EINVAL, NULL,
		                "'%s' of the PMU '%s' needs a value, as in %s=1", t->name,
		                b->dev->name, t->name);
	err = format_of(b->sys, b->dev, t->name, &f);
	if (!err)
		return put(b, &f, t);
	if (err == -ENOENT && !t->has_value && !b->is_nested)
		return apply_named(b, t->name);
	return diag_set(b->d, err, NULL, "cannot use '%s' of the PMU '%s'", t->name, b->dev->name);
}

static int apply_all(const struct event_build *b, const char *terms)
{
	const char *rest = terms;
	struct pmu_term t;
	char shown[64];
	int more;

	while ((more = pmu_term_next(&rest, &t)) > 0) {
		int err = apply(b, &t);

		if (err)
			return err;
	}
	if (!more)
		return 0;
	text_printable(shown, sizeof(shown), rest, strlen(rest));
	return diag_set(b->d, more, "terms look like event=0x64,umask=0x9",
	                "cannot read '%s' as an event of the PMU '%s'", shown, b->dev->name);
}

int pmu_dev_terms(const struct pmu_sys *s, const struct pmu_dev *dev, const char *terms,
                  struct diag *d, struct pmu_event *ev)
{
	struct event_build b = { .sys = s, .dev = dev, .d = d, .ev = ev };

	return apply_all(&b, terms);
}

static int is_event(const struct dirent *e)
{
	return is_name(e->d_name) && !is_sibling(e->d_name);
}

int pmu_dev_names(const struct pmu_sys *s, const struct pmu_dev *dev, struct dirent ***out)
{
	char path[PATH_CAP];
	int nr;

	snprintf(path, sizeof(path), "%s/events", dev->name);
	nr = scandirat(s->fd, path, out, is_event, alphasort);
	return nr >= 0 ? nr : -errno;
}

void pmu_names_free(struct dirent **names, int nr)
{
	for (int i = 0; i < nr; i++)
		free(names[i]);
	free(names);
}
