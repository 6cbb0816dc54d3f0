#include "symbol/unwind_table.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "symbol/cfi.h"
#include "symbol/elf_image.h"
#include "sys/rights/sandbox_msg.h"

#define SIGRETURN_BYTES 8U
#define INSTRUCTION     4U
#define PLT_FIRST_BYTES 32U

struct unwind_table {
	uint64_t base;
	struct unwind_row *rows;
	uint32_t nr, room;
};

struct unwind_table *unwind_table_new(void)
{
	return calloc(1, sizeof(struct unwind_table));
}

void unwind_table_free(struct unwind_table *t)
{
	if (!t)
		return;
	free(t->rows);
	free(t);
}

static int append(struct unwind_table *t, uint32_t at, uint32_t rule)
{
	if (GROW(t->rows, t->room, t->nr) || !t->rows)
		return -ENOMEM;
	t->rows[t->nr++] = (struct unwind_row){ at, rule };
	return 0;
}

int unwind_table_add(struct unwind_table *t, uint64_t address, uint32_t rule)
{
	struct unwind_row *last = t->nr ? &t->rows[t->nr - 1] : NULL;
	uint64_t at;

	if (!last)
		t->base = address;
	if (address < t->base)
		return -EINVAL;
	at = address - t->base;
	if (last && at < last->at)
		return -EINVAL;
	if (last && last->rule == rule)
		return 0;
	if (last && last->at == at) {
		last->rule = rule;
		return 0;
	}
	if (at > UINT32_MAX)
		return -E2BIG;
	if (t->nr + 1 >= UNWIND_ROWS_MAX) {
		int err = t->nr < UNWIND_ROWS_MAX ? append(t, (uint32_t)at, UNWIND_NONE) : 0;

		return err ? err : -E2BIG;
	}
	return append(t, (uint32_t)at, rule);
}

/*
 * The vDSO, the one image that comes from memory: its return from a signal has no entry on arm64 (since
 * Linux 5.8) and is known by its two instructions. The one before belongs to it, as handlers return there.
 */
static bool find_sigreturn(const struct elf_image *e, uint64_t *out)
{
	static const uint8_t code[SIGRETURN_BYTES] = {
		0x68, 0x11, 0x80, 0xd2, /* mov x8, #__NR_rt_sigreturn */
		0x01, 0x00, 0x00, 0xd4, /* svc #0 */
	};
	struct elf_section text;

	if (!elf_image_section(e, ".text", &text))
		return false;
	for (size_t i = INSTRUCTION; i + sizeof(code) <= text.len; i += INSTRUCTION)
		if (memcmp(text.bytes + i, code, sizeof(code)) == 0) {
			*out = text.address + i - INSTRUCTION;
			return true;
		}
	return false;
}

static int machine_of(const struct elf_image *e, enum cfi_machine *out)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(elf_image_elf(e), &header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	switch (header.e_machine) {
	case EM_X86_64:
		*out = CFI_X86_64;
		return 0;
	case EM_AARCH64:
		*out = CFI_ARM64;
		return 0;
	default:
		return -ENOTSUP;
	}
}

static int add_sections(struct cfi *c, const struct elf_image *e, uint64_t move)
{
	struct elf_section s;
	int err = 0;

	if (elf_image_section(e, ".eh_frame", &s))
		err = cfi_add(c, &(struct cfi_section){ s.bytes, s.len, s.address, move, true });
	if (!err && elf_image_section(e, ".debug_frame", &s))
		err = cfi_add(c, &(struct cfi_section){ s.bytes, s.len, s.address, move, false });
	return err;
}

static int add_row(void *ctx, uint64_t address, uint32_t rule)
{
	return unwind_table_add(ctx, address, rule);
}

static int add_sigreturn(struct cfi *c, const struct elf_image *e)
{
	uint64_t at;

	if (elf_image_fd(e) >= 0 || !find_sigreturn(e, &at))
		return 0;
	return cfi_add_rule(c, at, at + INSTRUCTION + SIGRETURN_BYTES,
	                    UNWIND_RULE(UNWIND_SIGNAL, 0, 0, 0));
}

/*
 * The linker's jumps into libraries, which on arm64 have no entries: the return address is in its register, but in
 * the first of them, which saves it beside another one.
 */
