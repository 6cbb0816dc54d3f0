/*
 * watchers FUNCTION — as many fentry programs on a function of the kernel as it takes: the next one finds no room.
 * Says how many, and leaves with the end of stdin. Shares nothing with src/.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdio.h>

#define MOST 64 /* the kernel takes 38 */

static int watch(int btf_id)
{
	const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY,
	            .attach_btf_id = (__u32)btf_id);
	int fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "watcher", "GPL", nothing, 2, &opts);

	return fd < 0 ? fd : bpf_raw_tracepoint_open(NULL, fd);
}

int main(int argc, char **argv)
{
	int btf_id = argc == 2 ? libbpf_find_vmlinux_btf_id(argv[1], BPF_TRACE_FENTRY) : -1;
	int nr = 0;

	if (btf_id < 0) {
		fprintf(stderr, "watchers: which function of the kernel?\n");
		return 1;
	}
	while (nr < MOST && watch(btf_id) >= 0)
		nr++;
	printf("%d\n", nr);
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
