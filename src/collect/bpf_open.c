#include "collect/bpf_open.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "sys/rights/broker.h"
#include "sys/rights/caps.h"

struct bpf_log {
	libbpf_print_fn_t before;
	char complaint[256]; /* libbpf's own last warning */
	char verdict[256];   /* the verifier's last sentence before its statistics */
};

/* libbpf's callback has no context argument: the one that captures is found here. */
static _Thread_local struct bpf_log *current;

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* The verifier's log comes in lines without a prefix, between marks and before its statistics. */
static void remember(struct bpf_log *t, const char *line)
{
	bool is_own = starts_with(line, "libbpf: ");

	if (!is_own &&
	    (starts_with(line, "processed ") || starts_with(line, "--") || line[0] == ';'))
		return;
	if (is_own)
		line += strlen("libbpf: ");
	snprintf(is_own ? t->complaint : t->verdict, sizeof(t->verdict), "%s", line);
}

static int PRINTF_LIKE(2, 0) take_line(enum libbpf_print_level level, const char *fmt, va_list args)
{
	SCOPED(scoped_free) char *text = NULL;
	char *save = NULL;

	if (vasprintf(&text, fmt, args) < 0) {
		text = NULL;
		return 0;
	}
	for (char *one = strtok_r(text, "\n", &save); one; one = strtok_r(NULL, "\n", &save)) {
		log_debug("%s", one);
		if (current && level <= LIBBPF_INFO)
			remember(current, one);
	}
	return 0;
}

struct bpf_log *bpf_log_capture(void)
{
	struct bpf_log *t = calloc(1, sizeof(*t));

	if (t)
		t->before = libbpf_set_print(take_line);
	current = t;
	return t;
}

void bpf_log_stop(struct bpf_log *t)
{
	if (!t)
		return;
	current = NULL;
	libbpf_set_print(t->before);
	free(t);
}

static const char *last_line(const struct bpf_log *t)
{
	if (t && t->verdict[0])
		return t->verdict;
	return t && t->complaint[0] ? t->complaint : "libbpf gave no reason";
}

void bpf_log_note(const char *line)
{
	if (current && line[0])
		(void)snprintf(current->verdict, sizeof(current->verdict), "%s", line);
}

const char *bpf_log_last(void)
{
	return current ? last_line(current) : "";
}

bool bpf_log_is_captured(void)
{
	return current;
}

/* Where all users may load simple programs (kernel.unprivileged_bpf_disabled=0), ours are refused as invalid. */
static bool lacks_rights(void)
{
	struct caps own;

	return !broker_can_trace() && caps_get(&own) == 0 && caps_missing(&own, CAPS_TRACE);
}

int bpf_load_failed(const struct bpf_log *t, int err, const char *what, struct diag *d)
{
	if (err == -EPERM || lacks_rights())
		return diag_set(d, err,
		                "run as root, or give the program CAP_BPF and CAP_PERFMON: see "
		                "'schedscope doctor'",
		                "cannot load the BPF programs for %s", what);
	if (err == -EPIPE)
		return diag_set(
			d, err, "start schedscope again",
			"cannot load the BPF programs for %s: the process that does it has ended",
			what);
	if (err == -ESRCH || err == -ENOENT)
		return diag_set(d, err, "see 'schedscope doctor' for what this kernel lacks",
		                "this kernel lacks something that %s needs (%.120s)", what,
		                last_line(t));
	return diag_set(d, err, "run again with --debug for the whole log",
	                "the kernel refused the BPF programs for %s (%.120s)", what, last_line(t));
}

void bpf_do_without_modules(struct bpf_program *any)
{
	struct caps own;

	if (caps_get(&own) || caps_has(&own, CAP_SYS_ADMIN))
		return;
	(void)bpf_program__set_attach_target(any, 0, "no function of this name");
}

int bpf_fill_fds(int map_fd, const int *fds, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		if (fds[i] < 0)
			(void)bpf_map_delete_elem(map_fd, &i); /* it may be empty already */
		else if (bpf_map_update_elem(map_fd, &i, &fds[i], BPF_ANY))
			return -errno;
	}
	return 0;
}

int bpf_run_iterator(int iter_link_fd)
{
	SCOPED(scoped_close) int fd = bpf_iter_create(iter_link_fd);
	char buf[4096];
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, buf, sizeof(buf));
	while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)));
	return n < 0 ? -errno : 0;
}

bool bpf_has_tracepoint(const struct btf *vmlinux, const char *name)
{
	char type[64];

	(void)snprintf(type, sizeof(type), "btf_trace_%s", name);
	return btf__find_by_name_kind(vmlinux, type, BTF_KIND_TYPEDEF) > 0;
}
