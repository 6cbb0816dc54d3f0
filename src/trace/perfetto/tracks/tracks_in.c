#include "trace/perfetto/tracks/tracks_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define FLOWS_MAX    (1U << 28)
#define CPUS_MAX     (1U << 17)
#define TIDS_MAX     (1U << 24)
#define NAMES_CAP    (64U << 20)
#define PROBES_MAX   65536U
#define PROBES_BYTES (16U << 20)

int tracks_new(struct reader *r)
{
	struct tracks *t = calloc(1, sizeof(*t));
	int err = t ? 0 : -ENOMEM;

	r->tracks = t;
	if (t)
		t->free_open = TRACK_NONE;
	if (!err)
		err = track_descs_new(&t->descs);
	if (!err)
		err = map_new(sizeof(uint64_t), FLOWS_MAX, &t->flow_ids);
	if (!err)
		err = map_new(sizeof(uint32_t), CPUS_MAX, &t->cpu_ids);
	if (!err)
		err = map_new(sizeof(uint32_t), TIDS_MAX, &t->last_cpus);
	if (!err)
		err = map_new(2 * sizeof(uint32_t), MAP_MAX_CAP, &t->open_tops);
	if (!err)
		err = map_new(sizeof(uint32_t), TIDS_MAX, &t->generic);
	if (!err)
		err = map_new(sizeof(uint32_t), TIDS_MAX, &t->lives);
	if (!err)
		err = track_stacks_new(&t->stacks);
	if (!err && !(t->names = intern_new(TIDS_MAX, NAMES_CAP)))
		err = -ENOMEM;
	if (!err && !(t->probes = intern_new(PROBES_MAX, PROBES_BYTES)))
		err = -ENOMEM;
	return err;
}

void tracks_free(struct tracks *t)
{
	if (!t)
		return;
	track_descs_free(t->descs);
	track_stacks_free(t->stacks);
	map_free(t->flow_ids);
	map_free(t->cpu_ids);
	map_free(t->last_cpus);
	map_free(t->open_tops);
	map_free(t->generic);
	map_free(t->lives);
	intern_free(t->names);
	intern_free(t->probes);
	free(t->keys);
	free(t->categories);
	free(t->rows);
	free(t->flows);
	free(t->cpus);
	free(t->opens);
	free(t->name_of);
	free(t->name_tops);
	free(t->group.switches);
	free(t->group.runs);
	free(t->group.leaves);
	free(t->group.begun);
	free(t->group.cpus);
	free(t);
}

int track_live(struct tracks *t, uint32_t tid, uint32_t set, uint32_t clear)
{
	uint32_t life = 0;

	if (!tid || tid == TRACK_NONE)
		return 0;
	(void)map_find(t->lives, &tid, &life);
	return map_insert(t->lives, &tid, (life & ~clear) | set) == -ENOMEM ? -ENOMEM : 0;
}

static bool has_name(const struct tracks *t, uint32_t id, uint32_t tid)
{
	uint32_t at = t->name_tops[id];

	for (unsigned int i = 0; at != TRACK_NONE && i < TRACK_NAMESAKES; i++) {
		if (t->name_of[at].tid == tid)
			return true;
		at = t->name_of[at].below;
	}
	return false;
}

static int add_name(struct tracks *t, struct track_text name, uint32_t tid)
{
	uint32_t id;
	int err;

	if (!name.s || !name.len)
		return 0;
	err = intern_add(t->names, name.s, name.len, &id);
	if (err)
		return err == -E2BIG ? 0 : err;
	while (t->nr_name_tops <= id) {
		if (GROW(t->name_tops, t->cap_name_tops, t->nr_name_tops))
			return -ENOMEM;
		t->name_tops[t->nr_name_tops++] = TRACK_NONE;
	}
	if (has_name(t, id, tid))
		return 0;
	if (GROW(t->name_of, t->cap_name_of, t->nr_name_of))
		return -ENOMEM;
	t->name_of[t->nr_name_of] = (struct track_name_of){ .tid = tid, .below = t->name_tops[id] };
	t->name_tops[id] = (uint32_t)t->nr_name_of++;
	return 0;
}

int tracks_descriptor(struct reader *r, struct pb_in body, uint64_t raw_ts)
{
	struct track_described desc;
	int err = track_descs_add(r->tracks->descs, body, &desc);

	(void)raw_ts;
	if (!err && desc.is_thread && desc.pid != WPROF_PID_IDLE)
		err = add_name(r->tracks, desc.name, desc.tid);
	if (err == -EINVAL)
		r->tally.damage[DAMAGE_DESC_NO_UUID]++;
	else if (err == -E2BIG)
		r->tally.damage[DAMAGE_OVER_CAP]++;
	return err == -ENOMEM ? err : 0;
}

struct track_flow *track_flow_get(struct tracks *t, uint64_t id, bool is_new)
{
	uint32_t index;

	if (map_find(t->flow_ids, &id, &index))
		return &t->flows[index];
	if (!is_new || GROW(t->flows, t->cap_flows, t->nr_flows) ||
	    map_insert(t->flow_ids, &id, (uint32_t)t->nr_flows) < 0)
		return NULL;
	t->flows[t->nr_flows] =
		(struct track_flow){ .wakee = TRACK_NONE, .child = TRACK_NONE, .begin = FLOW_NONE };
	return &t->flows[t->nr_flows++];
}