static int add_plt(struct cfi *c, const struct elf_image *e)
{
	static const uint8_t bti[INSTRUCTION] = { 0x5f, 0x24, 0x03, 0xd5 };
	struct elf_section plt;
	uint64_t first, saved, end;
	int err;

	if (!elf_image_section(e, ".plt", &plt) || plt.len < PLT_FIRST_BYTES)
		return 0;
	first = plt.address;
	saved = first + INSTRUCTION;
	if (memcmp(plt.bytes, bti, sizeof(bti)) == 0)
		saved += INSTRUCTION;
	end = first + PLT_FIRST_BYTES;
	err = cfi_add_rule(c, first, saved, UNWIND_RULE(UNWIND_SP, UNWIND_IN_LR, 0, 0));
	if (!err)
		err = cfi_add_rule(c, saved, end, UNWIND_RULE(UNWIND_SP, UNWIND_RA_ALONE, 2, 1));
	if (!err)
		err = cfi_add_rule(c, end, first + plt.len,
		                   UNWIND_RULE(UNWIND_SP, UNWIND_IN_LR, 0, 0));
	return err;
}

static int fill(struct cfi *c, const struct elf_image *e, const struct elf_image *debug,
                uint64_t move, struct unwind_table *t)
{
	int err = add_sections(c, e, 0);

	if (!err && debug)
		err = add_sections(c, debug, move);
	if (!err && cfi_machine(c) == CFI_ARM64)
		err = add_sigreturn(c, e);
	if (!err && !cfi_nr(c))
		return -ENOENT;
	if (!err && cfi_machine(c) == CFI_ARM64)
		err = add_plt(c, e);
	if (!err)
		err = cfi_rows(c, add_row, t);
	if (err == -E2BIG)
		err = 0;
	if (err)
		return err;
	return t->nr ? 0 : -ENOENT;
}

int unwind_table_compile(const struct elf_image *e, const struct elf_image *debug, uint64_t move,
                         struct unwind_table **out)
{
	SCOPED(scoped_unwind_table) struct unwind_table *t = unwind_table_new();
	SCOPED(scoped_cfi) struct cfi *c = NULL;
	enum cfi_machine machine;
	int err = machine_of(e, &machine);

	if (err)
		return err;
	c = cfi_new(machine);
	if (!t || !c)
		return -ENOMEM;
	err = fill(c, e, debug, move, t);
	if (!err)
		*out = TAKE_PTR(t);
	return err;
}

uint32_t unwind_table_rule(const struct unwind_table *t, uint64_t address)
{
	uint32_t low = 0, high = t->nr;

	if (address < t->base || address - t->base > UINT32_MAX)
		return UNWIND_NONE;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->rows[middle].at <= address - t->base)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? t->rows[low - 1].rule : UNWIND_NONE;
}

const struct unwind_row *unwind_table_rows(const struct unwind_table *t, uint32_t *nr)
{
	*nr = t->nr;
	return t->rows;
}

uint64_t unwind_table_base(const struct unwind_table *t)
{
	return t->base;
}

void unwind_table_put(const struct unwind_table *t, struct sandbox_msg *m)
{
	sandbox_put_u64(m, t->base);
	sandbox_put_bytes(m, t->rows, t->nr * sizeof(*t->rows));
}

static bool is_sorted(const struct unwind_table *t)
{
	for (uint32_t i = 0; i < t->nr; i++)
		if (i ? t->rows[i].at <= t->rows[i - 1].at : t->rows[i].at != 0)
			return false;
	return true;
}

int unwind_table_get(struct sandbox_msg *m, struct unwind_table **out)
{
	SCOPED(scoped_unwind_table) struct unwind_table *t = unwind_table_new();
	const void *rows;
	size_t len;

	if (!t)
		return -ENOMEM;
	t->base = sandbox_get_u64(m);
	rows = sandbox_get_bytes(m, &len);
	if (m->error || len % sizeof(*t->rows) || len / sizeof(*t->rows) > UNWIND_ROWS_MAX)
		return -EBADMSG;
	t->nr = t->room = (uint32_t)(len / sizeof(*t->rows));
	t->rows = malloc(len ? len : 1);
	if (!t->rows)
		return -ENOMEM;
	if (len)
		memcpy(t->rows, rows, len);
	if (!is_sorted(t))
		return -EBADMSG;
	*out = TAKE_PTR(t);
	return 0;
}
