#include "symbol/symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/intern.h"
#include "symbol/binaries.h"
#include "symbol/demangle.h"
#include "symbol/frame_cache.h"
#include "symbol/jit_maps.h"
#include "symbol/kallsyms.h"
#include "symbol/mapped_files.h"
#include "symbol/open_file.h"
#include "symbol/parser.h"
#include "symbol/process_read.h"
#include "symbol/spaces.h"
#include "symbol/stack_walker.h"
#include "symbol/unwind_files.h"
#include "sys/stack_copy.h"

#define TEXTS_MAX  (1U << 22)
#define TEXT_BYTES ((size_t)512 << 20)
#define PAUSE_NS   1000000000ULL /* between two readings of one thing that did not have an address */
#define NOT_READ   (UINT32_MAX - 1)

enum remark { REMARK_KERNEL, REMARK_PROCESSES, REMARK_PARSER, REMARK_NAMES, NR_REMARKS };

struct symbolizer {
	char *proc, *kallsyms_path, *debug_dir;
	bool wants_lines;
	unsigned int how;     /* files are opened: OPEN_* */
	struct intern *texts; /* of all that was ever given out */
	struct parser *parser;
	struct intern *mangled; /* names that were asked about */
	const char **demangled; /* by their ids; NULL = not yet */
	uint32_t nr_demangled;  /* room */
	struct kallsyms *kernel;
	struct diag kernel_trouble;
	uint64_t kernel_read_ns; /* 0 = never */
	struct spaces *spaces;
	struct mapped_files *files;
	uint32_t *binary_of_file; /* BINARIES_NONE: no ELF file; NOT_LOOKED_AT */
	uint32_t nr_files;
	struct binaries *binaries;
	struct unwind_files *unwind;
	struct stack_walker *walker;
	struct jit_maps *jits;
	struct frame_cache *cache;
	bool has_reported[NR_REMARKS];
	bool is_out_of_texts;
};

/* An address of a process, followed as far as it goes. */
struct symbol_place {
	struct space_mapping m;
	uint32_t binary;  /* BINARIES_NONE */
	uint64_t address; /* the linker's; without a binary the offset in the file */
};

static char *word_or(const char *word, const char *otherwise)
{
	return strdup(word ? word : otherwise);
}

void symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return;
	frame_cache_free(s->cache);
	jit_maps_free(s->jits);
	binaries_free(s->binaries);
	unwind_files_free(s->unwind);
	stack_walker_free(s->walker);
	free(s->binary_of_file);
	mapped_files_free(s->files);
	spaces_free(s->spaces);
	kallsyms_free(s->kernel);
	intern_free(s->mangled);
	free(s->demangled);
	parser_free(s->parser);
	intern_free(s->texts);
	free(s->proc);
	free(s->kallsyms_path);
	free(s->debug_dir);
	free(s);
}

static bool make_parts(struct symbolizer *s)
{
	const struct spaces_cfg defaults = { 0 };

	if (!s->proc || !s->kallsyms_path || !s->debug_dir)
		return false;
	s->texts = intern_new(TEXTS_MAX, TEXT_BYTES);
	s->mangled = intern_new(TEXTS_MAX, TEXT_BYTES);
	s->spaces = spaces_new(&defaults);
	s->parser = parser_new();
	s->cache = frame_cache_new();
	if (!s->texts || !s->mangled || !s->spaces || !s->parser || !s->cache)
		return false;
	s->binaries = binaries_new(
		&(struct binaries_cfg){ s->proc, s->debug_dir, s->wants_lines, s->parser, s->how });
	s->jits = jit_maps_new(s->proc, s->parser);
	s->files = mapped_files_new(s->proc, s->texts, s->parser, s->how);
	if (!s->files)
		return false;
	s->unwind = unwind_files_new(s->proc, s->debug_dir, s->files, s->parser, s->how);
	s->walker = stack_walker_new(s->spaces, s->files, s->parser);
	return s->walker && s->unwind && s->binaries && s->jits;
}

