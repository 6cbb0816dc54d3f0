/*
 * empty_programs [clock] TRACEPOINT...: attaches a BPF program that does nothing to each, or only reads the clock, until it is
 * interrupted: below that no tool can get.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int attach(const char *tracepoint, bool reads_clock)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_boot_ns },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const size_t first = reads_clock ? 0 : 1;
	int type = libbpf_find_vmlinux_btf_id(tracepoint, BPF_TRACE_RAW_TP);
	char name[BPF_OBJ_NAME_LEN];
	int fd;
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP,
	            .attach_btf_id = (__u32)type);

	if (type < 0)
		return type;
	(void)snprintf(name, sizeof(name), "%s", tracepoint);
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, name, "GPL", insns + first,
	                   sizeof(insns) / sizeof(insns[0]) - first, &opts);
	return fd < 0 ? fd : bpf_raw_tracepoint_open(NULL, fd);
}

int main(int argc, char **argv)
{
	bool reads_clock = argc > 1 && strcmp(argv[1], "clock") == 0;

	for (int i = reads_clock ? 2 : 1; i < argc; i++) {
		if (attach(argv[i], reads_clock) < 0) {
			(void)fprintf(stderr, "cannot attach to %s\n", argv[i]);
			return 1;
		}
	}
	pause();
	return 0;
}
