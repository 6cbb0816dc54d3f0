#include "abi/event_check.h"

#include <stdint.h>

#include "abi/call.h"

struct kind {
	const char *name;
	uint16_t fixed_size;
};

#define LAST(type, field) (offsetof(struct type, field) + sizeof(((struct type *)0)->field) - 1)

static const struct kind kinds[EV_KIND_MAX] = {
#define X(name_, nr, type, what) [nr] = { .name = #name_, .fixed_size = sizeof(struct type) },
	EV_KINDS(X)
#undef X
};

/* Offset of the last byte of each text in a record; 0 = no text. */
static const uint16_t texts[EV_KIND_MAX][2] = {
	[EV_FORK] = { LAST(ev_fork, comm) },
	[EV_EXEC] = { LAST(ev_exec, comm) },
	[EV_EXIT] = { LAST(ev_exit, comm) },
	[EV_RENAME] = { LAST(ev_rename, old_comm), LAST(ev_rename, comm) },
	[EV_FREE] = { LAST(ev_free, comm) },
	[EV_HANG] = { LAST(ev_task, comm) },
	[EV_WAIT] = { LAST(ev_task, comm) },
	[EV_IRQ_ENTRY] = { LAST(ev_irq_entry, name) },
	[EV_IPI_ENTRY] = { LAST(ev_ipi, reason) },
	[EV_IPI_EXIT] = { LAST(ev_ipi, reason) },
	[EV_SCX_STATE] = { LAST(ev_scx_state, name), LAST(ev_scx_state, message) },
	[EV_BLOCK] = { LAST(ev_block, rwbs) },
	[EV_NET] = { LAST(ev_net, name) },
	[EV_SUSPEND] = { LAST(ev_suspend, action) },
	[EV_SCX_COUNTER] = { LAST(ev_scx_counter, name) },
	[EV_COUNTER] = { LAST(ev_counter, name) },
	[EV_TASK_INFO] = { LAST(ev_task_info, comm) },
};

size_t ev_fixed_size(unsigned int kind)
{
	return kind < EV_KIND_MAX ? kinds[kind].fixed_size : 0;
}

const char *ev_kind_name(unsigned int kind)
{
	return kind < EV_KIND_MAX ? kinds[kind].name : NULL;
}

const char *ev_scx_reason(unsigned int exit_kind)
{
	static const struct {
		unsigned int kind;
		const char *reason;
	} reasons[] = {
		{ EV_SCX_EXIT_UNREG, "unregistered from user space" },
		{ 65, "unregistered from BPF" },
		{ 66, "unregistered from the main kernel" },
		{ 67, "disabled by sysrq-S" },
		{ 68, "parent exiting" },
		{ EV_SCX_EXIT_ERROR, "runtime error" },
		{ 1025, "scx_bpf_error" },
		{ 1026, "runnable task stall" },
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].kind == exit_kind)
			return reasons[i].reason;
	return NULL;
}

const char *ev_call_name(unsigned int call)
{
	static const char *const names[ABI_CALL_MAX] = {
#define X(nr, name) [nr] = #name,
		ABI_CALLS_COMMON(X) ABI_CALLS_LEGACY(X)
#undef X
	};

	return call < ABI_CALL_MAX ? names[call] : NULL;
}

const char *ev_policy_name(unsigned int policy)
{
	static const char *const names[ABI_POLICIES] = {
		[ABI_POLICY_NORMAL] = "NORMAL", [ABI_POLICY_FIFO] = "FIFO",
		[ABI_POLICY_RR] = "RR",         [ABI_POLICY_BATCH] = "BATCH",
		[ABI_POLICY_IDLE] = "IDLE",     [ABI_POLICY_DEADLINE] = "DEADLINE",
		[ABI_POLICY_EXT] = "EXT",
	};

	return policy < ABI_POLICIES ? names[policy] : NULL;
}

const char *ev_lock_name(unsigned int type)
{
	if (type & EV_LOCK_MUTEX)
		return "mutex";
	if (type & EV_LOCK_RT)
		return "rt_mutex";
	if (type & EV_LOCK_PERCPU)
		return "percpu_rwsem";
	if (type & (EV_LOCK_READ | EV_LOCK_WRITE))
		return type & EV_LOCK_SPIN ? "rwlock" : "rwsem";
	return type & EV_LOCK_SPIN ? "spinlock" : "semaphore";
}

/* A letter of a name as our names have it; names are ASCII in every locale. */
static char folded(char c)
{
	if (c == '-')
		return '_';
	return (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}

static bool is_same_name(const char *name, const char *given)
{
	while (*name && *name == folded(*given)) {
		name++;
		given++;
	}
	return *name == *given;
}

unsigned int ev_kind_by_name(const char *name)
{
	for (unsigned int kind = 0; kind < EV_KIND_MAX; kind++)
		if (kinds[kind].name && is_same_name(kinds[kind].name, name))
			return kind;
	return 0;
}

/* Whether the bytes after the fixed part are as many as it says. */
static bool check_rest(const struct ev_hdr *rec, size_t rest)
{
	const struct ev_sample *sample = (const void *)rec;
	const struct ev_pmu *pmu = (const void *)rec;
	const struct ev_affinity *affinity = (const void *)rec;
	const char *text = (const char *)rec;

	switch (rec->kind) {
	case EV_SAMPLE:
		return rest == ((size_t)sample->nr_kernel + sample->nr_user) * sizeof(__u64);
	case EV_PMU:
		return rest == (uint64_t)pmu->nr * sizeof(__u64);
	case EV_AFFINITY:
		return rest == affinity->nr * sizeof(__u64);
	case EV_PROBE_INFO: /* a name of at least one byte, and a NUL behind it */
		return rest > 0 && text[rec->size - rest] != '\0' && text[rec->size - 1] == '\0';
	case EV_STRING:
	case EV_CGROUP_INFO:
		return rest > 0 && text[rec->size - 1] == '\0';
	default:
		return rest == 0;
	}
}

bool ev_check(const void *rec, size_t len)
{
	const struct ev_hdr *hdr = rec;
	const char *bytes = rec;
	size_t fixed;

	if (len < sizeof(*hdr))
		return false;
	fixed = ev_fixed_size(hdr->kind);
	if (!fixed || hdr->size < fixed || hdr->size > len || hdr->size % 8)
		return false;
	for (int i = 0; i < 2; i++)
		if (texts[hdr->kind][i] && bytes[texts[hdr->kind][i]] != '\0')
			return false;
	return check_rest(hdr, hdr->size - fixed);
}
