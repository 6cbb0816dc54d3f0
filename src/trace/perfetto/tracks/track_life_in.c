#include <errno.h>
#include <string.h>

#include "trace/perfetto/tracks/tracks_in.h"

#define MAX_CPUS 8192U

static void comm_of(char comm[EV_COMM_LEN], const struct track_in *track)
{
	struct track_text name = track->thread_name.s ? track->thread_name : track->name;

	track_comm(comm, EV_COMM_LEN, name);
}

static const struct track_in *child_of(struct track_at *at)
{
	const struct track_flow *flow;

	for (uint32_t i = 0; i < at->e.nr_flows; i++) {
		flow = track_flow_get(at->t, at->e.flows[i], false);
		if (flow && flow->child != TRACK_NONE)
			return track_descs_get(at->t->descs, flow->child);
	}
	return NULL;
}

static void put_fork(struct track_at *at, const struct ev_fork *fork)
{
	struct ev_fork *rec;

	if (fork->parent_tid)
		decoder_name(at->dec, at->ts_ns, fork->parent_tid, NULL, 0);
	rec = track_rec(at, EV_FORK, sizeof(*rec), at->cpu, at->ts_ns);
	memcpy(&rec->parent_tid, &fork->parent_tid, sizeof(*rec) - sizeof(rec->hdr));
}

/* The child is at the other end of the flow, or given by number. */
void track_forking(struct track_at *at)
{
	const struct track_in *child = child_of(at);
	struct ev_fork fork = { .parent_tid = at->tid, .parent_tgid = at->tgid };
	struct track_text name = { 0 };

	if (child && !(child->flags & TRACK_IS_IDLE) && child->owner != TRACK_NONE) {
		fork.tid = child->owner;
		fork.tgid = child->owner_tgid;
	} else {
		fork.tid = track_arg_u32(&at->e, KEY_FORKED_INTO_TID, 0);
		fork.tgid = track_arg_u32(&at->e, KEY_FORKED_INTO_PID, fork.tid);
	}
	if (!fork.tid) {
		track_damage(at, DAMAGE_FLOW_NO_START);
		return;
	}
	if (track_arg_text(&at->e, KEY_FORKED_INTO, &name))
		track_comm(fork.comm, sizeof(fork.comm), name);
	else if (child)
		comm_of(fork.comm, child);
	put_fork(at, &fork);
}

/* Only where the parent has no event of its own. */
void track_forked(struct track_at *at)
{
	const struct track_flow *flow = NULL;
	struct ev_fork fork = { .tid = at->tid, .tgid = at->tgid };

	if (at->e.nr_flows)
		flow = track_flow_get(at->t, at->e.flows[0], false);
	if (track_live(at->t, at->tid, LIFE_IS_BORN, LIFE_IS_OVER) < 0)
		at->err = -ENOMEM;
	if (!at->tid || (flow && flow->has_parent))
		return;
	fork.parent_tid = track_arg_u32(&at->e, KEY_FORKED_FROM_TID, 0);
	fork.parent_tgid = track_arg_u32(&at->e, KEY_FORKED_FROM_PID, 0);
	comm_of(fork.comm, at->track);
	put_fork(at, &fork);
}

/* The kernel calls a program by the last part of its path. */
static struct track_text base_name(struct track_text path)
{
	for (size_t i = path.len; i > 0; i--)
		if (path.s[i - 1] == '/')
			return (struct track_text){ .s = path.s + i, .len = path.len - i };
	return path;
}

void track_exec(struct track_at *at)
{
	struct track_text file = { 0 };
	struct ev_exec *rec;

	if (!at->tid)
		return;
	decoder_name(at->dec, at->ts_ns, at->tid, NULL, 0);
	(void)track_arg_text(&at->e, KEY_FILENAME, &file);
	rec = track_rec(at, EV_EXEC, sizeof(*rec), at->cpu, at->ts_ns);
	rec->tid = at->tid;
	rec->old_tid = track_arg_u32(&at->e, KEY_TID_CHANGED_FROM, at->tid);
	if (file.s)
		track_comm(rec->comm, sizeof(rec->comm), base_name(file));
}

