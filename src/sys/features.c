#include "sys/features.h"

#include <bpf/btf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

#define KERNEL(major, minor) ((uint32_t)((major) << 16 | (minor) << 8))
#define MAX_DEPTH            8 /* of anonymous structs inside each other, and of typedefs */

const char *const features_tracepoint_names[FEATURES_NR_TP] = {
#define X(name) [FEATURES_TP_##name] = #name,
	FEATURES_TRACEPOINTS(X)
#undef X
};

static const struct {
	const char *type;
	const char *member;
} fields[FEATURES_NR_FIELDS] = {
#define X(id, t, m) [FEATURES_##id] = { t, m },
	FEATURES_FIELDS(X)
#undef X
};

DEFINE_SCOPED(btf, btf__free)

static enum tri tri_of(bool is_yes)
{
	return is_yes ? TRI_YES : TRI_NO;
}

/* The path below the root; always terminated. */
static const char *below(const struct features_cfg *cfg, const char *path, char buf[PATH_MAX])
{
	snprintf(buf, PATH_MAX, "%s%s", cfg->root, path);
	return buf;
}

static bool exists(const struct features_cfg *cfg, const char *path)
{
	char buf[PATH_MAX];

	return access(below(cfg, path, buf), F_OK) == 0;
}

/* A small file without its line end, as a new string; NULL when it cannot be read. */
static char *slurp(const struct features_cfg *cfg, const char *path)
{
	char buf[PATH_MAX];
	char *text = NULL;

	if (text_read_file(below(cfg, path, buf), 4096, &text))
		return NULL;
	text_chomp(text);
	return text;
}

static uint32_t version_of(const char *release)
{
	unsigned int major, minor, patch = 0;

	if (sscanf(release, "%3u.%3u.%5u", &major, &minor, &patch) < 2 || major > 255 ||
	    minor > 255)
		return 0;
	return KERNEL(major, minor) | (patch > 255 ? 255 : patch);
}

static void probe_release(const struct features_cfg *cfg, struct features *f)
{
	SCOPED(scoped_free) char *release = slurp(cfg, "/proc/sys/kernel/osrelease");

	if (!release)
		return;
	text_printable(f->release, sizeof(f->release), release, strlen(release));
	f->version = version_of(release);
}

static const struct btf_type *skip_names(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	for (int i = 0; t && i < MAX_DEPTH && (btf_is_mod(t) || btf_is_typedef(t)); i++)
		t = btf__type_by_id(btf, t->type);
	return t;
}

static bool has_member(const struct btf *btf, const struct btf_type *t, const char *name, int depth)
{
	const struct btf_member *m;

	if (!t || !btf_is_composite(t) || depth > MAX_DEPTH)
		return false;
	m = btf_members(t);
	for (int i = 0; i < btf_vlen(t); i++, m++) {
		const char *found = btf__name_by_offset(btf, m->name_off);

		if (found && strcmp(found, name) == 0)
			return true;
		if (found && !*found &&
		    has_member(btf, btf__type_by_id(btf, m->type), name, depth + 1))
			return true;
	}
	return false;
}

static enum tri field_in(const struct btf *btf, const char *type, const char *member)
{
	__s32 id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);

	return tri_of(id > 0 && has_member(btf, btf__type_by_id(btf, (__u32)id), member, 0));
}

static const struct btf_type *tracepoint_proto(const struct btf *btf, const char *name)
{
	const struct btf_type *t;
	char typedef_name[64];
	__s32 id;

	snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, typedef_name, BTF_KIND_TYPEDEF);
	if (id <= 0)
		return NULL;
	t = skip_names(btf, (__u32)id);
	if (t && btf_is_ptr(t))
		t = skip_names(btf, t->type);
	return t && btf_is_func_proto(t) ? t : NULL;
}

static bool param_is_task(const struct btf *btf, const struct btf_param *p)
{
	const struct btf_type *t = skip_names(btf, p->type);

	return t && btf_is_ptr(t);
}

/* The first parameter is the tracepoint's own data; those of the event follow. */
static enum features_switch_args switch_args(const struct btf *btf)
{
	const struct btf_type *proto = tracepoint_proto(btf, "sched_switch");
	const struct btf_param *p;

