#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "trace/decoder.h"
#include "trace/perfetto/tracks/schema_tracks.h"
#include "trace/perfetto/tracks/tracks_in.h"

#define TRACKS_LANE UINT32_MAX /* no CPU has this number */

/* What becomes of the events of a category; those without an entry are only counted. */
static void (*const handlers[CATEGORY_MAX])(struct track_at *at) = {
	[CATEGORY_ONCPU] = track_oncpu,
	[CATEGORY_WAKER] = track_waker,
	[CATEGORY_WAKER_NEW] = track_waker,
	[CATEGORY_WAKEE] = track_wakee,
	[CATEGORY_WAKEE_NEW] = track_wakee,
	[CATEGORY_WAKEE_UNKNOWN] = track_wakee,
	[CATEGORY_TIMER] = track_timer,
	[CATEGORY_PMU] = track_pmu,
	[CATEGORY_FORKING] = track_forking,
	[CATEGORY_FORKED] = track_forked,
	[CATEGORY_EXEC] = track_exec,
	[CATEGORY_RENAME] = track_rename,
	[CATEGORY_EXIT] = track_exit,
	[CATEGORY_affinity] = track_affinity,
	[CATEGORY_FREE] = track_free,
	[CATEGORY_HARDIRQ] = track_hardirq,
	[CATEGORY_SOFTIRQ] = track_softirq,
	[CATEGORY_WQ] = track_work,
	[CATEGORY_IPI] = track_ipi,
	[CATEGORY_IPI_SEND] = track_ipi_send,
	[CATEGORY_SCX_DSQ] = track_dsq,
	[CATEGORY_scx] = track_scx,
	[CATEGORY_REQUEST] = track_request,
	[CATEGORY_REQUEST_THREAD] = track_request,
	[CATEGORY_REQUEST_ONCPU] = track_request,
	[CATEGORY_REQUEST_OFFCPU] = track_request,
	[CATEGORY_span] = track_span,
	[CATEGORY_kprobe] = track_probe,
	[CATEGORY_uprobe] = track_probe,
	[CATEGORY_uretprobe] = track_probe,
	[CATEGORY_tracepoint] = track_probe,
	[CATEGORY_probe] = track_probe,
};

void *track_rec(struct track_at *at, uint8_t kind, size_t size, uint32_t cpu, uint64_t ts_ns)
{
	struct ev_hdr *rec = rec_add(at->dec->out, kind, (uint32_t)size, cpu, ts_ns);

	memset(rec + 1, 0, size - sizeof(*rec));
	return rec;
}

void track_comm(char *dst, size_t size, struct track_text text)
{
	memset(dst, 0, size);
	if (text.s)
		memcpy(dst, text.s, text.len < size ? text.len : size - 1);
}

void track_damage(struct track_at *at, enum damage what)
{
	at->dec->tally->damage[what]++;
}

static bool is_alive(const struct tracks *t, uint32_t tid)
{
	uint32_t life;

	if (!map_find(t->lives, &tid, &life))
		return true;
	return !(life & LIFE_IS_OVER) && (!(life & LIFE_HAS_BIRTH) || life & LIFE_IS_BORN);
}

static bool only_one_alive(const struct tracks *t, uint32_t name, uint32_t *tid)
{
	uint32_t at = t->name_tops[name], found = 0;
	unsigned int nr = 0;

	for (unsigned int i = 0; at != TRACK_NONE && i < TRACK_NAMESAKES; i++) {
		if (is_alive(t, t->name_of[at].tid)) {
			found = t->name_of[at].tid;
			nr++;
		}
		at = t->name_of[at].below;
	}
	if (nr != 1 || at != TRACK_NONE)
		return false;
	*tid = found;
	return true;
}

/* Descriptors have no bytes that are not UTF-8, annotations do. */
static struct track_text as_utf8(struct track_text name, char *buf, size_t size)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t len = 0, at = 0, step;
	const char *s;
	uint32_t c;

	while (at < name.len) {
		step = utf8_next(name.s + at, name.len - at, &c);
		s = c == UTF8_INVALID ? replacement : name.s + at;
		at += step;
		step = c == UTF8_INVALID ? sizeof(replacement) - 1 : step;
		if (len + step > size)
			break;
		memcpy(buf + len, s, step);
		len += step;
	}
	return (struct track_text){ .s = buf, .len = len };
}

