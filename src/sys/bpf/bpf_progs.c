#include "sys/bpf/bpf_progs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "sys/rights/broker.h"

/* Names as scxtop's clients know them where those were right; the others are libbpf's. */
static const char *const type_names[] = {
	[BPF_PROG_TYPE_SOCKET_FILTER] = "socket_filter",
	[BPF_PROG_TYPE_KPROBE] = "kprobe",
	[BPF_PROG_TYPE_SCHED_CLS] = "sched_cls",
	[BPF_PROG_TYPE_SCHED_ACT] = "sched_act",
	[BPF_PROG_TYPE_TRACEPOINT] = "tracepoint",
	[BPF_PROG_TYPE_XDP] = "xdp",
	[BPF_PROG_TYPE_PERF_EVENT] = "perf_event",
	[BPF_PROG_TYPE_CGROUP_SKB] = "cgroup_skb",
	[BPF_PROG_TYPE_CGROUP_SOCK] = "cgroup_sock",
	[BPF_PROG_TYPE_LWT_IN] = "lwt_in",
	[BPF_PROG_TYPE_LWT_OUT] = "lwt_out",
	[BPF_PROG_TYPE_LWT_XMIT] = "lwt_xmit",
	[BPF_PROG_TYPE_SOCK_OPS] = "sock_ops",
	[BPF_PROG_TYPE_SK_SKB] = "sk_skb",
	[BPF_PROG_TYPE_CGROUP_DEVICE] = "cgroup_device",
	[BPF_PROG_TYPE_SK_MSG] = "sk_msg",
	[BPF_PROG_TYPE_RAW_TRACEPOINT] = "raw_tracepoint",
	[BPF_PROG_TYPE_CGROUP_SOCK_ADDR] = "cgroup_sock_addr",
	[BPF_PROG_TYPE_LWT_SEG6LOCAL] = "lwt_seg6local",
	[BPF_PROG_TYPE_LIRC_MODE2] = "lirc_mode2",
	[BPF_PROG_TYPE_SK_REUSEPORT] = "sk_reuseport",
	[BPF_PROG_TYPE_FLOW_DISSECTOR] = "flow_dissector",
	[BPF_PROG_TYPE_CGROUP_SYSCTL] = "cgroup_sysctl",
	[BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE] = "raw_tracepoint",
	[BPF_PROG_TYPE_CGROUP_SOCKOPT] = "cgroup_sockopt",
	[BPF_PROG_TYPE_TRACING] = "tracing",
	[BPF_PROG_TYPE_STRUCT_OPS] = "struct_ops",
	[BPF_PROG_TYPE_EXT] = "ext",
	[BPF_PROG_TYPE_LSM] = "lsm",
	[BPF_PROG_TYPE_SK_LOOKUP] = "sk_lookup",
	[BPF_PROG_TYPE_SYSCALL] = "syscall",
};

const char *bpf_prog_type_name(uint32_t type)
{
	return type < sizeof(type_names) / sizeof(type_names[0]) && type_names[type]
	               ? type_names[type]
	               : "other";
}

int bpf_progs_count(void)
{
	return broker_bpf_stats();
}

