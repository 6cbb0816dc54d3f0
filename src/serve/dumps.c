#include "serve/dumps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define PREFIX   "schedscope-"
#define SUFFIX   ".pftrace"
#define DATE     "%Y%m%dT%H%M%S"
#define DATE_LEN 15U
#define AFTER_S  2 /* that a dump has from after its trigger */
#define LAG_S \
	2 /* from the end of a wait that is a trigger to the name, which is of whole seconds */
#define INEXACT 0.02 /* of the value in a name: it has two digits at least */

struct list {
	char (*names)[NAME_MAX + 1]; /* DUMPS_MAX */
	size_t nr;
};

struct dumps {
	DIR *dir;
	struct list now, before;
	uint64_t nr_of[TRIGGER_KINDS];
	double keep_s; /* that a dump has from before its trigger */
	bool is_begun;
	void (*on_new)(void *ctx, const char *name); /* NULL = none */
	void *ctx;
};

static bool parse_date(const char *text, time_t *out)
{
	char date[DATE_LEN + 1] = "";
	struct tm tm = { .tm_isdst = -1 };
	const char *end;

	memcpy(date, text, strnlen(text, DATE_LEN));
	end = strptime(date, DATE, &tm);
	if (!end || *end || strlen(date) != DATE_LEN)
		return false;
	*out = mktime(&tm);
	return *out != (time_t)-1;
}

/* The longest name of a kind that the text begins with: some are the beginning of others. */
static bool parse_kind(const char *text, enum trigger_kind *out)
{
	size_t best = 0;

	for (int kind = 0; kind < TRIGGER_KINDS; kind++) {
		size_t len = strlen(trigger_kind_names[kind]);

		if (len > best && strncmp(text, trigger_kind_names[kind], len) == 0 &&
		    (text[len] == '-' || text[len] == '.')) {
			best = len;
			*out = (enum trigger_kind)kind;
		}
	}
	return best;
}

/* Behind the kind: "-6.2ms-", in seconds; 0 = there is no time. */
static double parse_value(const char *text)
{
	static const struct {
		const char *name;
		double s;
	} units[] = { { "s-", 1 }, { "ms-", 1e-3 }, { "us-", 1e-6 }, { "ns-", 1e-9 } };
	char *end = NULL;
	double value;

	if (text[0] != '-' || text[1] < '0' || text[1] > '9')
		return 0;
	value = strtod(text + 1, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strncmp(end, units[i].name, strlen(units[i].name)) == 0)
			return value * units[i].s;
	return 0;
}

/* What these names end with is a count, a scheduler, or nothing. */
static bool has_task(enum trigger_kind kind)
{
	return kind != TRIGGER_LOST && kind != TRIGGER_SCX_EJECT && kind != TRIGGER_USER;
}

/* The number behind the last dash. */
static uint32_t parse_tid(const char *name, size_t len)
{
	size_t at = len;
	unsigned long tid;

	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	if (at == len || !at || name[at - 1] != '-' || len - at > 7)
		return 0;
	tid = strtoul(name + at, NULL, 10);
	return (uint32_t)tid;
}

bool dump_name_parse(const char *name, struct dump_name *out)
{
	size_t len = strlen(name), suffix = strlen(SUFFIX), prefix = strlen(PREFIX);

	if (len <= prefix + DATE_LEN + 1 + suffix || strncmp(name, PREFIX, prefix) != 0 ||
	    strcmp(name + len - suffix, SUFFIX) != 0)
		return false;
	if (!parse_date(name + prefix, &out->when) || name[prefix + DATE_LEN] != '-' ||
	    !parse_kind(name + prefix + DATE_LEN + 1, &out->kind))
		return false;
	out->value_s = parse_value(name + prefix + DATE_LEN + 1 +
	                           strlen(trigger_kind_names[out->kind]));
	out->tid = has_task(out->kind) ? parse_tid(name, len - suffix) : 0;
	return true;
}

int dumps_open(const char *dir, double keep_s, struct diag *d, struct dumps **out)
{
	struct dumps *x = calloc(1, sizeof(*x));
	int err = 0;

	if (!x)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	x->keep_s = keep_s;
	x->now.names = calloc(DUMPS_MAX, sizeof(*x->now.names));
	x->before.names = calloc(DUMPS_MAX, sizeof(*x->before.names));
	if (!x->now.names || !x->before.names)
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	if (!err && !(x->dir = opendir(dir)))
		err = diag_set(d, -errno, "create it first, and check its permissions",
		               "cannot open the directory '%.120s'", dir);
	if (err) {
		dumps_close(x);
		return err;
	}
	*out = x;
	return 0;
}

