/*
 * symbol/symbolizer — from addresses to functions, files and lines: of the kernel, its modules and BPF programs,
 * and of processes, also of those that have exited.
 *
 * What a process had mapped is remembered by time: from /proc when it is first reported, and from mappings that the
 * caller reports as they happen (collect/sample/mmap_ring). Files are opened when first reported, through the process's own
 * root while it is alive, so that nothing is lost when it exits; they are read when something in them is needed,
 * once for all processes, by build id or by device and inode. Symbols come from .symtab, .dynsym, .gnu_debugdata and
 * separate debug files; lines and inlined calls from DWARF; names of JITs from /tmp/perf-PID.map. C++ and Rust names
 * are demangled.
 *
 * A file that has been replaced since gives no names rather than wrong ones. Memory and descriptors
 * are bounded: some 400 of the latter. An address that is looked up again costs one lookup. One
 * thread. Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "base/diag.h"

#define SYMBOL_BUILD_ID_MAX 20U
#define SYMBOL_FRAMES_MAX   16U /* inlined calls at one address; more are left out */

struct prof_stack;
struct stack_copy;
struct symbolizer;
struct unwind_table;

/* All may be NULL or false. */
struct symbolizer_cfg {
	const char *proc;      /* /proc */
	const char *kallsyms;  /* /proc/kallsyms */
	const char *debug_dir; /* /usr/lib/debug; more than one with colons */
	bool wants_lines;      /* files, lines and inlined calls too; costs DWARF */
	bool own_rights;       /* files that only the broker can open have no names */
};

/* A part of a file, or of something without one, in a process. */
struct symbol_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset; /* in the file */
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	uint8_t build_id[SYMBOL_BUILD_ID_MAX];
	uint8_t nr_build_id; /* 0 = unknown */
	const char *path;    /* as the process sees it; "[vdso]", "//anon"; copied */
};

/* One frame. Texts live as long as the symbolizer. */
struct symbol_frame {
	const char *name; /* NULL = unknown */
	/* Never NULL: base name of the file, "kernel", a module, "bpf", "[vdso]", "[jit]", "unknown". */
	const char *module;
	const char *file; /* NULL = unknown */
	uint64_t start;   /* of the function, in the same terms as the address; 0 = unknown */
	uint32_t line;    /* 0 = unknown */
	bool is_inlined;
};

MUST_USE int symbolizer_new(const struct symbolizer_cfg *cfg, struct diag *d,
                            struct symbolizer **out);
void symbolizer_free(struct symbolizer *s); /* NULL is fine */
DEFINE_SCOPED(symbolizer, symbolizer_free)

/*
 * What happened to a process, each with its time (boot-time ns); reports may come late, but in order for each
 * process. A process first seen in a report is not read from /proc for what preceded it.
 */
MUST_USE int symbolizer_mapped(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns,
                               const struct symbol_mapping *m);
MUST_USE int symbolizer_execed(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns);
MUST_USE int symbolizer_forked(struct symbolizer *s, uint32_t parent, uint32_t child,
                               uint64_t ts_ns);
void symbolizer_exited(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns);
/*
 * Reads /proc/TGID/maps now, unless all that the process has mapped is known already; -ESRCH if it has ended. Of tgid 0
 * the kernel's symbols, with its BPF programs of this moment.
 */
MUST_USE int symbolizer_read_process(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns);

/* What the user should know, each thing once: kernel symbols that are hidden, room that is used up. False if none. */
bool symbolizer_remark(struct symbolizer *s, struct diag *out);

/*
 * The frames at an address, innermost first: how many, at least 1 and at most SYMBOL_FRAMES_MAX. An address that no
 * one knows is one frame without a name. tgid 0 asks the kernel. For a return address ask for address - 1.
 */
uint32_t symbolizer_frames(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns, uint64_t address,
                           struct symbol_frame out[SYMBOL_FRAMES_MAX]);

/* Code of a process, and the table by which its frames are walked; that is lent forever. */
struct symbol_table {
	uint64_t start, end;
	uint64_t base;   /* the process's address of the table's first row */
	uint32_t number; /* of the table: the same for all processes */
	const struct unwind_table *table;
};

/*
 * All that a process has mapped at a time and that has a table, by start. Files are read when they are first needed, from 1
 * to 50 ms each. A negative errno of fn() ends it.
 */
typedef int symbolizer_table_fn(void *ctx, const struct symbol_table *t);
MUST_USE int symbolizer_tables(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns,
                               symbolizer_table_fn *fn, void *ctx);

/*
 * Walks a copy of a user stack by libdw, with what the process had mapped then (symbol/stack_walker). At least the address at
 * which the thread was is in out, also where nothing can be walked: out->end says why. -ENOMEM.
 */
MUST_USE int symbolizer_walk(struct symbolizer *s, const struct stack_copy *copy,
                             struct prof_stack *out);

/*
 * Where an address is in its file: the mapping, with the build id if the file could be opened, and the address that the
 * linker gave it, as nm shows it (the offset in the file if that could not be opened). False if nothing is known.
 */
bool symbolizer_locate(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns, uint64_t address,
                       struct symbol_mapping *mapping, uint64_t *file_address);