	if (!proto || btf_vlen(proto) < 4)
		return SWITCH_ARGS_UNKNOWN;
	p = btf_params(proto) + 1;
	if (btf_vlen(proto) == 4)
		return param_is_task(btf, p + 1) && param_is_task(btf, p + 2) ? SWITCH_ARGS_NO_STATE
		                                                              : SWITCH_ARGS_UNKNOWN;
	if (!param_is_task(btf, p + 2))
		return SWITCH_ARGS_UNKNOWN;
	if (param_is_task(btf, p + 1))
		return param_is_task(btf, p + 3) ? SWITCH_ARGS_UNKNOWN : SWITCH_ARGS_STATE_LAST;
	return param_is_task(btf, p + 3) ? SWITCH_ARGS_STATE_2ND : SWITCH_ARGS_UNKNOWN;
}

static bool has_storage_allocator(const struct btf *btf)
{
	static const char *const members[] = { "selem_ma", "bpf_ma", "use_kmalloc_nolock" };

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (field_in(btf, "bpf_local_storage_map", members[i]) == TRI_YES)
			return true;
	return false;
}

static void probe_btf(const struct features_cfg *cfg, struct features *f)
{
	SCOPED(scoped_btf) struct btf *btf = NULL;
	char buf[PATH_MAX];
	const char *path = cfg->btf ? cfg->btf : below(cfg, "/sys/kernel/btf/vmlinux", buf);

	if (access(path, F_OK) != 0) {
		f->btf = TRI_NO;
		return;
	}
	btf = btf__parse_raw(path);
	if (!btf)
		return;
	f->btf = TRI_YES;
	f->switch_args = switch_args(btf);
	for (int i = 0; i < FEATURES_NR_TP; i++)
		f->tracepoints[i] = tri_of(tracepoint_proto(btf, features_tracepoint_names[i]));
	for (int i = 0; i < FEATURES_NR_FIELDS; i++)
		f->fields[i] = field_in(btf, fields[i].type, fields[i].member);
	f->sched_ext = tri_of(f->fields[FEATURES_TASK_SCX] == TRI_YES ||
	                      btf__find_by_name_kind(btf, "sched_ext_ops", BTF_KIND_STRUCT) > 0);
	if (has_storage_allocator(btf))
		f->task_storage_in_tracing = TRI_YES;
}

/* Where BTF is silent, tracefs and the release number know a little. */
static void probe_without_btf(const struct features_cfg *cfg, struct features *f)
{
	static const char events[] = "/sys/kernel/tracing/events/sched";
	char path[128];

	if (f->task_storage_in_tracing == TRI_UNKNOWN && f->version)
		f->task_storage_in_tracing = tri_of(f->version >= KERNEL(6, 4));
	if (f->btf == TRI_YES || !exists(cfg, events))
		return;
	for (int i = 0; i < FEATURES_NR_TP; i++) {
		snprintf(path, sizeof(path), "%s/%s", events, features_tracepoint_names[i]);
		f->tracepoints[i] = tri_of(exists(cfg, path));
	}
}

/* The chosen word is in brackets: "none [integrity] confidentiality". */
static void probe_lockdown(const struct features_cfg *cfg, struct features *f)
{
	SCOPED(scoped_free) char *text = slurp(cfg, "/sys/kernel/security/lockdown");

	if (text && strstr(text, "[none]"))
		f->lockdown = LOCKDOWN_NONE;
	else if (text && strstr(text, "[integrity]"))
		f->lockdown = LOCKDOWN_INTEGRITY;
	else if (text && strstr(text, "[confidentiality]"))
		f->lockdown = LOCKDOWN_CONFIDENTIALITY;
}

static void probe_rest(const struct features_cfg *cfg, struct features *f)
{
	SCOPED(scoped_free)
	char *unprivileged = slurp(cfg, "/proc/sys/kernel/unprivileged_bpf_disabled");

	if (unprivileged)
		f->unprivileged_bpf = tri_of(strcmp(unprivileged, "0") == 0);
	if (exists(cfg, "/sys/kernel/sched_ext"))
		f->sched_ext = TRI_YES;
	if (cfg->caps && f->version)
		f->bpf_stats = tri_of(f->version >= KERNEL(5, 8) &&
		                      caps_has(cfg->caps, CAP_SYS_ADMIN));
}

void features_probe(const struct features_cfg *cfg, struct features *out)
{
	struct features f = { 0 };

	probe_release(cfg, &f);
	probe_btf(cfg, &f);
	probe_without_btf(cfg, &f);
	probe_lockdown(cfg, &f);
	probe_rest(cfg, &f);
	*out = f;
}
