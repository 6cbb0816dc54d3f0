#include "symbol/dwarf_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "symbol/elf_image.h"
#include "symbol/symtab.h"

#define FILE_MAX      ((off_t)2 << 30)
#define UNITS_MAX     (1U << 20)
#define FUNCTIONS_MAX (1U << 20) /* of a unit */
#define RANGES_MAX    65536      /* of a function or unit */
#define STEPS_MAX     (1U << 22) /* ranges read in a file, whichever DIE refers to them */
#define LOOKUP_STEPS  (1U << 20) /* and for one address */
#define DIES_MAX      (1U << 23) /* read in a unit */
#define NESTED_MAX    32         /* of namespaces and types */
#define SECTIONS_MAX  64
#define CHAIN_MAX     64 /* of inlined calls */

/* A growing list of DIEs; their ranges are in a table whose groups are positions here. */
struct dies {
	Dwarf_Die *all;
	uint32_t nr, room;
	struct symtab *ranges;
};

struct unit {
	bool is_read;
	struct dies functions;
};

struct dwarf_lines {
	Dwarf *dwarf;
	struct elf_bytes sections[SECTIONS_MAX];
	size_t nr_sections;
	struct dies units;
	struct unit *state; /* as many */
	uint32_t steps_left;
};

static void dies_done(struct dies *d)
{
	free(d->all);
	symtab_free(d->ranges);
}

void dwarf_lines_close(struct dwarf_lines *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; l->state && i < l->units.nr; i++)
		dies_done(&l->state[i].functions);
	free(l->state);
	dies_done(&l->units);
	if (l->dwarf)
		dwarf_end(l->dwarf);
	free(l);
}

static int dies_init(struct dies *d)
{
	d->ranges = symtab_new(UINT32_MAX);
	return d->ranges ? 0 : -ENOMEM;
}

static int dies_push(struct dies *d, const Dwarf_Die *die, uint32_t cap)
{
	if (d->nr >= cap)
		return -E2BIG;
	if (GROW(d->all, d->room, d->nr))
		return -ENOMEM;
	d->all[d->nr++] = *die;
	return 0;
}

/* Adds the DIE if it has code. Many may share one list of ranges, so that a small file could have endless work: *left ends it. */
static int dies_add(struct dies *d, Dwarf_Die *die, uint32_t cap, uint32_t *left)
{
	struct symtab_range r = { .group = d->nr };
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int err = 0;
	bool has_code = false;

	for (int i = 0; i < RANGES_MAX && !err; i++) {
		if (*left == 0)
			return -E2BIG;
		(*left)--;
		at = dwarf_ranges(die, at, &base, &start, &end);
		if (at <= 0)
			break;
		/* Linkers leave functions that they dropped at 0. */
		if (start == 0 || end <= start)
			continue;
		r.start = start;
		r.end = end;
		has_code = true;
		err = symtab_add(d->ranges, &r, "-", 1);
	}
	return err || !has_code ? err : dies_push(d, die, cap);
}

static bool find_die(const struct dies *d, uint64_t address, uint32_t *out)
{
	struct symtab_hit hit;

	if (!d->ranges || !symtab_find(d->ranges, address, &hit) || hit.group >= d->nr)
		return false;
	*out = hit.group;
	return true;
}

static int add_units(struct dwarf_lines *l)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;
	int err = 0;

	for (uint32_t i = 0; i < UNITS_MAX && !err; i++) {
		if (dwarf_get_units(l->dwarf, unit, &unit, NULL, &type, &die, NULL) != 0)
			break;
		if (type != DW_UT_type && type != DW_UT_partial)
			err = dies_add(&l->units, &die, UNITS_MAX, &l->steps_left);
	}
	symtab_seal(l->units.ranges);
	return err == -E2BIG ? 0 : err;
}

static bool is_too_large(const struct elf_image *e)
{
	struct stat st;

	return elf_image_fd(e) >= 0 && (fstat(elf_image_fd(e), &st) || st.st_size > FILE_MAX);
}

