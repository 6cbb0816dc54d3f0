#include "symbol/dwarf_walk.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "abi/profile.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "symbol/elf_image.h"
#include "sys/code_mask.h"
#include "sys/stack_copy.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

#define ANY_TID  1 /* there is one thread at a time */
#define VDSO_MAX 65536U

struct walk_file {
	uint64_t number;
	Elf *elf;
	struct elf_segments segments;
	uint64_t first; /* the linker's address of its first page */
};

struct dwarf_walk {
	struct walk_file *files;
	uint32_t nr, room;
	Dwfl *spaces[DWARF_WALK_SPACES]; /* NULL = not set */
	/* Of the walk at hand. */
	const struct stack_copy *copy;
	struct prof_stack *out;
	uint64_t code_mask;
	bool has_failed_read; /* on the way from the last frame to its caller */
};

/* A file in a process. */
struct placed_file {
	uint32_t file;
	uint64_t bias, end;
};

struct dwarf_walk *dwarf_walk_new(void)
{
	struct dwarf_walk *w = calloc(1, sizeof(*w));

	elf_version(EV_CURRENT);
	if (w)
		w->code_mask = code_mask();
	return w;
}

void dwarf_walk_free(struct dwarf_walk *w)
{
	if (!w)
		return;
	for (uint32_t i = 0; i < DWARF_WALK_SPACES; i++)
		if (w->spaces[i])
			dwfl_end(w->spaces[i]);
	for (uint32_t i = 0; i < w->nr; i++)
		elf_end(w->files[i].elf);
	free(w->files);
	free(w);
}

static struct walk_file *find_file(const struct dwarf_walk *w, uint64_t number)
{
	for (uint32_t i = 0; i < w->nr; i++)
		if (w->files[i].number == number)
			return &w->files[i];
	return NULL;
}

/* libdw puts a file so that its first page, as its alignment has it, begins where the module does. */
static uint64_t first_page(Elf *elf)
{
	size_t nr = 0;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &nr))
		return 0;
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD)
			return p.p_align ? p.p_vaddr & -p.p_align : p.p_vaddr;
	return 0;
}

/* What describes its frames is read now; libelf keeps it, and needs the descriptor no longer. */
static void read_frames(Elf *elf)
{
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);

	if (cfi)
		dwarf_cfi_end(cfi);
}

static int add_file(struct dwarf_walk *w, uint64_t number, const struct elf_image *e)
{
	Elf *elf = elf_image_elf(e);
	GElf_Ehdr header;
	int err;

	if (!gelf_getehdr(elf, &header) || header.e_machine != MACHINE)
		return -ENOEXEC;
	if (w->nr == DWARF_WALK_FILES)
		return -E2BIG;
	err = GROW(w->files, w->room, w->nr);
	if (err)
		return err;
	read_frames(elf);
	if (elf_image_fd(e) >= 0 && elf_cntl(elf, ELF_C_FDDONE))
		return -EIO;
	w->files[w->nr++] = (struct walk_file){
		.number = number,
		.elf = elf_begin(-1, ELF_C_READ, elf), /* the same, held once more */
		.segments = *elf_image_segments(e),
		.first = first_page(elf),
	};
	return 0;
}

int dwarf_walk_file(struct dwarf_walk *w, uint64_t number, int fd)
{
	SCOPED(scoped_elf_image) struct elf_image *e = NULL;
	int err;

	if (find_file(w, number)) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	err = elf_image_open(fd, &e);
	return err ? err : add_file(w, number, e);
}

/* Its size is that of the part: the caller has compared it with its own. */
static int add_vdso(struct dwarf_walk *w, uint64_t bytes)
{
	SCOPED(scoped_elf_image) struct elf_image *e = NULL;
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	int err = start && bytes <= VDSO_MAX
	                  ? elf_image_open_bytes((const void *)(uintptr_t)start, bytes, &e)
	                  : -ENOENT;

	return err ? err : add_file(w, DWARF_WALK_VDSO, e);
}

