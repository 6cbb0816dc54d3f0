#include "mcp/traces/trace_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/traces/trace_child.h"
#include "mcp/traces/trace_store_priv.h"

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
	trace_child_free(h->child);
	if (h->fd >= 0)
		close(h->fd);
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
	broker_dirs_done(&s->dirs);
	pthread_cond_destroy(&s->is_returned);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static struct held *find(const struct trace_store *s, uint64_t owner, const char *id)
{
	for (struct held *h = s->traces; h; h = h->next)
		if (h->owner == owner && strcmp(h->id, id) == 0)
			return h;
	return NULL;
}

/* The nr-th newest, from 0: the list begins with the last one that was loaded. */
static struct held *find_newest(const struct trace_store *s, uint64_t owner, size_t nr)
{
	if (owner == TRACE_NO_OWNER)
		return NULL;
	for (struct held *h = s->traces; h; h = h->next)
		if (h->owner == owner && nr-- == 0)
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

/* Out of the list: onto *freed, or to the list of those still in use. */
static void drop(struct trace_store *s, struct held *h, struct held **freed)
{
	struct held **to = is_used(h) ? &s->leaving : freed;

	unlink_held(&s->traces, h);
	h->is_gone = true;
	h->next = *to;
	*to = h;
	pthread_cond_broadcast(&s->is_returned); /* waiting threads are notified */
}

/* A user is done with it: what to free, if it was the last one of a trace that is gone. */
static struct held *leave(struct trace_store *s, struct held *h)
{
	if (!h->is_gone || is_used(h))
		return NULL;
	unlink_held(&s->leaving, h);
	return h;
}

static bool has_too_many(const struct trace_store *s)
{
	size_t nr = 0;

	for (const struct held *h = s->traces; h; h = h->next)
		nr++;
	return nr > s->max_traces;
}

static bool is_full(const struct trace_store *s)
{
	uint64_t bytes = 0;

	for (const struct held *h = s->traces; h; h = h->next)
		bytes += h->memory_bytes;
	return bytes > s->max_bytes || has_too_many(s);
}

/* What the owner of a trace has of what is short: traces, or bytes. */
static uint64_t share(const struct trace_store *s, uint64_t owner, bool is_by_number)
{
	uint64_t sum = 0;

	for (const struct held *h = s->traces; h; h = h->next)
		if (h->owner == owner)
			sum += is_by_number ? 1 : h->memory_bytes;
	return sum;
}

/* Not used now and not the one to keep: of the owner with the most, the longest unused. */
static struct held *next_to_go(const struct trace_store *s, const struct held *keep)
{
	bool is_by_number = has_too_many(s);
	struct held *found = NULL;
	uint64_t most = 0;

	for (struct held *h = s->traces; h; h = h->next) {
		uint64_t has = share(s, h->owner, is_by_number);

		if (h == keep || is_used(h) || (found && has < most))
			continue;
		if (!found || has > most || h->used_ns < found->used_ns)
			found = h;
		most = has;
	}
	return found;
}

static size_t evict(struct trace_store *s, const struct held *keep, struct held **freed)
{
	struct held *h;
	size_t nr = 0;

	while (is_full(s) && (h = next_to_go(s, keep))) {
		drop(s, h, freed);
		nr++;
	}
	return nr;
}

static size_t keep(struct trace_store *s, struct held *h)
{
	struct held *freed = NULL, *before;
	size_t nr;

	pthread_mutex_lock(&s->lock);
	h->is_temporary = store_is_temporary(s, h->owner, h->path);
	before = find(s, h->owner, h->id);
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
	h->fd = -1;
	h->owner = load->owner;
	err = store_find_trace(s, load, h, d);
	if (!err)
		err = store_name_trace(s, load, h->path, d, h->id);
	if (!err)
		err = store_open_trace(s, load, h, d);
	if (err) {
		held_free(h);
		return err;
	}
	memcpy(id_out, h->id, TRACE_ID_LEN);
	*nr_evicted = keep(s, h);
	return 0;
}

/* Its sentence is whole: the words of the code would be those for files. */
static int not_found(const struct trace_store *s, uint64_t owner, const char *id, struct diag *d)
{
	char hint[200] = "";
	size_t len = 0;

	for (const struct held *h = s->traces; h && len < sizeof(hint); h = h->next)
		if (h->owner == owner && owner != TRACE_NO_OWNER)
			len += (size_t)snprintf(hint + len, sizeof(hint) - len, "%s%s",
			                        len ? ", " : "loaded are: ", h->id);
	if (!len)
		snprintf(hint, sizeof(hint), "load or record one first");
	if (id)
		diag_set(d, -EINVAL, hint, "Trace '%.128s' not found", id);
	else if (owner == TRACE_NO_OWNER)
		diag_set(
			d, -EINVAL, "take it from the answer to load or record",
			"\"trace_id\" is missing, which a client without session and token must give");
	else
		diag_set(d, -EINVAL, hint,
		         len ? "not so many traces are loaded" : "no trace is loaded");
	return -ENOENT;
}

int trace_store_borrow(struct trace_store *s, uint64_t owner, const char *id, struct diag *d,
                       struct trace_child **out)
{
	struct held *h, *freed = NULL;
	int err = 0;