/* libdw (0.188) reads beyond sections of texts that do not end. */
static bool has_sound_texts(const struct elf_image *e)
{
	return elf_image_texts_end(e, ".debug_str") && elf_image_texts_end(e, ".debug_line_str") &&
	       elf_image_texts_end(e, ".zdebug_str") && elf_image_texts_end(e, ".zdebug_line_str");
}

int dwarf_lines_open(const struct elf_image *e, struct dwarf_lines **out)
{
	SCOPED(scoped_dwarf_lines) struct dwarf_lines *l = NULL;
	int err;

	if (!elf_image_has_dwarf(e))
		return -ENODATA;
	if (is_too_large(e))
		return -EFBIG;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->steps_left = STEPS_MAX;
	err = dies_init(&l->units);
	if (err)
		return err;
	l->dwarf = dwarf_begin_elf(elf_image_elf(e), DWARF_C_READ, NULL);
	if (!l->dwarf)
		return -ENODATA;
	l->nr_sections = elf_image_sections(e, ".debug", l->sections, SECTIONS_MAX);
	l->nr_sections += elf_image_sections(e, ".zdebug", l->sections + l->nr_sections,
	                                     SECTIONS_MAX - l->nr_sections);
	if (l->nr_sections == SECTIONS_MAX)
		return -EFBIG;
	if (!has_sound_texts(e))
		return -ENODATA;
	err = add_units(l);
	if (err)
		return err;
	if (l->units.nr == 0)
		return -ENODATA;
	l->state = calloc(l->units.nr, sizeof(*l->state));
	if (!l->state)
		return -ENOMEM;
	*out = TAKE_PTR(l);
	return 0;
}

/* What functions may be declared in: namespaces everywhere, types in Rust. */
static bool is_container(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_enumeration_type || tag == DW_TAG_module;
}

struct line_budget {
	uint32_t dies;
	uint32_t *steps;
};

/* All functions among the children and their children; the budget bounds how many are read. */
static int add_functions(struct dies *functions, Dwarf_Die *parent, int depth,
                         struct line_budget *left)
{
	Dwarf_Die die;
	int err = 0;

	if (depth > NESTED_MAX || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		int tag = dwarf_tag(&die);

		if (left->dies == 0)
			return 0;
		left->dies--;
		if (tag == DW_TAG_subprogram)
			err = dies_add(functions, &die, FUNCTIONS_MAX, left->steps);
		else if (is_container(tag))
			err = add_functions(functions, &die, depth + 1, left);
	} while (!err && dwarf_siblingof(&die, &die) == 0);
	return err;
}

/* The DIE that has the functions: of split DWARF another file has it. */
static Dwarf_Die *body_of(Dwarf_Die *unit, Dwarf_Die *split)
{
	Dwarf_Half version;
	uint8_t type = 0;

	*split = (Dwarf_Die){ 0 };
	if (dwarf_cu_info(unit->cu, &version, &type, NULL, split, NULL, NULL, NULL) == 0 &&
	    type == DW_UT_skeleton && split->addr)
		return split;
	return unit;
}

static struct dies *functions_of(struct dwarf_lines *l, uint32_t at)
{
	struct unit *u = &l->state[at];
	struct line_budget left = { DIES_MAX, &l->steps_left };
	Dwarf_Die split;

	if (!u->is_read) {
		u->is_read = true;
		if (dies_init(&u->functions))
			return NULL;
		/* What did not fit is not known. */
		(void)!add_functions(&u->functions, body_of(&l->units.all[at], &split), 0, &left);
		symtab_seal(u->functions.ranges);
	}
	return &u->functions;
}

static bool has_nested_code(int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

static bool has_address(Dwarf_Die *die, uint64_t address, uint32_t *left)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	for (int i = 0; i < RANGES_MAX && *left; i++) {
		(*left)--;
		at = dwarf_ranges(die, at, &base, &start, &end);
		if (at <= 0)
			return false;
		if (address >= start && address < end)
			return true;
	}
	return false;
}