int symbolizer_new(const struct symbolizer_cfg *cfg, struct diag *d, struct symbolizer **out)
{
	SCOPED(scoped_symbolizer) struct symbolizer *s = calloc(1, sizeof(*s));

	if (!s)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	s->proc = word_or(cfg->proc, "/proc");
	s->kallsyms_path = word_or(cfg->kallsyms, "/proc/kallsyms");
	s->debug_dir = word_or(cfg->debug_dir, "/usr/lib/debug");
	s->wants_lines = cfg->wants_lines;
	s->how = cfg->own_rights ? OPEN_OWN_RIGHTS : 0;
	if (!make_parts(s))
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	*out = TAKE_PTR(s);
	return 0;
}

static const char *keep_text(struct symbolizer *s, const char *text)
{
	uint32_t id;

	if (!text)
		return NULL;
	if (intern_add(s->texts, text, strlen(text), &id)) {
		s->is_out_of_texts = true;
		return NULL;
	}
	return intern_string(s->texts, id, NULL);
}

/* Of the kernel, which is trusted, or one that is plain: long ones are cut. */
static const char *keep_safe_name(struct symbolizer *s, const char *name)
{
	char buf[DEMANGLE_NAME_MAX];

	return name ? keep_text(s, demangle(name, buf)) : NULL;
}

static const char **demangled_slot(struct symbolizer *s, uint32_t id)
{
	return GROW_ZEROED(s->demangled, s->nr_demangled, id) ? NULL : &s->demangled[id];
}

/* Asked about once for each name, not for each address. */
static const char *keep_name(struct symbolizer *s, const char *name)
{
	const char **slot;
	uint32_t id;

	if (!name || !demangle_is_needed(name))
		return keep_safe_name(s, name);
	if (intern_add(s->mangled, name, strlen(name), &id))
		return keep_text(s, name);
	slot = demangled_slot(s, id);
	if (!slot)
		return keep_text(s, name);
	if (!*slot)
		*slot = keep_text(s, parser_demangle(s->parser, name));
	return *slot;
}

int symbolizer_mapped(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns,
                      const struct symbol_mapping *m)
{
	struct space_mapping kept = { .start = m->start, .end = m->end, .offset = m->offset };
	int err = mapped_files_add(s->files, m, tgid, &kept.file);

	if (err == -E2BIG)
		return 0;
	return err ? err : spaces_map(s->spaces, tgid, ts_ns, &kept);
}

int symbolizer_execed(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns)
{
	return spaces_exec(s->spaces, tgid, ts_ns);
}

static int read_process(struct symbolizer *s, uint32_t tgid)
{
	const struct process_read_cfg cfg = { .proc = s->proc,
		                              .spaces = s->spaces,
		                              .files = s->files };

	return process_read(&cfg, tgid, clock_boot_ns());
}

static bool is_whole(const struct symbolizer *s, uint32_t tgid, uint64_t ts_ns)
{
	struct space_life life;

	return spaces_life(s->spaces, tgid, ts_ns, &life) && (life.is_whole || life.has_exited);
}

int symbolizer_forked(struct symbolizer *s, uint32_t parent, uint32_t child, uint64_t ts_ns)
{
	/* A parent that was there before us; if it has ended, the child is read when it is asked for. */
	if (!is_whole(s, parent, ts_ns)) {
		int err = read_process(s, parent);

		if (err == -ENOMEM)
			return err;
	}
	return spaces_fork(s->spaces, parent, child, ts_ns);
}

void symbolizer_exited(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns)
{
	struct space_life life;

	/* What a JIT has written is often deleted with the process. */
	if (spaces_life(s->spaces, tgid, ts_ns, &life) && !life.has_exited)
		jit_maps_leave(s->jits, &(struct jit_process){ tgid, life.serial, life.uid });
	spaces_exit(s->spaces, tgid, ts_ns);
}