/* Where it is or would be. */
static size_t place_of(const struct bpf_progs *p, uint32_t id)
{
	size_t low = 0, high = p->nr;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (p->progs[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* NULL without memory or room. */
static struct bpf_prog *find_or_add(struct bpf_progs *p, uint32_t id)
{
	size_t at = place_of(p, id);
	struct bpf_prog *prog;

	if (at < p->nr && p->progs[at].id == id)
		return &p->progs[at];
	if (p->nr == BPF_PROGS_MAX) {
		p->is_cut = true;
		return NULL;
	}
	if (GROW(p->progs, p->room, p->nr))
		return NULL;
	prog = &p->progs[at];
	memmove(prog + 1, prog, (p->nr - at) * sizeof(*prog));
	p->nr++;
	*prog = (struct bpf_prog){ .id = id,
		                   .samples = calloc(BPF_PROG_SAMPLES, sizeof(*prog->samples)) };
	return prog;
}

static void add_sample(struct bpf_prog *prog, const struct bpf_prog_sample *sample)
{
	if (!prog->samples)
		return;
	if (prog->nr_samples == BPF_PROG_SAMPLES)
		memmove(prog->samples, prog->samples + 1,
		        --prog->nr_samples * sizeof(*prog->samples));
	prog->samples[prog->nr_samples++] = *sample;
}

static void read_prog(struct bpf_progs *p, uint32_t id, uint64_t now_ns)
{
	SCOPED(scoped_close) int fd = broker_bpf_open(BROKER_BPF_PROG, id);
	struct bpf_prog_info info = { 0 };
	struct bpf_prog_sample sample = { .ts_ns = now_ns };
	__u32 len = sizeof(info);
	struct bpf_prog *prog;

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return; /* gone meanwhile */
	prog = find_or_add(p, id);
	if (!prog)
		return;
	prog->is_seen = true;
	prog->type = info.type;
	prog->verified_insns = info.verified_insns;
	prog->uid = info.created_by_uid;
	prog->nr_maps = info.nr_map_ids;
	prog->btf_id = info.btf_id;
	prog->attach_btf_id = info.attach_btf_id;
	prog->jited_bytes = info.jited_prog_len;
	prog->is_gpl = info.gpl_compatible;
	prog->loaded_ns = info.load_time;
	prog->misses = info.recursion_misses;
	prog->run_ns = sample.run_ns = info.run_time_ns;
	prog->runs = sample.runs = info.run_cnt;
	memcpy(prog->name, info.name, sizeof(prog->name));
	prog->name[sizeof(prog->name) - 1] = '\0';
	add_sample(prog, &sample);
}

static void forget_gone(struct bpf_progs *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->nr; i++) {
		if (p->progs[i].is_seen)
			p->progs[nr++] = p->progs[i];
		else
			free(p->progs[i].samples);
	}
	p->nr = nr;
}

int bpf_progs_read(struct bpf_progs *p, uint64_t now_ns, struct diag *d)
{
	uint32_t id = 0;
	int err;

	p->is_cut = false;
	for (size_t i = 0; i < p->nr; i++)
		p->progs[i].is_seen = false;
	while ((err = broker_bpf_next(BROKER_BPF_PROG, id, &id)) == 0)
		read_prog(p, id, now_ns);
	if (err != -ENOENT)
		return diag_set(d, err, "run as root, or with CAP_BPF and CAP_SYS_ADMIN",
		                "cannot list BPF programs");
	forget_gone(p);
	return 0;
}

void bpf_progs_done(struct bpf_progs *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free(p->progs[i].samples);
	free(p->progs);
	*p = (struct bpf_progs){ 0 };
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Between the ranks around p/100 * (nr - 1). */
static double percentile(const double *sorted, size_t nr, double p)
{
	double rank = p / 100 * (double)(nr - 1);
	size_t low = (size_t)rank;

	if (low + 1 >= nr)
		return sorted[nr - 1];
	return sorted[low] + (sorted[low + 1] - sorted[low]) * (rank - (double)low);
}

bool bpf_prog_times(const struct bpf_prog *p, struct bpf_prog_times *out)
{
	const struct bpf_prog_sample *first = p->samples, *last = first + p->nr_samples - 1;
	double per_call[BPF_PROG_SAMPLES];
	size_t nr = 0;

	if (!p->samples || p->nr_samples < 2 || last->ts_ns <= first->ts_ns)
		return false;
	for (uint32_t i = 1; i < p->nr_samples; i++) {
		const struct bpf_prog_sample *a = &p->samples[i - 1], *b = &p->samples[i];

		if (b->runs > a->runs && b->run_ns >= a->run_ns)
			per_call[nr++] = (double)(b->run_ns - a->run_ns) /
			                 (double)(b->runs - a->runs);
	}
	if (!nr)
		return false;
	qsort(per_call, nr, sizeof(per_call[0]), compare);
	*out = (struct bpf_prog_times){
		.avg_ns = (double)(last->run_ns - first->run_ns) /
		          (double)(last->runs - first->runs),
		.p50_ns = percentile(per_call, nr, 50),
		.p90_ns = percentile(per_call, nr, 90),
		.p99_ns = percentile(per_call, nr, 99),
		.min_ns = per_call[0],
		.max_ns = per_call[nr - 1],
		.nr_intervals = (uint32_t)nr,
		.calls_per_sec = (double)(last->runs - first->runs) * 1e9 /
		                 (double)(last->ts_ns - first->ts_ns),
	};
	return true;
}