void dumps_close(struct dumps *d)
{
	if (!d)
		return;
	if (d->dir)
		closedir(d->dir);
	free(d->now.names);
	free(d->before.names);
	free(d);
}

static void read_names(struct dumps *d)
{
	struct dump_name name;
	const struct dirent *entry;

	d->now.nr = 0;
	rewinddir(d->dir);
	while (d->now.nr < DUMPS_MAX && (entry = readdir(d->dir)))
		if (dump_name_parse(entry->d_name, &name))
			snprintf(d->now.names[d->now.nr++], NAME_MAX + 1, "%s", entry->d_name);
}

static bool has(const struct list *list, const char *name)
{
	for (size_t i = 0; i < list->nr; i++)
		if (strcmp(list->names[i], name) == 0)
			return true;
	return false;
}

void dumps_watch(struct dumps *d, void (*on_new)(void *ctx, const char *name), void *ctx)
{
	d->on_new = on_new;
	d->ctx = ctx;
}

static void count_new(struct dumps *d, const char *file, struct sums *s)
{
	struct dump_name name;

	if (has(&d->before, file) || !dump_name_parse(file, &name))
		return;
	counts_set(&s->dumps, trigger_kind_names[name.kind], ++d->nr_of[name.kind]);
	if (d->on_new)
		d->on_new(d->ctx, file);
}

void dumps_poll(struct dumps *d, struct sums *s)
{
	struct list last = d->before;

	d->before = d->now;
	d->now = last;
	read_names(d);
	for (size_t i = 0; i < d->now.nr && d->is_begun; i++)
		count_new(d, d->now.names[i], s);
	d->is_begun = true;
	s->nr_dumps_kept = d->now.nr;
}

/* The wait that triggered it. Or one that ended while the dump was made: what was before the trigger may be less than what is to be kept. */
static bool shows(const struct dumps *d, const struct dump_name *name, const struct dump_wait *w)
{
	double after_s = w->end_s - (double)name->when;
	bool is_same = name->tid == w->tid &&
	               fabs(name->value_s - w->dur_s) <= INEXACT * w->dur_s + 1e-3;

	if (is_same && after_s >= -LAG_S && after_s <= 1)
		return true;
	return after_s >= 0 && after_s <= AFTER_S && w->dur_s <= d->keep_s + after_s;
}

const char *dumps_find(const struct dumps *d, const struct dump_wait *w)
{
	const char *found = NULL;
	double nearest = 0;
	struct dump_name name;

	for (size_t i = 0; i < d->now.nr; i++) {
		double apart;

		if (!w->tid || !dump_name_parse(d->now.names[i], &name) || !shows(d, &name, w))
			continue;
		apart = fabs((double)name.when - w->end_s) +
		        (name.tid == w->tid ? 0 : AFTER_S + LAG_S);
		if (!found || apart < nearest) {
			nearest = apart;
			found = d->now.names[i];
		}
	}
	return found;
}

struct dump_file {
	char name[NAME_MAX + 1];
	time_t when;
	uint64_t bytes;
};

static int by_age(const void *a, const void *b)
{
	const struct dump_file *x = a, *y = b;

	return x->when != y->when ? (x->when < y->when ? -1 : 1) : strcmp(x->name, y->name);
}

/* Regular files of our names; how many, with the sum of their bytes. */
static size_t list_files(DIR *dir, struct dump_file *files, uint64_t *bytes)
{
	const struct dirent *entry;
	struct dump_name name;
	struct stat st;
	size_t nr = 0;

	while (nr < DUMPS_MAX && (entry = readdir(dir))) {
		if (!dump_name_parse(entry->d_name, &name) ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		snprintf(files[nr].name, sizeof(files[nr].name), "%s", entry->d_name);
		files[nr].when = st.st_mtime;
		files[nr].bytes = (uint64_t)st.st_size;
		*bytes += files[nr++].bytes;
	}
	return nr;
}

int dumps_prune(int dir_fd, const struct dumps_limits *limits)
{
	SCOPED(scoped_free) struct dump_file *files = calloc(DUMPS_MAX, sizeof(*files));
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	uint64_t bytes = 0;
	size_t nr, at = 0;
	int removed = 0;

	if (!files || !dir) {
		if (dir)
			closedir(dir);
		else if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	nr = list_files(dir, files, &bytes);
	qsort(files, nr, sizeof(*files), by_age);
	for (; at + 1 < nr && (nr - at > limits->max_nr || bytes > limits->max_bytes); at++) {
		bytes -= files[at].bytes;
		removed += unlinkat(dirfd(dir), files[at].name, 0) == 0;
	}
	closedir(dir);
	return removed;
}
