#include "mcp/trace_store.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/trace_store_priv.h"

int trace_store_new(const struct trace_store_cfg *cfg, struct diag *d, struct trace_store **out)
{
	struct trace_store *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->is_returned, NULL);
	s->max_traces = cfg->max_traces;
	s->max_bytes = cfg->max_bytes;
	err = store_allow_dirs(s, cfg, d);
	if (err) {
		trace_store_free(s);
		return err;
	}
	*out = s;
	return 0;
}

/* Without the lock: closing a large trace takes a while. */
static void held_free(struct held *h)
{
	if (!h)
		return;
	if (h->is_temporary)
		unlink(h->path);
	recording_close(h->rec);
	free(h->path);
	free(h);
}

static void free_list(struct held *h)
{
	while (h) {
		struct held *next = h->next;

		held_free(h);
		h = next;
	}
}

void trace_store_free(struct trace_store *s)
{
	if (!s)
		return;
	free_list(s->traces);
	free_list(s->leaving);
	store_remove_dir(s);
	for (size_t i = 0; i < s->nr_allowed; i++)
		free(s->allowed[i]);
	free(s->allowed);
	pthread_cond_destroy(&s->is_returned);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static struct held *find(const struct trace_store *s, const char *id)
{
	for (struct held *h = s->traces; h; h = h->next)
		if (strcmp(h->id, id) == 0)
			return h;
	return NULL;
}

static bool is_used(const struct held *h)
{
	return h->is_lent || h->nr_waiting;
}

static void unlink_held(struct held **list, const struct held *h)
{
	for (struct held **at = list; *at; at = &(*at)->next)
		if (*at == h) {
			*at = h->next;
			return;
		}
}

/* Out of the list: onto *freed, or to those that leave while somebody still uses it. */
static void drop(struct trace_store *s, struct held *h, struct held **freed)
{
	struct held **to = is_used(h) ? &s->leaving : freed;

	unlink_held(&s->traces, h);
	h->is_gone = true;
	h->next = *to;
	*to = h;
	pthread_cond_broadcast(&s->is_returned); /* those who wait for it are told */
}

/* A user is done with it: what to free, if it was the last one of a trace that is gone. */
static struct held *leave(struct trace_store *s, struct held *h)
{
	if (!h->is_gone || is_used(h))
		return NULL;
	unlink_held(&s->leaving, h);
	return h;
}

/* The longest unused one that nobody uses and that is not the one to keep. */
static struct held *oldest(const struct trace_store *s, const struct held *keep)
{
	struct held *found = NULL;

	for (struct held *h = s->traces; h; h = h->next)
		if (h != keep && !is_used(h) && (!found || h->used_ns < found->used_ns))
			found = h;
	return found;
}

static bool is_full(const struct trace_store *s)
{
	uint64_t bytes = 0;
	size_t nr = 0;

	for (const struct held *h = s->traces; h; h = h->next, nr++)
		bytes += h->memory_bytes;
	return nr > s->max_traces || bytes > s->max_bytes;
}

static size_t evict(struct trace_store *s, const struct held *keep, struct held **freed)
{
	struct held *h;
	size_t nr = 0;

	while (is_full(s) && (h = oldest(s, keep))) {
		drop(s, h, freed);
		nr++;
	}
	return nr;
}

/* By what the client said, or by the file's name without its last extension. */
static int name_trace(const struct trace_load *load, const char *real, struct diag *d, char *id)
{
	const char *base = strrchr(real, '/');
	char *dot;

	if (load->id && (!load->id[0] || strlen(load->id) >= TRACE_ID_LEN))
		return diag_set(d, -EINVAL, NULL, "\"trace_id\" must have 1 to %u bytes",
		                TRACE_ID_LEN - 1);
	snprintf(id, TRACE_ID_LEN, "%s", load->id ? load->id : base ? base + 1 : real);
	dot = load->id ? NULL : strrchr(id, '.');
	if (dot && dot != id)
		*dot = '\0';
	for (const char *c = id; *c; c++)
		if (iscntrl((unsigned char)*c))
			return diag_set(d, -EINVAL, "give a plain \"trace_id\"",
			                "the name of a trace must not have control characters");
	return 0;
}

/* People know the file by another name than that of its descriptor. */
static void name_file(struct diag *d, const char *name, const char *path)
{
	char what[sizeof(d->what)];
	const char *at = strstr(d->what, name);

	if (!at)
		return;
	snprintf(what, sizeof(what), "%.*s%s%s", (int)(at - d->what), d->what, path,
	         at + strlen(name));
	memcpy(d->what, what, sizeof(what));
}

static int open_trace(struct trace_store *s, const struct trace_load *load, struct held *h,
                      struct diag *d)
{
	struct recording_cfg cfg = { .name = h->path,
		                     .progress = load->progress,
		                     .progress_ctx = load->ctx };
	SCOPED(scoped_close) int fd = store_open(s, h->path, d, &h->file_bytes);
	uint64_t start_ns = clock_boot_ns();
	char path[64];
	int err;

	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = recording_open(path, &cfg, d, &h->rec);
	if (err) {
		name_file(d, path, h->path);
		return err;
	}
	h->used_ns = clock_boot_ns();
	h->loaded_ns = h->used_ns - start_ns;
	h->memory_bytes = recording_bytes(h->rec);
	h->nr_events = recording_source(h->rec)->facts->nr_events;
	if (h->memory_bytes > s->max_bytes)
		return diag_set(d, -E2BIG, "start the server with a larger --max-trace-mib",
		                "the trace takes %.1f MiB of memory, and all together may take %.1f",
		                (double)h->memory_bytes / 1048576, (double)s->max_bytes / 1048576);
	return 0;
}

static size_t keep(struct trace_store *s, struct held *h)
{
	struct held *freed = NULL, *before;
	size_t nr;

	pthread_mutex_lock(&s->lock);
	h->is_temporary = store_is_temporary(s, h->path);
	before = find(s, h->id);
	if (before) {
		/* The same file again: it must not go with what it replaces. */
		if (strcmp(before->path, h->path) == 0)
			before->is_temporary = false;
		drop(s, before, &freed);
	}
	h->next = s->traces;
	s->traces = h;
	nr = evict(s, h, &freed);
	pthread_mutex_unlock(&s->lock);
	free_list(freed);
	return nr;
}

int trace_store_load(struct trace_store *s, const struct trace_load *load, struct diag *d,
                     char *id_out, size_t *nr_evicted)
{
	struct held *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = trace_store_allow(s, load->path, false, d, &h->path);
	if (!err)
		err = name_trace(load, h->path, d, h->id);
	if (!err)
		err = open_trace(s, load, h, d);
	if (err) {
		held_free(h);
		return err;
	}
	memcpy(id_out, h->id, TRACE_ID_LEN);
	*nr_evicted = keep(s, h);
	return 0;
}

static int not_found(const struct trace_store *s, const char *id, struct diag *d)
{
	char hint[200] = "loaded are: ";
	size_t len = strlen(hint);

	if (!s->traces)
		snprintf(hint, sizeof(hint), "load one with load_perfetto_trace");
	for (const struct held *h = s->traces; h && len < sizeof(hint); h = h->next)
		len += (size_t)snprintf(hint + len, sizeof(hint) - len, "%s%s",
		                        h == s->traces ? "" : ", ", h->id);
	if (!id && s->traces)
		return diag_set(d, -ENOENT, hint,
		                "\"trace_id\" is missing, and several traces are loaded");
	if (!id)
		return diag_set(d, -ENOENT, hint, "no trace is loaded");
	return diag_set(d, -ENOENT, hint, "Trace '%.128s' not found", id);
}

int trace_store_borrow(struct trace_store *s, const char *id, struct diag *d,
                       struct recording **out)
{
	struct held *h, *freed = NULL;
	int err = 0;

	pthread_mutex_lock(&s->lock);
	h = id ? find(s, id) : s->traces && !s->traces->next ? s->traces : NULL;
	if (h) {
		h->nr_waiting++;
		while (h->is_lent && !h->is_gone)
			pthread_cond_wait(&s->is_returned, &s->lock);
		h->nr_waiting--;
	}
	if (!h || h->is_gone) {
		err = not_found(s, id ? id : h ? h->id : NULL, d);
		freed = h ? leave(s, h) : NULL;
	} else {
		h->is_lent = true;
		h->used_ns = clock_boot_ns();
		*out = h->rec;
	}
	pthread_mutex_unlock(&s->lock);
	held_free(freed);
	return err;
}

static struct held *find_lent(const struct trace_store *s, const struct recording *r)
{
	for (struct held *h = s->traces; h; h = h->next)
		if (h->rec == r)
			return h;
	for (struct held *h = s->leaving; h; h = h->next)
		if (h->rec == r)
			return h;
	return NULL;
}

/* Its indexes may have grown meanwhile. */
void trace_store_return(struct trace_store *s, struct recording *r)
{
	struct held *freed = NULL, *last = NULL, *h;

	pthread_mutex_lock(&s->lock);
	h = find_lent(s, r);
	if (h) {
		h->is_lent = false;
		h->used_ns = clock_boot_ns();
		h->memory_bytes = recording_bytes(r);
		pthread_cond_broadcast(&s->is_returned);
		last = leave(s, h);
		(void)evict(s, h, &freed);
	}
	pthread_mutex_unlock(&s->lock);
	held_free(last);
	free_list(freed);
}

void trace_store_id(struct trace_store *s, const struct recording *r, char *buf)
{
	const struct held *h;

	pthread_mutex_lock(&s->lock);
	h = find_lent(s, r);
	snprintf(buf, TRACE_ID_LEN, "%s", h ? h->id : "");
	pthread_mutex_unlock(&s->lock);
}

int trace_store_unload(struct trace_store *s, const char *id, struct diag *d)
{
	struct held *freed = NULL, *h;
	int err = 0;

	pthread_mutex_lock(&s->lock);
	h = find(s, id);
	if (h)
		drop(s, h, &freed);
	else
		err = not_found(s, id, d);
	pthread_mutex_unlock(&s->lock);
	free_list(freed);
	return err;
}

void trace_store_each(struct trace_store *s, void (*fn)(void *ctx, const struct trace_entry *entry),
                      void *ctx)
{
	pthread_mutex_lock(&s->lock);
	for (const struct held *h = s->traces; h; h = h->next) {
		struct trace_entry entry = {
			.id = h->id,
			.path = h->path,
			.file_bytes = h->file_bytes,
			.memory_bytes = h->memory_bytes,
			.nr_events = h->nr_events,
			.loaded_ns = h->loaded_ns,
			.used_ns = h->used_ns,
			.is_ours = h->is_temporary,
		};

		fn(ctx, &entry);
	}
	pthread_mutex_unlock(&s->lock);
}
