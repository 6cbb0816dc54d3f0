/* Version 6: one part after the other. */
#include <errno.h>

#include "trace/tracedat/dat.h"

#define WORD_BYTES 10U /* "flyrecord" with its NUL */

static bool is_word(const uint8_t *at, const char *word)
{
	return at && memcmp(at, word, strlen(word)) == 0;
}

static int read_options(struct dat *dat, struct bytes_in *in)
{
	uint32_t id;
	int err = 0;

	while (!err && (id = bytes_u16(in)) != DAT_DONE) {
		err = dat_option(dat, id, bytes_sub(in, bytes_u32(in)));
		if (err == -EBADMSG) {
			dat->r->tally.damage[DAMAGE_OPTION_BAD]++;
			err = 0;
		}
		if (in->is_bad)
			return -EBADMSG;
	}
	return in->is_bad ? -EBADMSG : err;
}

/* Where the data of each CPU is. */
static int read_table(struct dat *dat, struct dat_buffer *b, struct bytes_in *in)
{
	uint32_t nr = dat->nr_cpus;

	if (nr > bytes_left(in) / 2 / sizeof(uint64_t))
		return -EBADMSG;
	b->cpus = ARENA_ARRAY(dat->r->mem, struct dat_cpu, nr + 1);
	if (!b->cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		b->cpus[i].cpu = i;
		b->cpus[i].offset = bytes_u64(in);
		b->cpus[i].size = bytes_u64(in);
	}
	b->nr_cpus = nr;
	b->page_bytes = dat->page_bytes;
	return 0;
}

/* The tables of further buffers are elsewhere. */
static int read_buffers(struct dat *dat, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		struct bytes_in in = dat_at(dat, dat->buffers[i].offset);

		if (is_word(bytes_take(&in, WORD_BYTES), "flyrecord"))
			err = read_table(dat, &dat->buffers[i], &in);
		else
			err = -EBADMSG;
		if (err == -EBADMSG) {
			dat->r->tally.damage[DAMAGE_SECTION_BAD]++;
			err = 0;
		}
	}
	return err;
}

/* The clock stands once more behind the table, whatever its option says. */
static int read_first(struct dat *dat, struct bytes_in *in)
{
	struct dat_buffer *b = dat_buffer_add(dat, ""), first;
	struct bytes_in clock;
	int err = b ? read_table(dat, b, in) : dat->err;

	if (!b || err)
		return err;
	clock = bytes_sub(in, bytes_u64(in));
	if (!in->is_bad && bytes_left(&clock))
		dat_clock_name(&dat->clock, (const char *)clock.at, (size_t)bytes_left(&clock));
	first = *b;
	memmove(dat->buffers + 1, dat->buffers, (dat->nr_buffers - 1) * sizeof(*b));
	dat->buffers[0] = first;
	return 0;
}

static int read_data(struct dat *dat, struct bytes_in *in)
{
	const uint8_t *word = bytes_take(in, WORD_BYTES);
	size_t nr_more;
	int err = 0;

	if (is_word(word, "options")) {
		err = read_options(dat, in);
		word = err ? NULL : bytes_take(in, WORD_BYTES);
	}
	nr_more = dat->nr_buffers;
	if (!err)
		err = read_buffers(dat, nr_more);
	if (!err && is_word(word, "latency")) {
		struct dat_buffer *b = dat_buffer_add(dat, "");

		if (!b)
			return dat->err;
		b->is_text = true;
		b->offset = (uint64_t)(in->at - dat->all.at);
		return 0;
	}
	if (!err && !is_word(word, "flyrecord"))
		err = -EBADMSG;
	return err ? err : read_first(dat, in);
}

/* The rest of the header, of which all must be there: nothing says where the data is otherwise. */
static int read_rest(struct dat *dat, struct bytes_in *in)
{
	struct bytes_in text;
	int err = ftrace_systems_read(&dat->formats, dat->r, in);

	if (err)
		return err;
	text = bytes_sub(in, bytes_u32(in));
	dat->symbols.text = (const char *)text.at;
	dat->symbols.len = (size_t)bytes_left(&text);
	(void)bytes_sub(in, bytes_u32(in)); /* formats of trace_printk() */
	err = dat_cmdlines(dat, in);
	dat->nr_cpus = bytes_u32(in);
	if (!err && (in->is_bad || dat->nr_cpus > READER_CPUS_MAX))
		err = -EBADMSG;
	dat->r->info.nr_cpus_reported = err ? 0 : dat->nr_cpus;
	return err ? err : read_data(dat, in);
}

int dat_read_v6(struct dat *dat, struct bytes_in in, struct diag *d)
{
	int err = dat_header_info(dat, &in);

	if (!err)
		err = ftrace_formats_read(&dat->formats, dat->r, &in);
	if (!err)
		err = read_rest(dat, &in);
	if (err == -EBADMSG)
		return diag_set(d, err,
		                "was the recording interrupted, or the file not copied whole?",
		                "the header of '%s' is damaged or not complete", dat->in->name);
	return err;
}