static int read_kernel(struct symbolizer *s)
{
	struct kallsyms *fresh = NULL;
	struct diag d = { 0 };
	int err = kallsyms_read(s->kallsyms_path, &d, &fresh);

	s->kernel_read_ns = clock_boot_ns();
	if (err) {
		s->kernel_trouble = d;
		return err;
	}
	kallsyms_free(s->kernel);
	s->kernel = fresh;
	return 0;
}

int symbolizer_read_process(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns)
{
	struct space_life life;

	if (tgid == 0)
		return read_kernel(s);
	if (spaces_life(s->spaces, tgid, ts_ns, &life) && life.is_whole && !life.has_exited)
		return 0;
	return read_process(s, tgid);
}

static uint32_t unknown_frame(struct symbol_frame *out, const char *module)
{
	*out = (struct symbol_frame){ .module = module && *module ? module : "unknown" };
	return 1;
}

/* Modules and BPF programs are loaded and unloaded: what is not in the list may be in a new one. */
static bool find_in_kernel(struct symbolizer *s, uint64_t address, struct kallsyms_hit *out)
{
	if (s->kernel && kallsyms_find(s->kernel, address, out))
		return true;
	if (s->kernel_read_ns && clock_boot_ns() - s->kernel_read_ns < PAUSE_NS)
		return false;
	return read_kernel(s) == 0 && kallsyms_find(s->kernel, address, out);
}

static uint32_t kernel_frames(struct symbolizer *s, uint64_t address,
                              struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
	uint32_t nr = frame_cache_get(s->cache, FRAME_CACHE_KERNEL, address, out);
	struct kallsyms_hit hit;

	if (nr)
		return nr;
	if (!find_in_kernel(s, address, &hit))
		return unknown_frame(out, "kernel");
	out[0] = (struct symbol_frame){
		.name = keep_safe_name(s, hit.name),
		.module = keep_text(s, hit.module),
		.start = hit.start,
	};
	if (!out[0].module)
		out[0].module = "kernel";
	frame_cache_put(s->cache, FRAME_CACHE_KERNEL, address, out, 1);
	return 1;
}

/* The mapping of an address; a process that is not known, or has changed unseen, is read. */
static bool find_mapping(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns, uint64_t address,
                         struct space_mapping *out)
{
	struct space_life life = { 0 };
	bool is_known;

	if (spaces_find(s->spaces, tgid, ts_ns, address, out))
		return true;
	is_known = spaces_life(s->spaces, tgid, ts_ns, &life);
	if (is_known && life.tried_ns && clock_boot_ns() - life.tried_ns < PAUSE_NS)
		return false;
	if (is_known && life.has_exited && life.tried_ns)
		return false;
	/* A failure leaves what was known. */
	(void)!read_process(s, tgid);
	return spaces_find(s->spaces, tgid, ts_ns, address, out);
}

static uint32_t *slot_of(struct symbolizer *s, uint32_t file)
{
	uint32_t i = s->nr_files;

	if (GROW(s->binary_of_file, s->nr_files, file))
		return NULL;
	for (; i < s->nr_files; i++)
		s->binary_of_file[i] = NOT_READ;
	return &s->binary_of_file[file];
}

static bool is_vdso(const struct symbolizer *s, uint32_t file)
{
	const char *name = mapped_files_name(s->files, file);

	return name[0] == '[' && strcmp(name, "[vdso]") == 0;
}

static uint32_t read_binary(struct symbolizer *s, uint32_t tgid, const struct space_mapping *m,
                            bool *is_final)
{
	const struct mapped_by by = { .tgid = tgid, .start = m->start, .end = m->end };
	struct symbol_mapping mapping;
	uint32_t binary;
	int fd;

	*is_final = true;
	if (is_vdso(s, m->file))
		return binaries_read_vdso(s->binaries, &binary) ? BINARIES_NONE : binary;
	fd = mapped_files_open(s->files, m->file, &by);
	if (fd < 0) {
		/* Another process may still have a way to it. */
		*is_final = false;
		return BINARIES_NONE;
	}
	mapped_files_describe(s->files, m->file, &mapping);
	return binaries_read(s->binaries, fd, mapping.path, tgid, &binary) ? BINARIES_NONE : binary;
}

