#include "record/frame_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "symbol/symbolizer.h"
#include "trace/reader.h"

#define NAMES_BYTES ((size_t)256 << 20)
#define FILES_MAX   65536U
#define FILE_SPACE \
	(1ULL << 40) /* each file at an address of its own; larger ones are not looked at */
#define BEGIN_NS 1U

struct frame_names {
	const char **names; /* by frame */
	size_t nr;
	struct arena *mem;
};

struct lookup {
	const struct trace_info *info;
	struct frame_names *out;
	struct symbolizer *symbols;
	struct map *files; /* build id -> index */
	bool *is_leaf;     /* by frame: somewhere it is what ran, not what called */
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

const char *frame_names_of(const struct frame_names *n, size_t frame)
{
	return n && frame < n->nr ? n->names[frame] : NULL;
}

static bool is_wanted(const struct trace_info *info, const struct trace_frame *f)
{
	return !*f->name && (f->is_kernel ? info->kernel_text != 0 : f->build_id != NULL);
}

static bool is_any_wanted(const struct trace_info *info)
{
	for (size_t i = 0; i < info->nr_frames; i++)
		if (is_wanted(info, &info->frames[i]))
			return true;
	return false;
}

/* Addresses are drawn anew at each boot, where the kernel does so at all; the release tells the others apart. */
static bool is_this_kernel(struct lookup *l)
{
	struct symbol_frame found[SYMBOL_FRAMES_MAX];
	struct utsname us;

	if (!l->info->kernel_text || uname(&us) || strcmp(us.release, l->info->release) != 0 ||
	    symbolizer_read_process(l->symbols, 0, BEGIN_NS) < 0)
		return false;
	(void)symbolizer_frames(l->symbols, 0, BEGIN_NS, l->info->kernel_text, found);
	return found[0].name && found[0].start == l->info->kernel_text;
}

/* Where the file is mapped, as if this process had it: its place there is the address. 0 if there is no room. */
static uint64_t base_of(struct lookup *l, const struct trace_frame *f)
{
	struct symbol_mapping m = { .path = f->mapping, .nr_build_id = f->build_id->nr };
	uint32_t at = map_nr(l->files);

	if (map_find(l->files, f->build_id, &at))
		return (at + 1) * FILE_SPACE;
	if (map_insert(l->files, f->build_id, at) < 0)
		return 0;
	m.start = (at + 1) * FILE_SPACE;
	m.end = m.start + FILE_SPACE;
	memcpy(m.build_id, f->build_id->bytes, m.nr_build_id);
	return symbolizer_mapped(l->symbols, (uint32_t)getpid(), BEGIN_NS, &m) < 0 ? 0 : m.start;
}

/* Callers are known by where they go on, which may be the next function: what they called from is before that. */
static const char *find(struct lookup *l, size_t frame)
{
	const struct trace_frame *f = &l->info->frames[frame];
	struct symbol_frame found[SYMBOL_FRAMES_MAX];
	/* Of a module, the place in its file says nothing of where that was loaded. */
	uint64_t at = f->is_kernel && f->address ? f->address : f->rel_pc;
	uint64_t base = 0, place = at - (at && !l->is_leaf[frame]);
	uint32_t nr;

	if (f->is_kernel && !l->is_this_kernel)
		return NULL;
	if (!f->is_kernel) {
		base = f->rel_pc < FILE_SPACE ? base_of(l, f) : 0;
		if (!base)
			return NULL;
	}
	nr = symbolizer_frames(l->symbols, f->is_kernel ? 0 : (uint32_t)getpid(), BEGIN_NS,
	                       base + place, found);
	return found[nr - 1].name;
}

static void mark_leaves(struct lookup *l)
{
	const struct trace_info *info = l->info;

	for (size_t i = 0; i < info->nr_stacks; i++)
		if (info->stacks[i].nr)
			l->is_leaf[info->stack_frames[info->stacks[i].first]] = true;
}

static int look_up(struct lookup *l)
{
	for (size_t i = 0; i < l->info->nr_frames; i++) {
		const char *name = is_wanted(l->info, &l->info->frames[i]) ? find(l, i) : NULL;

		if (!name)
			continue;
		l->out->names[i] = arena_strdup(l->out->mem, name);
		if (!l->out->names[i])
			return -ENOMEM;
	}
	return 0;
}

int frame_names_new(const struct trace_info *info, struct frame_names **out)
{
	SCOPED(scoped_frame_names) struct frame_names *n = NULL;
	SCOPED(scoped_symbolizer) struct symbolizer *symbols = NULL;
	SCOPED(scoped_map) struct map *files = NULL;
	SCOPED(scoped_free) bool *is_leaf = NULL;
	const struct symbolizer_cfg cfg = { 0 };
	struct lookup l = { .info = info };
	int err;

	if (!is_any_wanted(info) || symbolizer_new(&cfg, NULL, &symbols) < 0)
		return 0;
	n = calloc(1, sizeof(*n));
	if (!n || map_new(sizeof(struct trace_frame_id), FILES_MAX, &files) < 0)
		return -ENOMEM;
	n->nr = info->nr_frames;
	n->names = calloc(n->nr, sizeof(*n->names));
	n->mem = arena_new(NAMES_BYTES);
	is_leaf = calloc(n->nr, sizeof(*is_leaf));
	if (!n->names || !n->mem || !is_leaf)
		return -ENOMEM;
	l.out = n;
	l.symbols = symbols;
	l.files = files;
	l.is_leaf = is_leaf;
	mark_leaves(&l);
	l.is_this_kernel = is_this_kernel(&l);
	err = look_up(&l);
	if (!err)
		*out = TAKE_PTR(n);
	return err;
}
