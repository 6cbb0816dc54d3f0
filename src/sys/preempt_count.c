#include "sys/preempt_count.h"

#include <bpf/btf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/rights/broker.h"

#define PCPU_HOT_COUNT 8 /* where kallsyms alone is known: behind the pointer to the current task */
#define MAX_DEPTH      4 /* of anonymous members in each other */

static const char *name_of(const struct btf *btf, const struct btf_type *t)
{
	const char *name = t ? btf__name_by_offset(btf, t->name_off) : NULL;

	return name ? name : "";
}

static const struct btf_type *bare(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	for (int i = 0; t && i < MAX_DEPTH && (btf_is_mod(t) || btf_is_typedef(t)); i++)
		t = btf__type_by_id(btf, t->type);
	return t;
}

/* Its place in bytes, through members without a name; false if there is none. */
static bool find_member(const struct btf *btf, const struct btf_type *t, const char *name,
                        int depth, uint64_t *out)
{
	const struct btf_member *m;

	if (!t || !btf_is_composite(t) || depth > MAX_DEPTH)
		return false;
	m = btf_members(t);
	for (__u32 i = 0; i < btf_vlen(t); i++, m++) {
		uint64_t at = btf_member_bit_offset(t, i) / 8, inner;
		const char *found = btf__name_by_offset(btf, m->name_off);

		if (found && strcmp(found, name) == 0) {
			*out = at;
			return true;
		}
		if (found && !*found &&
		    find_member(btf, bare(btf, m->type), name, depth + 1, &inner)) {
			*out = at + inner;
			return true;
		}
	}
	return false;
}

static const struct btf_type *find_struct(const struct btf *btf, const char *name)
{
	__s32 id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	return id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;
}

static bool has_member(const struct btf *btf, const char *type, const char *member)
{
	uint64_t unused;

	return find_member(btf, find_struct(btf, type), member, 0, &unused);
}

/* A variable of each CPU: its type and its place in a CPU's area. */
static const struct btf_type *find_per_cpu(const struct btf *btf, const char *name, uint64_t *out)
{
	__s32 id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *sec = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;
	const struct btf_var_secinfo *v = sec ? btf_var_secinfos(sec) : NULL;

	for (__u32 i = 0; sec && i < btf_vlen(sec); i++, v++) {
		const struct btf_type *var = btf__type_by_id(btf, v->type);

		if (!var || !btf_is_var(var) || strcmp(name_of(btf, var), name) != 0)
			continue;
		*out = v->offset;
		return bare(btf, var->type);
	}
	return NULL;
}

static bool find_in_area(const struct btf *btf, uint64_t *out)
{
	const struct btf_type *hot;
	uint64_t queues, count, member;

	if (!find_per_cpu(btf, "runqueues", &queues) ||
	    !has_member(btf, "sched_entity", "cfs_rq") || !has_member(btf, "cfs_rq", "rq"))
		return false;
	if (find_per_cpu(btf, "__preempt_count", &count)) {
		*out = count - queues;
		return true;
	}
	hot = find_per_cpu(btf, "pcpu_hot", &count);
	if (!find_member(btf, hot, "preempt_count", 0, &member))
		return false;
	*out = count + member - queues;
	return true;
}

static bool find_by_name(const char *kallsyms, struct preempt_count *out)
{
	int fd = broker_open(kallsyms);
	SCOPED(scoped_fclose) FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	bool has_offsets = false, has_count = false;
	char line[256];

	if (fd >= 0 && !file)
		close(fd);
	while (file && !(has_offsets && has_count) && fgets(line, sizeof(line), file)) {
		uint64_t address;
		char name[64];

		if (sscanf(line, "%" SCNx64 " %*c %63s", &address, name) != 2)
			continue;
		if (strcmp(name, "__per_cpu_offset") == 0) {
			has_offsets = address != 0; /* hidden ones are 0 */
			out->offsets = address;
		} else if (strcmp(name, "__preempt_count") == 0) {
			has_count = true;
			out->address = address;
		} else if (strcmp(name, "pcpu_hot") == 0) {
			has_count = true;
			out->address = address + PCPU_HOT_COUNT;
		}
	}
	/* Addresses of variables of CPUs may well begin at 0, but none of them is one of ours. */
	return has_offsets && has_count && out->address;
}

void preempt_count_find(const struct btf *vmlinux, const char *kallsyms, struct preempt_count *out)
{
	*out = (struct preempt_count){ 0 };
	if (has_member(vmlinux, "thread_info", "preempt_count"))
		out->place = PREEMPT_COUNT_TASK;
	else if (find_in_area(vmlinux, &out->address))
		out->place = PREEMPT_COUNT_QUEUE;
	else if (kallsyms && find_by_name(kallsyms, out))
		out->place = PREEMPT_COUNT_OFFSETS;
	else
		*out = (struct preempt_count){ 0 };
}