static uint32_t binary_of(struct symbolizer *s, uint32_t tgid, const struct space_mapping *m)
{
	uint32_t *slot = slot_of(s, m->file);
	uint32_t binary;
	bool is_final;

	if (!slot)
		return BINARIES_NONE;
	if (*slot == NOT_READ) {
		binary = read_binary(s, tgid, m, &is_final);
		if (!is_final)
			return BINARIES_NONE;
		*slot = binary;
	}
	/* A vDSO of another size is that of another kind of process: 32-bit. */
	if (*slot != BINARIES_NONE && is_vdso(s, m->file) &&
	    binaries_vdso_bytes(s->binaries) != m->end - m->start)
		return BINARIES_NONE;
	return *slot;
}

static void follow(struct symbolizer *s, uint32_t tgid, uint64_t address, struct symbol_place *p)
{
	uint64_t offset = address - p->m.start;

	if (!is_vdso(s, p->m.file))
		offset += p->m.offset;
	p->binary = binary_of(s, tgid, &p->m);
	p->address = offset;
	if (p->binary != BINARIES_NONE &&
	    !binaries_address(s->binaries, p->binary, offset, &p->address))
		p->binary = BINARIES_NONE;
}

/* DWARF has the inlined calls and lines, the symbol table the function's own name. */
static uint32_t resolve(struct symbolizer *s, const struct symbol_place *p,
                        struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
	struct dwarf_frame lines[SYMBOL_FRAMES_MAX];
	struct symtab_hit hit = { 0 };
	uint32_t nr = 0;

	if (s->wants_lines)
		nr = (uint32_t)binaries_lines(s->binaries, p->binary, p->address, lines,
		                              SYMBOL_FRAMES_MAX);
	for (uint32_t i = 0; i < nr; i++)
		out[i] = (struct symbol_frame){
			.name = keep_text(s, lines[i].name),
			.file = keep_text(s, lines[i].file),
			.line = lines[i].line,
			.is_inlined = i + 1 < nr,
		};
	if (nr == 0)
		out[nr++] = (struct symbol_frame){ 0 };
	if (binaries_function(s->binaries, p->binary, p->address, &hit))
		out[nr - 1].name = keep_name(s, hit.name);
	for (uint32_t i = 0; i < nr; i++)
		out[i].start = hit.start;
	return nr;
}

static uint32_t file_frames(struct symbolizer *s, const struct symbol_place *p, uint64_t address,
                            struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
	uint32_t nr = frame_cache_get(s->cache, p->binary, p->address, out);

	if (nr == 0) {
		nr = resolve(s, p, out);
		frame_cache_put(s->cache, p->binary, p->address, out, nr);
	}
	for (uint32_t i = 0; i < nr; i++) {
		out[i].module = mapped_files_name(s->files, p->m.file);
		/* From the linker's addresses to those of the process. */
		if (out[i].start)
			out[i].start += address - p->address;
	}
	return nr;
}

static bool jit_frame(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns, uint64_t address,
                      struct symbol_frame *out)
{
	struct symtab_hit hit;
	struct space_life life;

	if (!spaces_life(s->spaces, tgid, ts_ns, &life) ||
	    !jit_maps_find(s->jits, &(struct jit_process){ tgid, life.serial, life.uid }, address,
	                   &hit))
		return false;
	*out = (struct symbol_frame){ .name = keep_name(s, hit.name),
		                      .module = "[jit]",
		                      .start = hit.start };
	return true;
}