void track_rename(struct track_at *at)
{
	struct track_text old_name = { 0 }, new_name;
	struct ev_rename *rec;

	if (!at->tid || !track_arg_text(&at->e, KEY_NEW_NAME, &new_name))
		return;
	(void)track_arg_text(&at->e, KEY_OLD_NAME, &old_name);
	decoder_name(at->dec, at->ts_ns, at->tid, NULL, 0);
	rec = track_rec(at, EV_RENAME, sizeof(*rec), at->cpu, at->ts_ns);
	rec->tid = at->tid;
	rec->tgid = at->tgid;
	track_comm(rec->old_comm, sizeof(rec->old_comm), old_name);
	track_comm(rec->comm, sizeof(rec->comm), new_name);
}

void track_exit(struct track_at *at)
{
	struct ev_exit *rec;

	if (!at->tid)
		return;
	decoder_name(at->dec, at->ts_ns, at->tid, NULL, 0);
	rec = track_rec(at, EV_EXIT, sizeof(*rec), at->cpu, at->ts_ns);
	rec->tid = at->tid;
	rec->tgid = at->tgid;
	rec->prio = TRACK_PRIO; /* the track has the first name, the merge knows the last one */
}

void track_free(struct track_at *at)
{
	struct ev_free *rec;

	if (!at->tid)
		return;
	if (track_live(at->t, at->tid, LIFE_IS_OVER, 0) < 0)
		at->err = -ENOMEM;
	decoder_name(at->dec, at->ts_ns, at->tid, NULL, 0);
	rec = track_rec(at, EV_FREE, sizeof(*rec), at->cpu, at->ts_ns);
	rec->tid = at->tid;
	rec->prio = TRACK_PRIO;
	comm_of(rec->comm, at->track);
}

/*
 * Digits at the front of a text, which is cut by them. False without one, or for a CPU number out
 * of range.
 */
static bool take_cpu(struct track_text *text, uint32_t *out)
{
	uint32_t cpu = 0;
	size_t at = 0;

	for (; at < text->len && text->s[at] >= '0' && text->s[at] <= '9' && cpu < MAX_CPUS; at++)
		cpu = cpu * 10 + (uint32_t)(text->s[at] - '0');
	text->s += at;
	text->len -= at;
	*out = cpu;
	return at > 0 && cpu < MAX_CPUS;
}

/* Whether the text continues with that character, which is skipped. */
static bool take_sign(struct track_text *text, char sign)
{
	if (!text->len || text->s[0] != sign)
		return false;
	text->s++;
	text->len--;
	return true;
}

/* The kernel's notation, "0-3,8", as bits; how many words they take, 0 for any other text. */
static uint16_t take_cpus(struct track_text text, uint64_t words[MAX_CPUS / 64])
{
	uint32_t first, last, most = 0;

	do {
		if (!take_cpu(&text, &first))
			return 0;
		last = first;
		if (take_sign(&text, '-') && (!take_cpu(&text, &last) || last < first))
			return 0;
		for (uint32_t cpu = first; cpu <= last; cpu++)
			words[cpu / 64] |= 1ULL << cpu % 64;
		most = last > most ? last : most;
	} while (take_sign(&text, ','));
	return text.len ? 0 : (uint16_t)(most / 64 + 1);
}

/* Our own instants; of recorders that have none, nothing is known. */
void track_affinity(struct track_at *at)
{
	uint64_t words[MAX_CPUS / 64] = { 0 };
	struct ev_affinity *rec;
	struct track_text cpus;
	uint16_t nr;

	if (!at->tid || !track_arg_text(&at->e, KEY_CPUS_ALLOWED, &cpus))
		return;
	nr = take_cpus(cpus, words);
	if (!nr)
		return;
	rec = track_rec(at, EV_AFFINITY, sizeof(*rec) + nr * sizeof(words[0]), 0, at->ts_ns);
	rec->tid = at->tid;
	rec->nr = nr;
	memcpy(rec + 1, words, nr * sizeof(words[0]));
}