bool track_tid_by_name(struct track_at *at, struct track_text name, uint32_t *tid)
{
	char buf[4 * EV_COMM_LEN];
	uint32_t id;

	if (!name.s || !name.len)
		return false;
	if (!intern_find(at->t->names, name.s, name.len, &id)) {
		name = as_utf8(name, buf, sizeof(buf));
		if (!intern_find(at->t->names, name.s, name.len, &id))
			return false;
	}
	return id < at->t->nr_name_tops && only_one_alive(at->t, id, tid);
}

static int compare_rows(const void *a, const void *b)
{
	const struct track_row *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static bool is_sorted(const struct tracks *t)
{
	for (size_t i = 1; i < t->nr_rows; i++)
		if (t->rows[i].ts_ns < t->rows[i - 1].ts_ns)
			return false;
	return true;
}

/* The CPU and task of the event, from the track and the annotation. */
static void locate(struct track_at *at, const struct track_row *row)
{
	bool is_idle;

	at->track_idx = row->track;
	at->track = track_descs_get(at->t->descs, row->track);
	is_idle = at->track->flags & TRACK_IS_IDLE;
	at->tid = is_idle || at->track->owner == TRACK_NONE ? 0 : at->track->owner;
	at->tgid = at->track->owner_tgid;
	at->cpu = track_arg_u32(&at->e, KEY_CPU, TRACK_NONE);
	if (at->cpu == TRACK_NONE && is_idle)
		at->cpu = at->track->owner;
	at->has_cpu = at->cpu < READER_CPUS_MAX;
	if (at->has_cpu)
		return;
	if (at->cpu != TRACK_NONE)
		track_damage(at, DAMAGE_BAD_CPU);
	at->cpu = 0;
}

static void settle_event(struct track_at *at, const struct track_row *row)
{
	const struct packet *pk = at->packet;

	if (row->category == CATEGORY_OTHER && row->type != TRACK_TYPE_COUNTER && !row->has_extras)
		return;
	at->strings = (struct track_strings_at){ .r = at->r, .state = pk->state };
	track_event_read(&at->e, pb_in_of(pk->body, pk->len), track_strings_of(&at->strings));
	locate(at, row);
	at->category = row->category;
	if (row->type == TRACK_TYPE_COUNTER)
		track_counter(at);
	else if (handlers[row->category])
		handlers[row->category](at);
	if (row->has_extras)
		track_extra_counters(at);
}

static void settle_row(struct track_at *at, const struct track_row *row)
{
	at->packet = &at->r->packets[row->packet];
	at->ts_ns = row->ts_ns;
	at->prio = TRACK_PRIO;
	switch (at->packet->kind) {
	case PAYLOAD_TRACK_EVENT:
		settle_event(at, row);
		break;
	case PAYLOAD_PERF_SAMPLE:
		track_perf_sample(at);
		break;
	case PAYLOAD_TASK_STATE:
		track_task_state(at);
		break;
	case PAYLOAD_TASK_RENAME:
		track_task_rename(at);
		break;
	case PAYLOAD_CPU_FREQ:
		track_cpu_freq(at);
		break;
	default:
		break;
	}
}

static void report_cpus(struct track_at *at)
{
	for (size_t i = 0; i < at->t->nr_cpus; i++) {
		const struct track_cpu *c = &at->t->cpus[i];
		const struct trace_cpu_info info = { .cpu = c->cpu,
			                             .nr_events = c->nr_events,
			                             .first_ts_ns = c->first_ts_ns,
			                             .last_ts_ns = c->last_ts_ns };

		tally_cpu(at->dec->tally, &info);
	}
}

int tracks_settle(struct reader *r, struct decoder *dec)
{
	struct tracks *t = r->tracks;
	struct track_at *at;
	int err;

	if (!t->nr_rows)
		return 0;
	at = calloc(1, sizeof(*at));
	if (!at)
		return -ENOMEM;
	*at = (struct track_at){ .r = r, .t = t, .dec = dec };
	if (!is_sorted(t))
		qsort(t->rows, t->nr_rows, sizeof(*t->rows), compare_rows);
	t->first_ts_ns = t->rows[0].ts_ns;
	decoder_run_begin(dec, TRACKS_LANE);
	for (size_t i = 0; i < t->nr_rows && !at->err; i++) {
		settle_row(at, &t->rows[i]);
		if (i + 1 == t->nr_rows || t->rows[i + 1].ts_ns != t->rows[i].ts_ns)
			track_group_end(at);
	}
	decoder_run_end(dec);
	report_cpus(at);
	err = at->err ? at->err : dec->out->err;
	free(at);
	return err;
}
