#include "collect/context.h"

#include <bpf/libbpf.h>
#include <string.h>

#include "collect/bpf_open.h"
#include "collect/loaded.h"
#include "sys/preempt_count.h"
#include "sys/proc/irq_names.h"

#define PREFIX "on_context_"
#define SWITCH "on_context_switch"

void context_find(const struct btf *vmlinux, bool is_counted, struct context_cfg *out)
{
	static const __u8 sources[] = {
		[PREEMPT_COUNT_UNKNOWN] = ABI_CONTEXT_COUNTED,
		[PREEMPT_COUNT_TASK] = ABI_CONTEXT_TASK,
		[PREEMPT_COUNT_QUEUE] = ABI_CONTEXT_QUEUE,
		[PREEMPT_COUNT_OFFSETS] = ABI_CONTEXT_OFFSETS,
	};
	struct preempt_count found = { 0 };

	if (!is_counted)
		preempt_count_find(vmlinux, "/proc/kallsyms", &found);
	*out = (struct context_cfg){
		.offsets = found.offsets,
		.count = found.address,
		.source = sources[found.place],
	};
	/* arm64's timer is an interrupt like others; x86-64's has a tracepoint of its own. */
	if (irq_name_find("", "arch_timer", &out->timer_irq))
		out->timer_irq = ~0U;
}

static bool is_ours(const struct bpf_program *prog)
{
	return strncmp(bpf_program__name(prog), PREFIX, strlen(PREFIX)) == 0;
}

static bool has_other(const struct bpf_object *obj, const struct bpf_program *one)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj)
	{
		if (!is_ours(prog) && bpf_program__autoload(prog) &&
		    strcmp(bpf_program__section_name(prog), bpf_program__section_name(one)) == 0)
			return true;
	}
	return false;
}

static bool is_needed(const struct bpf_object *obj, const struct bpf_program *prog,
                      const struct btf *vmlinux, const struct context_cfg *cfg)
{
	const char *slash = strchr(bpf_program__section_name(prog), '/');

	if (!cfg || !slash || !bpf_has_tracepoint(vmlinux, slash + 1))
		return false;
	if (strcmp(bpf_program__name(prog), SWITCH) == 0)
		return cfg->source == ABI_CONTEXT_COUNTED;
	return !has_other(obj, prog);
}

void context_choose(struct bpf_object *obj, const struct btf *vmlinux,
                    const struct context_cfg *cfg)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj)
	{
		if (is_ours(prog))
			bpf_program__set_autoload(prog, is_needed(obj, prog, vmlinux, cfg));
	}
}

static bool is_exit(const struct bpf_program *prog)
{
	static const char end[] = "_exit";
	const char *name = bpf_program__name(prog);
	size_t len = strlen(name);

	return len >= sizeof(end) && strcmp(name + len - strlen(end), end) == 0;
}

static int attach(struct loaded *l, bool (*is_wanted)(const struct bpf_program *prog))
{
	struct bpf_program *prog;
	int fd, err = 0;

	for (uint32_t i = 0; !err && loaded_each(l, i, &prog, &fd); i++)
		if (is_wanted(prog))
			err = loaded_attach(l, prog);
	return err;
}

int context_attach_exits(struct loaded *l)
{
	return attach(l, is_exit);
}

int context_attach(struct loaded *l)
{
	int err = context_attach_exits(l);

	return err ? err : attach(l, is_ours);
}
