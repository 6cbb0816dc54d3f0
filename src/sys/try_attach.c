#include "sys/try_attach.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

#define FUNCTION    "kernel_halt" /* in every kernel, and practically never called */
#define KPROBE_TYPE "/sys/bus/event_source/devices/kprobe/type"

/* return 0; */
static const struct bpf_insn nothing[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

#define NR_INSNS (sizeof(nothing) / sizeof(nothing[0]))

int try_attach_load(void)
{
	/* As a raw tracepoint, which takes the same capabilities as the real ones. */
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", nothing, NR_INSNS, NULL);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int try_attach_fentry(void)
{
	SCOPED(scoped_close) int program = -1;
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY);
	struct btf *btf = btf__load_vmlinux_btf();
	int id, link;

	if (!btf)
		return -errno;
	id = btf__find_by_name_kind(btf, FUNCTION, BTF_KIND_FUNC);
	btf__free(btf);
	if (id < 0)
		return id;
	opts.attach_btf_id = (__u32)id;
	program = bpf_prog_load(BPF_PROG_TYPE_TRACING, NULL, "GPL", nothing, NR_INSNS, &opts);
	if (program < 0)
		return program;
	link = bpf_raw_tracepoint_open(NULL, program);
	if (link < 0)
		return link;
	close(link);
	return 0;
}

int try_attach_kprobe(void)
{
	static const char function[] = FUNCTION;
	SCOPED(scoped_free) char *type = NULL;
	struct perf_event_attr attr = { .size = sizeof(attr), .disabled = 1 };
	long fd;

	if (text_read_file(KPROBE_TYPE, 64, &type))
		return -ENOENT;
	attr.type = (uint32_t)strtoul(type, NULL, 10);
	attr.kprobe_func = (uint64_t)(uintptr_t)function;
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}
