/*
 * What perf.data says about kernel events: files of tracefs as they were, of which the descriptions of events are
 * read, and the symbols of the kernel in files of old versions of perf (newer ones leave them empty).
 */
#include "trace/perfdata/perfdata.h"

#include <errno.h>

#define SYSTEMS_MAX 65536U

static bool skip_word(struct pd_in *in, const char *word, size_t len)
{
	const uint8_t *at = pd_in_bytes(in, len);

	return at && memcmp(at, word, len) == 0;
}

/* A text that ends with its NUL. */
static bool skip_text(struct pd_in *in)
{
	const uint8_t *nul = pd_left(in) ? memchr(in->p, 0, pd_left(in)) : NULL;

	if (!nul) {
		in->is_bad = true;
		return false;
	}
	in->p = nul + 1;
	return true;
}

static void read_format(struct perfdata *d, struct pd_in *in)
{
	uint64_t len = pd_in_u64(in);
	const char *text = (const char *)pd_in_bytes(in, len);
	int err;

	if (!text)
		return;
	err = ftrace_formats_add(&d->formats, d->r, text, (size_t)len);
	if (err == -EBADMSG)
		pd_damage(d, DAMAGE_FORMAT_BAD);
	else
		pd_fail(d, err);
}

static void read_systems(struct perfdata *d, struct pd_in *in)
{
	uint32_t nr_systems = pd_in_u32(in);

	for (uint32_t i = 0; i < nr_systems && i < SYSTEMS_MAX && !in->is_bad && !d->err; i++) {
		uint32_t nr;

		if (!skip_text(in))
			return;
		nr = pd_in_u32(in);
		for (uint32_t k = 0; k < nr && !in->is_bad && !d->err; k++)
			read_format(d, in);
	}
}

void pd_tracing_data(struct perfdata *d, struct pd_in in)
{
	static const char magic[] = "\027\010\104tracing";
	const uint8_t *order;
	uint32_t nr;

	if (!skip_word(&in, magic, sizeof(magic) - 1) || !skip_text(&in)) { /* its version */
		pd_damage(d, DAMAGE_SECTION_BAD);
		return;
	}
	order = pd_in_bytes(&in, 2); /* byte order, size of a long */
	(void)pd_in_u32(&in);        /* size of a page */
	if (order)
		in.is_swapped = (order[0] != 0) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	d->formats.is_swapped = in.is_swapped;
	if (skip_word(&in, "header_page", sizeof("header_page")))
		(void)pd_in_bytes(&in, pd_in_u64(&in));
	if (skip_word(&in, "header_event", sizeof("header_event")))
		(void)pd_in_bytes(&in, pd_in_u64(&in));
	nr = pd_in_u32(&in); /* events of ftrace itself */
	for (uint32_t i = 0; i < nr && !in.is_bad && !d->err; i++)
		read_format(d, &in);
	read_systems(d, &in);
	nr = pd_in_u32(&in);
	d->kallsyms = pd_in_bytes(&in, nr);
	d->kallsyms_len = d->kallsyms ? nr : 0;
	if (in.is_bad)
		pd_damage(d, DAMAGE_SECTION_BAD);
}
