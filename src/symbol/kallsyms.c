#include "symbol/kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/intern.h"
#include "symbol/scan.h"
#include "symbol/symtab.h"
#include "sys/rights/broker.h"

#define FILE_CAP     ((size_t)128 << 20)
#define SYMBOLS_CAP  (1U << 21)
#define MODULES_CAP  65536U
#define MODULE_BYTES ((size_t)4 << 20)
#define HIDDEN_HINT  "run as root, and set kernel.kptr_restrict to 0 or 1"

struct kallsyms {
	struct symtab *symbols;
	struct intern *modules; /* the group of a symbol; 0 is the kernel */
};

struct kallsyms_line {
	uint64_t address;
	char type;
	struct scan name, module;
};

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	symtab_free(k->symbols);
	intern_free(k->modules);
	free(k);
}

/* "ffff800080010000 T _stext", with "[module]" behind a tab. */
static bool parse_line(struct scan s, struct kallsyms_line *out)
{
	struct scan type;

	if (!scan_hex(&s, &out->address) || !scan_word(&s, &type) || type.end - type.at != 1 ||
	    !scan_word(&s, &out->name))
		return false;
	out->type = *type.at;
	out->module = (struct scan){ 0 };
	if (scan_word(&s, &out->module)) {
		if (out->module.end - out->module.at < 3 || *out->module.at != '[' ||
		    out->module.end[-1] != ']')
			return false;
		out->module.at++;
		out->module.end--;
	}
	return true;
}

static bool is_named(const struct scan *s, const char *name)
{
	size_t len = strlen(name);

	return (size_t)(s->end - s->at) == len && memcmp(s->at, name, len) == 0;
}

static bool is_function(const struct kallsyms_line *l)
{
	return strchr("tTwW", l->type) && !scan_is_mapping_symbol(&l->name);
}

/*
 * Global before local, as in ELF files. A weak one that is listed is the one in use: of
 * __memset, __pi_memset and memset, the last is what the source calls it.
 */
static uint32_t rank_of(char type)
{
	return type == 't';
}

/* Where the kernel's own functions end: data lies between them and those of its start. */
static uint64_t find_etext(struct scan text)
{
	struct scan row;
	struct kallsyms_line l;

	while (scan_row(&text, &row))
		if (parse_line(row, &l) && l.module.at == l.module.end &&
		    is_named(&l.name, "_etext"))
			return l.address;
	return 0;
}

static int add_line(struct kallsyms *k, const struct kallsyms_line *l, uint64_t etext)
{
	struct symtab_range r = {
		.start = l->address,
		.end = l->address < etext ? etext : UINT64_MAX,
		.rank = rank_of(l->type),
		.is_open = true,
	};
	size_t len = (size_t)(l->module.end - l->module.at);
	int err = len ? intern_add(k->modules, l->module.at, len, &r.group) : 0;

	return err ? err
	           : symtab_add(k->symbols, &r, l->name.at, (size_t)(l->name.end - l->name.at));
}

static int add_lines(struct kallsyms *k, struct scan text, bool *has_hidden)
{
	uint64_t etext = find_etext(text);
	struct scan row;
	struct kallsyms_line l;
	int err = 0;

	while (!err && scan_row(&text, &row)) {
		if (!parse_line(row, &l) || !is_function(&l))
			continue;
		if (l.address == 0)
			*has_hidden = true;
		else
			err = add_line(k, &l, etext);
	}
	return err;
}

int kallsyms_parse(const char *text, size_t len, struct diag *d, struct kallsyms **out)
{
	SCOPED(scoped_kallsyms) struct kallsyms *k = calloc(1, sizeof(*k));
	bool has_hidden = false;
	int err;

	if (!k)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	k->symbols = symtab_new(SYMBOLS_CAP);
	k->modules = intern_new(MODULES_CAP, MODULE_BYTES);
	if (!k->symbols || !k->modules)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = add_lines(k, (struct scan){ text, text + strnlen(text, len) }, &has_hidden);
	if (err)
		return diag_set(d, err, NULL, "cannot keep the kernel's symbols");
	if (symtab_nr(k->symbols) == 0)
		return has_hidden ? diag_set(d, -EPERM, HIDDEN_HINT,
		                             "the kernel hides the addresses of its functions")
		                  : diag_set(d, -ENODATA, NULL,
		                             "the kernel does not list its functions");
	symtab_seal(k->symbols);
	*out = TAKE_PTR(k);
	return 0;
}

int kallsyms_read(const char *path, struct diag *d, struct kallsyms **out)
{
	SCOPED(scoped_free) char *text = NULL;
	int err = broker_read(path, FILE_CAP, &text);

	if (err)
		return diag_set(d, err, HIDDEN_HINT, "cannot read the kernel's symbols in '%s'",
		                path);
	return kallsyms_parse(text, strlen(text), d, out);
}

bool kallsyms_find(const struct kallsyms *k, uint64_t address, struct kallsyms_hit *out)
{
	struct symtab_hit hit;

	if (!symtab_find(k->symbols, address, &hit))
		return false;
	out->name = hit.name;
	out->start = hit.start;
	out->module = hit.group ? intern_string(k->modules, hit.group, NULL) : "kernel";
	return true;
}
