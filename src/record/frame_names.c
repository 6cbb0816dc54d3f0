#include "record/frame_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "record/frame_query.h"
#include "symbol/symbolizer.h"

#define NAMES_BYTES ((size_t)256 << 20)
#define FILE_SPACE \
	(1ULL << 40) /* each file at an address of its own; larger ones are not checked */
#define BEGIN_NS    1U
#define CHECK_EVERY 1024U /* frames */

struct frame_names {
	const char **names; /* by frame */
	size_t nr;
	struct arena *mem;
};

struct lookup {
	const struct frame_query *q;
	const struct frame_limits *limits;
	uint64_t begin_ns;
	struct frame_names *out;
	struct symbolizer *symbols;
	bool *is_mapped; /* by file */
	uint32_t nr_mapped;
	bool is_this_kernel;
};

void frame_names_free(struct frame_names *n)
{
	if (!n)
		return;
	free(n->names);
	arena_free(n->mem);
	free(n);
}

int frame_names_begin(size_t nr, struct frame_names **out)
{
	SCOPED(scoped_frame_names) struct frame_names *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->nr = nr;
	n->names = calloc(nr ? nr : 1, sizeof(*n->names));
	n->mem = arena_new(NAMES_BYTES);
	if (!n->names || !n->mem)
		return -ENOMEM;
	*out = TAKE_PTR(n);
	return 0;
}

bool frame_names_set(struct frame_names *n, size_t frame, const char *name)
{
	if (frame >= n->nr)
		return false;
	n->names[frame] = arena_strdup(n->mem, name);
	return n->names[frame] != NULL;
}

const char *frame_names_of(const struct frame_names *n, size_t frame)
{
	return n && frame < n->nr ? n->names[frame] : NULL;
}

/* Addresses are drawn anew at each boot, where the kernel does so at all; the release tells the others apart. */
static bool is_this_kernel(struct lookup *l)
{
	struct symbol_frame found[SYMBOL_FRAMES_MAX];
	struct utsname us;

	if (!l->q->kernel_text || uname(&us) || strcmp(us.release, l->q->release) != 0 ||
	    symbolizer_read_process(l->symbols, 0, BEGIN_NS) < 0)
		return false;
	(void)symbolizer_frames(l->symbols, 0, BEGIN_NS, l->q->kernel_text, found);
	return found[0].name && found[0].start == l->q->kernel_text;
}

/* Where the file is mapped, as if this process had it: its place there is the address. 0 if it is not. */
static uint64_t base_of(struct lookup *l, uint32_t file)
{
	const struct frame_file *f = &l->q->files[file];
	struct symbol_mapping m = { .path = f->path, .nr_build_id = f->nr_build_id };

	m.start = (file + 1) * FILE_SPACE;
	if (l->is_mapped[file])
		return m.start;
	if (l->limits->max_files && l->nr_mapped >= l->limits->max_files)
		return 0;
	m.end = m.start + FILE_SPACE;
	memcpy(m.build_id, f->build_id, sizeof(m.build_id));
	if (symbolizer_mapped(l->symbols, (uint32_t)getpid(), BEGIN_NS, &m) < 0)
		return 0;
	l->is_mapped[file] = true;
	l->nr_mapped++;
	return m.start;
}

static const char *find(struct lookup *l, const struct frame_place *p)
{
	struct symbol_frame found[SYMBOL_FRAMES_MAX];
	bool is_kernel = p->file == FRAME_KERNEL;
	uint64_t base = 0;
	uint32_t nr;

	if (is_kernel && !l->is_this_kernel)
		return NULL;
	if (!is_kernel) {
		base = p->file < l->q->nr_files && p->at < FILE_SPACE ? base_of(l, p->file) : 0;
		if (!base)
			return NULL;
	}
	nr = symbolizer_frames(l->symbols, is_kernel ? 0 : (uint32_t)getpid(), BEGIN_NS,
	                       base + p->at, found);
	return found[nr - 1].name;
}

static bool is_over(const struct lookup *l)
{
	const struct frame_limits *limits = l->limits;

	return (limits->wall_ns && clock_boot_ns() - l->begin_ns > limits->wall_ns) ||
	       (limits->should_stop && limits->should_stop(limits->ctx));
}

/* Reading a file takes longest: the time is checked before each one, and now and then. */
static bool is_check_due(const struct lookup *l, size_t frame)
{
	uint32_t file = l->q->places[frame].file;

	return frame % CHECK_EVERY == 0 || (file < l->q->nr_files && !l->is_mapped[file]);
}

static void look_up(struct lookup *l)
{
	for (size_t i = 0; i < l->q->nr_places; i++) {
		const char *name;

		if (is_check_due(l, i) && is_over(l))
			return;
		name = find(l, &l->q->places[i]);
		if (name && !frame_names_set(l->out, i, name))
			return;
	}
}

int frame_names_find(const struct frame_query *q, const struct frame_limits *limits,
                     struct frame_names **out)
{
	SCOPED(scoped_frame_names) struct frame_names *n = NULL;
	SCOPED(scoped_symbolizer) struct symbolizer *symbols = NULL;
	SCOPED(scoped_free) bool *is_mapped = calloc(q->nr_files + 1, sizeof(*is_mapped));
	const struct symbolizer_cfg cfg = { .own_rights = true };
	struct lookup l = { .q = q, .limits = limits, .begin_ns = clock_boot_ns() };

	if (!is_mapped || frame_names_begin(q->nr_places, &n) < 0)
		return -ENOMEM;
	if (symbolizer_new(&cfg, NULL, &symbols) < 0)
		return 0;
	l.out = n;
	l.symbols = symbols;
	l.is_mapped = is_mapped;
	l.is_this_kernel = is_this_kernel(&l);
	look_up(&l);
	*out = TAKE_PTR(n);
	return 0;
}

int frame_names_find_all(void *ctx, const struct frame_query *q, struct frame_names **out)
{
	const struct frame_limits none = { 0 };

	(void)ctx;
	return frame_names_find(q, &none, out);
}

int frame_names_new(const struct trace_info *info, const struct frame_namer *namer,
                    struct frame_names **out)
{
	SCOPED(scoped_frame_query) struct frame_query *q = NULL;
	int err = namer->find ? frame_query_new(info, &q) : 0;

	return err || !q ? err : namer->find(namer->ctx, q, out);
}