static int give_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
                    char **file_name, Elf **out)
{
	(void)mod;
	(void)name;
	(void)base;
	(void)file_name;
	*out = elf_begin(-1, ELF_C_READ, *userdata);
	return -1; /* no descriptor comes with it */
}

/* NOLINTNEXTLINE(readability-function-size): so many parameters has the library */
static int no_debug_file(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
                         const char *file_name, const char *link, GElf_Word crc, char **out)
{
	(void)mod;
	(void)userdata;
	(void)name;
	(void)base;
	(void)file_name;
	(void)link;
	(void)crc;
	(void)out;
	return -1;
}

static pid_t next_thread(Dwfl *dwfl, void *ctx, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = ctx;
	return ANY_TID;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *ctx, void **thread)
{
	(void)dwfl;
	*thread = ctx;
	return tid == ANY_TID;
}

/* libdw takes what arm64 has signed as it is. A word whose lower bits are an address of code is a return address. */
static uint64_t without_signature(const struct dwarf_walk *w, Dwfl *dwfl, uint64_t word)
{
	uint64_t plain = word & w->code_mask;

	return plain != word && dwfl_addrmodule(dwfl, plain) ? plain : word;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *out, void *ctx)
{
	struct dwarf_walk *w = ctx;
	uint64_t from = at - w->copy->registers[STACK_COPY_SP];

	if (w->copy->bytes < sizeof(*out) || from > w->copy->bytes - sizeof(*out)) {
		w->has_failed_read = true;
		return false;
	}
	memcpy(out, w->copy->stack + from, sizeof(*out));
	*out = without_signature(w, dwfl, *out);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *ctx)
{
	const struct dwarf_walk *w = ctx;
	Dwarf_Word registers[STACK_COPY_REGISTERS];

	for (uint32_t i = 0; i < STACK_COPY_REGISTERS; i++)
		registers[i] = without_signature(w, dwfl_thread_dwfl(thread),
		                                 w->copy->registers[i]);
	if (!dwfl_thread_state_registers(thread, 0, STACK_COPY_REGISTERS, registers))
		return false;
	dwfl_thread_state_register_pc(thread, w->copy->pc);
	return true;
}

static const Dwfl_Callbacks file_callbacks = { .find_elf = give_elf,
	                                       .find_debuginfo = no_debug_file };
static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* Where the file of a part is; false: nothing is known of it. */
static bool place_of(struct dwarf_walk *w, const struct dwarf_part *p, struct placed_file *out)
{
	const struct walk_file *f = find_file(w, p->file);
	uint64_t address;

	if (!f && p->file == DWARF_WALK_VDSO && !add_vdso(w, p->end - p->start))
		f = find_file(w, p->file);
	if (!f || !elf_segments_address(&f->segments, p->offset, &address) || p->end <= p->start)
		return false;
	*out = (struct placed_file){ (uint32_t)(f - w->files), p->start - address, p->end };
	return true;
}

static void report(const struct dwarf_walk *w, Dwfl *dwfl, const struct placed_file *at)
{
	const struct walk_file *f = &w->files[at->file];
	char name[24];
	Dwfl_Module *mod;
	void **userdata;

	(void)snprintf(name, sizeof(name), "%llu", (unsigned long long)f->number);
	mod = dwfl_report_module(dwfl, name, at->bias + f->first, at->end);
	if (mod && dwfl_module_info(mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL))
		*userdata = f->elf;
}

/* Parts of a file that stand together are one module. */
static Elf *report_all(struct dwarf_walk *w, Dwfl *dwfl, const struct dwarf_part *parts, size_t nr)
{
	struct placed_file last = { 0 }, at;
	bool has_last = false;

	for (size_t i = 0; i < nr; i++) {
		if (!place_of(w, &parts[i], &at))
			continue;
		if (has_last && (last.file != at.file || last.bias != at.bias))
			report(w, dwfl, &last);
		last = at;
		has_last = true;
	}
	if (!has_last)
		return NULL;
	report(w, dwfl, &last);
	return w->files[last.file].elf;
}