	pthread_mutex_lock(&s->lock);
	h = id ? find(s, owner, id) : find_newest(s, owner, 0);
	if (h) {
		h->nr_waiting++;
		while (h->is_lent && !h->is_gone)
			pthread_cond_wait(&s->is_returned, &s->lock);
		h->nr_waiting--;
	}
	if (!h || h->is_gone) {
		err = not_found(s, owner, id ? id : h ? h->id : NULL, d);
		freed = h ? leave(s, h) : NULL;
	} else {
		h->is_lent = true;
		h->used_ns = clock_boot_ns();
		*out = h->child;
	}
	pthread_mutex_unlock(&s->lock);
	held_free(freed);
	return err;
}

static struct held *find_lent(const struct trace_store *s, const struct trace_child *c)
{
	for (struct held *h = s->traces; h; h = h->next)
		if (h->child == c)
			return h;
	for (struct held *h = s->leaving; h; h = h->next)
		if (h->child == c)
			return h;
	return NULL;
}

/* Its indexes may have grown meanwhile; a dead one can no longer be found. */
void trace_store_return(struct trace_store *s, struct trace_child *c)
{
	struct held *freed = NULL, *last = NULL, *h;

	pthread_mutex_lock(&s->lock);
	h = find_lent(s, c);
	if (h) {
		h->is_lent = false;
		h->used_ns = clock_boot_ns();
		h->memory_bytes = trace_child_bytes(c);
		pthread_cond_broadcast(&s->is_returned);
		if (trace_child_is_dead(c) && !h->is_gone)
			drop(s, h, &freed);
		else
			last = leave(s, h);
		(void)evict(s, h, &freed);
	}
	pthread_mutex_unlock(&s->lock);
	held_free(last);
	free_list(freed);
}

int trace_store_newest(struct trace_store *s, uint64_t owner, size_t nr, char *buf, struct diag *d)
{
	const struct held *h;
	int err = 0;

	pthread_mutex_lock(&s->lock);
	h = find_newest(s, owner, nr);
	if (h)
		memcpy(buf, h->id, TRACE_ID_LEN);
	else
		err = not_found(s, owner, NULL, d);
	pthread_mutex_unlock(&s->lock);
	return err;
}

void trace_store_id(struct trace_store *s, const struct trace_child *c, char *buf)
{
	const struct held *h;

	pthread_mutex_lock(&s->lock);
	h = find_lent(s, c);
	snprintf(buf, TRACE_ID_LEN, "%s", h ? h->id : "");
	pthread_mutex_unlock(&s->lock);
}

static void scoped_from(struct trace_from *f)
{
	scoped_close(&f->fd);
	free(f->name);
}

/* A descriptor and a name of its own. */
static int copy_file(struct trace_store *s, uint64_t owner, const char *id, struct diag *d,
                     struct trace_from *out)
{
	const struct held *h;
	int err = 0;

	pthread_mutex_lock(&s->lock);
	h = find(s, owner, id);
	if (!h) {
		err = not_found(s, owner, id, d);
	} else {
		out->fd = fcntl(h->fd, F_DUPFD_CLOEXEC, 3);
		out->name = strdup(h->path);
		out->is_folder = h->is_folder;
		if (out->fd < 0 || !out->name)
			err = diag_set(d, -ENOMEM, NULL, "out of memory");
	}
	pthread_mutex_unlock(&s->lock);
	return err;
}

static int load_copy(struct trace_store *s, const char *id, const struct trace_load *load,
                     struct trace_child *into, struct diag *d)
{
	SCOPED(scoped_from) struct trace_from from = { .fd = -1 };
	int err = copy_file(s, load->owner, id, d, &from);

	return err ? err : store_load_into(s, into, &from, load, d);
}

int trace_store_pair(struct trace_store *s, const char *const ids[2], const struct trace_load *load,
                     struct diag *d, struct trace_child **out)
{
	struct trace_child *both = NULL;
	int err = trace_child_new(s->max_bytes < UINT64_MAX / 2 ? 2 * s->max_bytes : UINT64_MAX, d,
	                          &both);

	for (int i = 0; i < 2 && !err; i++)
		err = load_copy(s, ids[i], load, both, d);
	if (err) {
		trace_child_free(both);
		return err;
	}
	*out = both;
	return 0;
}

int trace_store_unload(struct trace_store *s, uint64_t owner, const char *id, struct diag *d)
{
	struct held *freed = NULL, *h;
	int err = 0;

	pthread_mutex_lock(&s->lock);
	h = find(s, owner, id);
	if (h)
		drop(s, h, &freed);
	else
		err = not_found(s, owner, id, d);
	pthread_mutex_unlock(&s->lock);
	free_list(freed);
	return err;
}

void trace_store_forget(struct trace_store *s, uint64_t owner)
{
	struct held *freed = NULL, *next;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	for (struct held *h = s->traces; h; h = next) {
		next = h->next;
		if (h->owner == owner)
			drop(s, h, &freed);
	}
	pthread_mutex_unlock(&s->lock);
	free_list(freed);
}

void trace_store_each(struct trace_store *s, uint64_t owner,
                      void (*fn)(void *ctx, const struct trace_entry *entry), void *ctx)
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

		if (h->owner == owner && owner != TRACE_NO_OWNER)
			fn(ctx, &entry);
	}
	pthread_mutex_unlock(&s->lock);
}
