/* How a trace comes into the store: its name, where it is, the process that loads it. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/traces/trace_child.h"
#include "mcp/traces/trace_store_priv.h"

/* A recording of our own has no name that says anything. */
static void name_recording(struct trace_store *s, char *id)
{
	pthread_mutex_lock(&s->lock);
	snprintf(id, TRACE_ID_LEN, "recording%" PRIu64, ++s->nr_recordings);
	pthread_mutex_unlock(&s->lock);
}

int store_name_trace(struct trace_store *s, const struct trace_load *load, const char *real,
                     struct diag *d, char *id)
{
	const char *base = strrchr(real, '/');
	char *dot;

	if (load->owner == TRACE_NO_OWNER)
		return store_make_handle(id) ? diag_set(d, -EAGAIN, NULL, "there is no randomness")
		                             : 0;
	if (load->id && (!load->id[0] || strlen(load->id) >= TRACE_ID_LEN))
		return diag_set(d, -EINVAL, NULL, "\"trace_id\" must have 1 to %u bytes",
		                TRACE_ID_LEN - 1);
	if (!load->id && store_is_temporary(s, load->owner, real)) {
		name_recording(s, id);
		return 0;
	}
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

/* Opened and checked as any other trace, by its path: the folder may have changed, and then it is damaged. */
static int open_part(void *ctx, unsigned int nr)
{
	struct trace_from *from = ctx;
	SCOPED(scoped_free) char *path = NULL;
	struct stat st;
	int fd;

	if (asprintf(&path, "%s/" STORE_FIRST_PART ".%u", from->name, nr) < 0)
		return -ENOMEM;
	fd = broker_dirs_open(&from->store->dirs, path);
	if (fd >= 0 && fstat(fd, &st) == 0)
		from->part_bytes += (uint64_t)st.st_size;
	return fd;
}

int store_load_into(struct trace_store *s, struct trace_child *child, struct trace_from *from,
                    const struct trace_load *load, struct diag *d)
{
	struct trace_child_load part = { .name = from->name,
		                         .open_part = from->is_folder ? open_part : NULL,
		                         .part_ctx = from,
		                         .progress = load->progress,
		                         .ctx = load->ctx };
	int err;

	from->store = s;
	part.fd = broker_dirs_again(&s->dirs, from->fd);
	if (part.fd < 0)
		return diag_set(d, part.fd, "check the path and its permissions",
		                "cannot open '%.128s'", from->name);
	err = trace_child_load(child, &part, d);
	close(part.fd);
	return err;
}

int store_find_trace(struct trace_store *s, const struct trace_load *load, struct held *h,
                     struct diag *d)
{
	h->path = store_perf_folder(s, load->path);
	h->is_folder = h->path != NULL;
	return h->is_folder ? 0 : trace_store_allow(s, load->owner, load->path, false, d, &h->path);
}

static int open_held(struct trace_store *s, struct held *h, struct diag *d)
{
	SCOPED(scoped_free) char *first = NULL;

	if (!h->is_folder)
		return store_open(s, h->path, d, &h->file_bytes);
	if (asprintf(&first, "%s/" STORE_FIRST_PART, h->path) < 0)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	return store_open(s, first, d, &h->file_bytes);
}

int store_open_trace(struct trace_store *s, const struct trace_load *load, struct held *h,
                     struct diag *d)
{
	uint64_t start_ns = clock_boot_ns();
	struct trace_from from = { .name = h->path, .is_folder = h->is_folder };
	int err;

	h->fd = open_held(s, h, d);
	if (h->fd < 0)
		return h->fd;
	from.fd = h->fd;
	err = trace_child_new(s->max_bytes, d, &h->child);
	if (!err)
		err = store_load_into(s, h->child, &from, load, d);
	if (err)
		return err;
	h->file_bytes += from.part_bytes;
	h->used_ns = clock_boot_ns();
	h->loaded_ns = h->used_ns - start_ns;
	h->memory_bytes = trace_child_bytes(h->child);
	h->nr_events = trace_child_events(h->child);
	return 0;
}