int dwarf_walk_space(struct dwarf_walk *w, uint64_t place, const struct dwarf_part *parts,
                     size_t nr)
{
	Dwfl *dwfl;
	Elf *any;

	if (place >= DWARF_WALK_SPACES || nr > DWARF_WALK_PARTS)
		return -EINVAL;
	if (w->spaces[place])
		dwfl_end(w->spaces[place]);
	w->spaces[place] = NULL;
	dwfl = dwfl_begin(&file_callbacks);
	if (!dwfl)
		return -ENOMEM;
	dwfl_report_begin(dwfl);
	any = report_all(w, dwfl, parts, nr);
	if (dwfl_report_end(dwfl, NULL, NULL) || !any ||
	    !dwfl_attach_state(dwfl, any, ANY_TID, &thread_callbacks, w)) {
		dwfl_end(dwfl);
		return any ? -EIO : 0;
	}
	w->spaces[place] = dwfl;
	return 0;
}

static int take_frame(Dwfl_Frame *frame, void *ctx)
{
	struct dwarf_walk *w = ctx;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	if (w->out->nr == PROF_DEPTH) {
		w->out->end = PROF_END_DEPTH;
		return DWARF_CB_ABORT;
	}
	w->out->ips[w->out->nr++] = pc;
	w->has_failed_read = false;
	return DWARF_CB_OK;
}

/* The entry of the code at which a walk has ended, which the caller frees; NULL = there is none. */
static Dwarf_Frame *last_entry(Dwfl *dwfl, const struct prof_stack *out)
{
	Dwarf_Addr pc = out->ips[out->nr - 1] - (out->nr > 1), bias = 0;
	Dwfl_Module *mod = dwfl_addrmodule(dwfl, pc);
	Dwarf_CFI *cfi = mod ? dwfl_module_eh_cfi(mod, &bias) : NULL;
	Dwarf_Frame *frame = NULL;

	return cfi && dwarf_cfi_addrframe(cfi, pc - bias, &frame) == 0 ? frame : NULL;
}

/*
 * A first function has an entry that says that it has no return address. To libdw one that cannot be read, or is 0 since
 * frame pointers led astray, does not exist either.
 */
static bool is_first_function(Dwarf_Frame *entry)
{
	Dwarf_Op room[3], *ops = NULL;
	size_t nr = 0;
	int reg = dwarf_frame_info(entry, NULL, NULL, NULL);

	return reg >= 0 && dwarf_frame_register(entry, reg, room, &ops, &nr) == 0 && nr == 0 &&
	       ops == room;
}

static enum prof_end why_ended(const struct dwarf_walk *w, Dwfl *dwfl)
{
	SCOPED(scoped_free) Dwarf_Frame *entry = dwfl ? last_entry(dwfl, w->out) : NULL;

	if (!entry)
		return PROF_END_NO_TABLE;
	if (is_first_function(entry))
		return PROF_END_WHOLE;
	return w->has_failed_read ? PROF_END_READ : PROF_END_RULE;
}

int dwarf_walk_stack(struct dwarf_walk *w, uint64_t place, const struct stack_copy *copy,
                     struct prof_stack *out)
{
	Dwfl *dwfl;

	if (place >= DWARF_WALK_SPACES)
		return -EINVAL;
	out->nr = 0;
	out->end = PROF_END_NOT_KNOWN;
	w->copy = copy;
	w->out = out;
	w->has_failed_read = false;
	dwfl = w->spaces[place];
	if (dwfl)
		(void)dwfl_getthread_frames(dwfl, ANY_TID, take_frame, w);
	if (!out->nr)
		out->ips[out->nr++] = copy->pc;
	if (out->end != PROF_END_DEPTH)
		out->end = why_ended(w, dwfl);
	w->copy = NULL;
	w->out = NULL;
	return 0;
}