/* The child whose code the address is in. */
static bool child_at(Dwarf_Die *parent, uint64_t address, uint32_t *left, Dwarf_Die *out)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die) != 0)
		return false;
	do {
		if (*left == 0)
			return false;
		(*left)--;
		if (has_nested_code(dwarf_tag(&die)) && has_address(&die, address, left)) {
			*out = die;
			return true;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

/* The function and what was inlined, outermost first. */
static size_t chain_at(const Dwarf_Die *function, uint64_t address, Dwarf_Die chain[CHAIN_MAX])
{
	Dwarf_Die at = *function;
	uint32_t left = LOOKUP_STEPS;
	size_t nr = 0;

	chain[nr++] = at;
	/* Blocks count as steps, too: no DIE is visited forever. */
	for (int step = 0; step < 4 * CHAIN_MAX && nr < CHAIN_MAX; step++) {
		Dwarf_Die inner;

		if (!child_at(&at, address, &left, &inner))
			break;
		at = inner;
		if (dwarf_tag(&at) == DW_TAG_inlined_subroutine)
			chain[nr++] = at;
	}
	return nr;
}

/* libdw (0.188) does not check everywhere whether a string ends before its section does. */
static bool has_end(const struct dwarf_lines *l, const char *text)
{
	for (size_t i = 0; i < l->nr_sections; i++) {
		uintptr_t at = (uintptr_t)text - (uintptr_t)l->sections[i].at;

		if (at < l->sections[i].len)
			return memchr(text, '\0', l->sections[i].len - at);
	}
	return true; /* of another file */
}

static const char *text_of(const struct dwarf_lines *l, Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	const char *text;

	if (!dwarf_attr_integrate(die, name, &attribute))
		return NULL;
	text = dwarf_formstring(&attribute);
	return text && has_end(l, text) ? text : NULL;
}

static const char *name_of(const struct dwarf_lines *l, Dwarf_Die *die)
{
	const char *name = text_of(l, die, DW_AT_linkage_name);

	if (!name)
		name = text_of(l, die, DW_AT_MIPS_linkage_name);
	return name ? name : text_of(l, die, DW_AT_name);
}

static uint64_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value))
		return 0;
	return value;
}

/* Where the code that was inlined as this DIE was called. */
static void fill_call(Dwarf_Die *inlined, struct dwarf_frame *out)
{
	uint64_t file = number_of(inlined, DW_AT_call_file);
	uint64_t line = number_of(inlined, DW_AT_call_line);
	Dwarf_Files *files = NULL;
	Dwarf_Die unit;
	size_t nr = 0;

	out->line = line <= INT32_MAX ? (uint32_t)line : 0;
	if (dwarf_diecu(inlined, &unit, NULL, NULL) && dwarf_getsrcfiles(&unit, &files, &nr) == 0 &&
	    file < nr)
		out->file = dwarf_filesrc(files, file, NULL, NULL);
}

static void fill_line(Dwarf_Die *unit, uint64_t address, struct dwarf_frame *out)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	int number = 0;

	if (!line)
		return;
	out->file = dwarf_linesrc(line, NULL, NULL);
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		out->line = (uint32_t)number;
}

size_t dwarf_lines_at(struct dwarf_lines *l, uint64_t address, struct dwarf_frame *out, size_t max)
{
	Dwarf_Die chain[CHAIN_MAX];
	const struct dies *functions;
	uint32_t unit, function;
	size_t nr = 0, chain_nr = 1;

	if (max == 0 || !find_die(&l->units, address, &unit))
		return 0;
	functions = functions_of(l, unit);
	out[0] = (struct dwarf_frame){ 0 };
	fill_line(&l->units.all[unit], address, &out[0]);
	if (!functions || !find_die(functions, address, &function))
		return out[0].file != NULL;
	chain_nr = chain_at(&functions->all[function], address, chain);
	for (size_t i = chain_nr; i-- > 0;) {
		bool is_last = i == 0;

		out[nr].name = name_of(l, &chain[i]);
		if (is_last)
			break;
		/* The last place is the function's own. */
		if (nr + 1 < max)
			nr++;
		out[nr] = (struct dwarf_frame){ 0 };
		fill_call(&chain[i], &out[nr]);
	}
	return nr + 1;
}