uint32_t symbolizer_frames(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns, uint64_t address,
                           struct symbol_frame out[SYMBOL_FRAMES_MAX])
{
	struct symbol_place p;

	if (tgid == 0)
		return kernel_frames(s, address, out);
	if (!find_mapping(s, tgid, ts_ns, address, &p.m))
		return jit_frame(s, tgid, ts_ns, address, out) ? 1 : unknown_frame(out, NULL);
	follow(s, tgid, address, &p);
	if (p.binary != BINARIES_NONE)
		return file_frames(s, &p, address, out);
	if (jit_frame(s, tgid, ts_ns, address, out))
		return 1;
	return unknown_frame(out, mapped_files_name(s->files, p.m.file));
}

struct table_walk {
	struct symbolizer *s;
	uint32_t tgid;
	symbolizer_table_fn *fn;
	void *ctx;
};

static int find_table(void *ctx, const struct space_mapping *m)
{
	const struct table_walk *w = ctx;
	struct symbol_table t = { .start = m->start, .end = m->end };
	int err = unwind_files_find(w->s->unwind, w->tgid, m, &t);

	if (err == -ENOENT)
		return 0;
	return err ? err : w->fn(w->ctx, &t);
}

int symbolizer_tables(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns, symbolizer_table_fn *fn,
                      void *ctx)
{
	struct table_walk w = { s, tgid, fn, ctx };

	return spaces_each(s->spaces, tgid, ts_ns, find_table, &w);
}

int symbolizer_walk(struct symbolizer *s, const struct stack_copy *copy, struct prof_stack *out)
{
	int err = is_whole(s, copy->tgid, copy->ts_ns) ? 0 : read_process(s, copy->tgid);

	/* One that has ended is walked by what it has reported. */
	return err == -ENOMEM ? err : stack_walker_walk(s->walker, copy, out);
}

bool symbolizer_locate(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns, uint64_t address,
                       struct symbol_mapping *mapping, uint64_t *file_address)
{
	uint8_t id[ELF_BUILD_ID_MAX];
	struct symbol_place p;
	size_t nr;

	if (tgid == 0 || !find_mapping(s, tgid, ts_ns, address, &p.m))
		return false;
	follow(s, tgid, address, &p);
	*mapping =
		(struct symbol_mapping){ .start = p.m.start, .end = p.m.end, .offset = p.m.offset };
	mapped_files_describe(s->files, p.m.file, mapping);
	if (p.binary != BINARIES_NONE && mapping->nr_build_id == 0) {
		nr = binaries_build_id(s->binaries, p.binary, id);
		mapping->nr_build_id = (uint8_t)(nr < SYMBOL_BUILD_ID_MAX ? nr
		                                                          : SYMBOL_BUILD_ID_MAX);
		memcpy(mapping->build_id, id, mapping->nr_build_id);
	}
	*file_address = p.address;
	return true;
}

static bool has_remark(const struct symbolizer *s, enum remark what, struct diag *d)
{
	switch (what) {
	case REMARK_KERNEL:
		*d = s->kernel_trouble;
		break;
	case REMARK_PROCESSES:
		if (spaces_unkept(s->spaces))
			diag_set(d, -E2BIG, "watch fewer processes at a time",
			         "some processes have no names: there are too many of them");
		break;
	case REMARK_PARSER:
		(void)parser_trouble(s->parser, d);
		break;
	default:
		if (binaries_is_full(s->binaries) || s->is_out_of_texts)
			diag_set(d, -E2BIG, "watch fewer processes at a time",
			         "some functions have no names: the symbol table is full");
		break;
	}
	return d->code;
}

bool symbolizer_remark(struct symbolizer *s, struct diag *out)
{
	for (int i = 0; i < NR_REMARKS; i++) {
		struct diag d = { 0 };

		if (s->has_reported[i] || !has_remark(s, (enum remark)i, &d))
			continue;
		s->has_reported[i] = true;
		*out = d;
		return true;
	}
	return false;
}
