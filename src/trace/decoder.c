#include "trace/decoder.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

#define OTHERS_MAX 65536U

int decoder_init(struct decoder *dec, const struct reader *r)
{
	*dec = (struct decoder){ .r = r };
	dec->names = calloc(1, sizeof(*dec->names));
	dec->scratch = calloc(1, sizeof(*dec->scratch));
	dec->tally = calloc(1, sizeof(*dec->tally));
	if (!dec->names || !dec->scratch || !dec->tally)
		return -ENOMEM;
	return tally_init(dec->tally);
}

void decoder_done(struct decoder *dec)
{
	if (dec->scratch) {
		free(dec->scratch->bytes);
		free(dec->scratch->comms);
	}
	if (dec->tally)
		tally_done(dec->tally);
	free(dec->scratch);
	free(dec->tally);
	free(dec->names);
	*dec = (struct decoder){ 0 };
}

void decoder_run_begin(struct decoder *dec, uint32_t lane)
{
	dec->names->epoch++;
	rec_run_begin(dec->out, lane);
}

void decoder_run_end(struct decoder *dec)
{
	rec_run_end(dec->out);
}

void decoder_emit_name(struct decoder *dec, uint64_t ts_ns, uint32_t tid,
                       const struct comm_words *comm)
{
	struct name_slot *s = &dec->names->slots[tid % NAME_SLOTS];
	struct in_name *rec = rec_add(dec->out, IN_NAME, sizeof(*rec), 0, ts_ns);

	rec->tid = tid;
	rec->pad_ = 0;
	memcpy(rec->comm, comm, sizeof(rec->comm));
	*s = (struct name_slot){ .tid = tid,
		                 .epoch = dec->names->epoch,
		                 .comm = { comm->w[0], comm->w[1] } };
}

void decoder_name(struct decoder *dec, uint64_t ts_ns, uint32_t tid, const char *comm, size_t len)
{
	const uint8_t *s = (const uint8_t *)(comm ? comm : "");

	len = comm ? len : 0;
	decoder_see(dec, ts_ns, tid, comm_words_of(s, len, s + len));
}

uint32_t decoder_text(struct decoder *dec, const char *s, size_t len)
{
	/* The table of late texts is all that decoders change in the reader. */
	struct reader *r = (struct reader *)(uintptr_t)dec->r;
	uint32_t id = 0;
	int err;

	if (!len || intern_find(r->texts, s, len, &id))
		return id;
	(void)pthread_mutex_lock(&r->late_lock);
	err = intern_add(r->late_texts, s, len, &id);
	(void)pthread_mutex_unlock(&r->late_lock);
	return err ? 0 : intern_nr(r->texts) + id;
}

const char *reader_text(const struct reader *r, uint32_t text, size_t *len)
{
	uint32_t nr = intern_nr(r->texts);
	const char *s = text < nr ? intern_string(r->texts, text, len)
	                          : intern_string(r->late_texts, text - nr, len);

	if (s)
		return s;
	*len = 0;
	return "";
}

int tally_init(struct read_counts *t)
{
	t->min_ts_ns = UINT64_MAX;
	if (map_new(sizeof(uint32_t), OTHERS_MAX, &t->generic_ids) < 0)
		return -ENOMEM;
	return map_new(sizeof(uint64_t), OTHERS_MAX, &t->others);
}

void tally_done(struct read_counts *t)
{
	map_free(t->others);
	free(t->other);
	free(t->categories.counts);
	free(t->generic.counts);
	free(t->symbols.counts);
	map_free(t->generic_ids);
	free(t->cpus);
	*t = (struct read_counts){ 0 };
}

static void add_other(struct read_counts *t, bool is_event, uint32_t number, uint64_t count)
{
	uint64_t key = (uint64_t)is_event << 32 | number;
	uint32_t at;

	if (!map_find(t->others, &key, &at)) {
		if (GROW(t->other, t->cap_other, t->nr_other) ||
		    map_insert(t->others, &key, (uint32_t)t->nr_other) < 0)
			return;
		at = (uint32_t)t->nr_other++;
		t->other[at] = (struct trace_unknown){ .is_event = is_event, .number = number };
	}
	t->other[at].count += count;
}

void tally_other(struct read_counts *t, bool is_event, uint32_t number)
{
	add_other(t, is_event, number, 1);
}

static bool ensure_cpus(struct read_counts *t, uint32_t cpu)
{
	return !GROW_ZEROED(t->cpus, t->nr_cpus, cpu);
}

void tally_cpu(struct read_counts *t, const struct trace_cpu_info *more)
{
	struct trace_cpu_info *c;

	if (!more->nr_events || more->cpu >= READER_CPUS_MAX || !ensure_cpus(t, more->cpu))
		return;
	c = &t->cpus[more->cpu];
	if (!c->nr_events || more->first_ts_ns < c->first_ts_ns)
		c->first_ts_ns = more->first_ts_ns;
	if (more->last_ts_ns > c->last_ts_ns)
		c->last_ts_ns = more->last_ts_ns;
	c->cpu = more->cpu;
	c->nr_events += more->nr_events;
	c->nr_losses += more->nr_losses;
	c->nr_lost += more->nr_lost;
}

static void add_texts(struct text_counts *to, const struct text_counts *from)
{
	for (size_t i = 0; i < from->nr; i++)
		if (from->counts[i])
			tally_text(to, (uint32_t)i, from->counts[i]);
}

void tally_add(struct read_counts *to, const struct read_counts *from)
{
	for (int i = 0; i < NR_DAMAGE; i++)
		to->damage[i] += from->damage[i];
	for (int i = 0; i < NR_TOTALS; i++)
		to->totals[i] += from->totals[i];
	for (uint32_t i = 0; i < FTRACE_KNOWN; i++)
		to->ftrace[i] += from->ftrace[i];
	for (size_t i = 0; i < from->nr_other; i++)
		add_other(to, from->other[i].is_event, from->other[i].number, from->other[i].count);
	add_texts(&to->categories, &from->categories);
	add_texts(&to->generic, &from->generic);
	add_texts(&to->symbols, &from->symbols);
	for (size_t i = 0; i < from->nr_cpus; i++)
		tally_cpu(to, &from->cpus[i]);
	if (from->min_ts_ns < to->min_ts_ns)
		to->min_ts_ns = from->min_ts_ns;
	if (from->max_ts_ns > to->max_ts_ns)
		to->max_ts_ns = from->max_ts_ns;
	if (from->valid_from_ns > to->valid_from_ns)
		to->valid_from_ns = from->valid_from_ns;
}

void tally_text(struct text_counts *t, uint32_t text, uint64_t count)
{
	if (!GROW_ZEROED(t->counts, t->nr, text))
		t->counts[text] += count;
}
