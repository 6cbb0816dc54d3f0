/* The privileged side: a closed list of operations, each of which checks what it is given. */
#include <bpf/bpf.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/bpf/bpf_prog_code.h"
#include "sys/cgroup.h"
#include "sys/proc/schedstat.h"
#include "sys/rights/broker_priv.h"
#include "sys/rights/fd_packet.h"

/* Files of a process that hold what ps and top show, or where its code lies. None of them has its memory. */
static const char *const proc_files[] = {
	"cmdline", "comm", "maps", "sched", "stat", "status", NULL
};

/* The number behind "/proc/", and what follows it; NULL if that is not how it begins. */
static const char *after_pid(const char *path, char *pid, size_t size)
{
	const char *at = path + strlen("/proc/");
	size_t len;

	if (strncmp(path, "/proc/", strlen("/proc/")) != 0)
		return NULL;
	len = strspn(at, "0123456789");
	if (!len || len >= size || at[len] != '/')
		return NULL;
	memcpy(pid, at, len);
	pid[len] = '\0';
	return at + len + 1;
}

static bool is_proc_file(const char *name)
{
	for (size_t i = 0; proc_files[i]; i++)
		if (strcmp(name, proc_files[i]) == 0)
			return true;
	return false;
}

static bool is_range(const char *name)
{
	return name[strspn(name, "0123456789abcdef-")] == '\0' && isxdigit((unsigned char)*name);
}

/* "tmp/perf-NUMBER.map", in whichever root. */
static bool is_jit_map(const char *below)
{
	static const char before[] = "tmp/perf-", after[] = ".map";
	size_t len;

	while (*below == '/')
		below++;
	if (strncmp(below, before, strlen(before)) != 0)
		return false;
	below += strlen(before);
	len = strspn(below, "0123456789");
	return len && strcmp(below + len, after) == 0;
}

static bool is_elf(int fd)
{
	char magic[4];

	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, "\177ELF", sizeof(magic)) == 0;
}

/* Opens for reading what fd names, if it is an ordinary file: opening others may have effects. only_name: no other name leads to it. */
static int reopen(int fd, bool only_name)
{
	char link[64];
	struct stat st;
	int again;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || (only_name && st.st_nlink > 1))
		return -EINVAL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	again = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return again < 0 ? -errno : again;
}

/* Links that lead out of the root of that process lead to its root instead, as they do for itself. */
static int open_below_root(const char *pid, const char *below)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
		                .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	SCOPED(scoped_close) int root = -1;
	SCOPED(scoped_close) int found = -1;
	SCOPED(scoped_close) int fd = -1;
	bool is_map = is_jit_map(below);
	char path[64];

	/* Anyone can call a link so; what it leads to has another name. */
	how.flags |= is_map ? O_NOFOLLOW : 0;
	snprintf(path, sizeof(path), "/proc/%s/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	while (*below == '/')
		below++;
	found = (int)syscall(SYS_openat2, root, below, &how, sizeof(how));
	if (found < 0)
		return -errno;
	fd = reopen(found, is_map);
	if (fd < 0)
		return fd;
	return is_map || is_elf(fd) ? TAKE_FD(fd) : -EACCES;
}

static int open_mapped(const char *path)
{
	SCOPED(scoped_close) int found = open(path, O_PATH | O_CLOEXEC);
	SCOPED(scoped_close) int fd = -1;

	if (found < 0)
		return -errno;
	fd = reopen(found, false);
	if (fd < 0)
		return fd;
	return is_elf(fd) ? TAKE_FD(fd) : -EACCES;
}

static int open_read_only(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

/* A short file whose reader is asked for rights, not only the one who has opened it: its text comes in a pipe. */
static int read_for(const char *path)
{
	SCOPED(scoped_close) int fd = open_read_only(path);
	SCOPED(scoped_close) int to = -1;
	char text[1024];
	int ends[2];
	ssize_t len = fd < 0 ? fd : read(fd, text, sizeof(text));

	if (len < 0)
		return fd < 0 ? fd : -errno;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	to = ends[1];
	if (write(to, text, (size_t)len) != len) {
		close(ends[0]);
		return -EIO;
	}
	return ends[0];
}

/* Left by a process that has ended, in our own root. */
static int open_orphan_map(const char *path)
{
	SCOPED(scoped_close) int found = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	return found < 0 ? -errno : reopen(found, true);
}

/* A word of a path: no folder, and not the one above. */
static size_t word(const char *s)
{
	return *s == '.' ? 0 : strcspn(s, "/");
}

/* "events/SUBSYSTEM/NAME/id" and the lists, behind where tracefs is. */
static bool is_of_tracefs(const char *path)
{
	static const char *const mounts[] = { "/sys/kernel/tracing/",
		                              "/sys/kernel/debug/tracing/" };
	static const char events[] = "events/";
	const char *at = NULL;

	for (size_t i = 0; i < 2 && !at; i++)
		if (strncmp(path, mounts[i], strlen(mounts[i])) == 0)
			at = path + strlen(mounts[i]);
	if (!at)
		return false;
	if (strcmp(at, "available_events") == 0 || strcmp(at, "available_filter_functions") == 0)
		return true;
	if (strncmp(at, events, strlen(events)) != 0)
		return false;
	at += strlen(events);
	for (int i = 0; i < 2; i++) {
		if (!word(at) || at[word(at)] != '/')
			return false;
		at += word(at) + 1;
	}
	return strcmp(at, "id") == 0;
}

/* A counter of energy, which only root may read since Linux 5.10. */
static bool is_meter(const char *path)
{
	static const char powercap[] = "/sys/class/powercap/";
	const char *at = path + strlen(powercap);

	return strncmp(path, powercap, strlen(powercap)) == 0 && word(at) &&
	       strcmp(at + word(at), "/energy_uj") == 0;
}

static int serve_open(const char *path)
{
	static const char root[] = "root/", mapped[] = "map_files/";
	char pid[16];
	const char *rest;

	if (strcmp(path, "/proc/kallsyms") == 0 || strcmp(path, "/dev/kmsg") == 0 ||
	    strcmp(path, "/sys/kernel/debug/sched/ext") == 0 || is_of_tracefs(path) ||
	    is_meter(path))
		return open_read_only(path);
	if (path[0] == '/' && is_jit_map(path))
		return open_orphan_map(path);
	rest = after_pid(path, pid, sizeof(pid));
	if (!rest)
		return -EACCES;
	if (strcmp(rest, "io") == 0)
		return read_for(path);
	if (is_proc_file(rest))
		return open_read_only(path);
	if (strncmp(rest, root, strlen(root)) == 0)
		return open_below_root(pid, rest + strlen(root));
	if (strncmp(rest, mapped, strlen(mapped)) == 0 && is_range(rest + strlen(mapped)))
		return open_mapped(path);
	return -EACCES;
}

/* A name, not a way elsewhere. */
static bool is_plain_name(const char *name)
{
	size_t len = strlen(name);

	return len && len <= NAME_MAX && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       !strchr(name, '/');
}

int broker_slot_create(struct broker_slot *s, const char *name, uint32_t mode)
{
	size_t own = strlen(s->name);
	int fd;

	if (!is_plain_name(name) || (own && (strncmp(name, s->name, own) != 0 || name[own] != '.')))
		return -EACCES;
	fd = openat(s->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (mode != 0600)
		(void)fchmod(fd, mode & 0777);
	memcpy(s->made, name, strlen(name) + 1);
	return fd;
}

int broker_slot_remove(struct broker_slot *s)
{
	if (!s->made[0])
		return -EACCES;
	if (unlinkat(s->dir_fd, s->made, 0))
		return -errno;
	s->made[0] = '\0';
	return 0;
}

int broker_slot_rename(struct broker_slot *s)
{
	if (!s->made[0] || !s->name[0])
		return -EACCES;
	if (renameat(s->dir_fd, s->made, s->dir_fd, s->name))
		return -errno;
	s->made[0] = '\0';
	return 0;
}

static int serve_new_slot(struct broker_state *s, const char *name, int given)
{
	struct broker_slot *slot = &s->slots[s->nr_slots];

	if (s->is_sealed || given < 0 || s->nr_slots == BROKER_SLOTS_MAX ||
	    (name[0] && !is_plain_name(name)))
		return -EACCES;
	slot->dir_fd = fcntl(given, F_DUPFD_CLOEXEC, 0);
	if (slot->dir_fd < 0)
		return -errno;
	memcpy(slot->name, name, strlen(name) + 1);
	s->nr_slots++;
	return 0;
}

static int serve_slot(struct broker_state *s, const struct broker_request *r)
{
	struct broker_slot *slot = r->id < s->nr_slots ? &s->slots[r->id] : NULL;

	if (!slot)
		return -EACCES;
	switch (r->op) {
	case BROKER_CREATE:
		return broker_slot_create(slot, r->path, r->mode);
	case BROKER_REMOVE:
		return broker_slot_remove(slot);
	default:
		return broker_slot_rename(slot);
	}
}

static int serve_bpf_stats(void)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	return fd < 0 ? -errno : fd;
}

bool broker_perfs_have(const struct broker_perfs *p, const struct perf_event_attr *attr)
{
	for (uint32_t i = 0; i < p->nr; i++)
		if (memcmp(&p->attrs[i], attr, sizeof(*attr)) == 0)
			return true;
	return false;
}

bool broker_perfs_add(struct broker_perfs *p, const struct perf_event_attr *attr)
{
	if (broker_perfs_have(p, attr))
		return true;
	if (p->nr == BROKER_PERF_MAX)
		return false;
	memcpy(&p->attrs[p->nr++], attr, sizeof(*attr));
	return true;
}

int broker_perf_open(const struct perf_event_attr *attr, int tid, uint32_t cpu, int group_fd)
{
	long fd = syscall(SYS_perf_event_open, attr, tid, (int)cpu, group_fd, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* Which events, its client says while it has the rights itself; later only where. */
static int serve_perf(struct broker_state *s, const struct broker_request *r, int given)
{
	struct perf_event_attr attr;

	memcpy(&attr, r->path, sizeof(attr));
	if (r->op == BROKER_PERF)
		return broker_perfs_have(&s->perfs, &attr)
		               ? broker_perf_open(&attr, -1, r->mode, given)
		               : -EACCES;
	if (s->is_sealed)
		return -EACCES;
	return broker_perfs_add(&s->perfs, &attr) ? 0 : -ENOSPC;
}

static int serve_bpf_next(uint32_t kind, uint32_t id)
{
	uint32_t next = 0;
	int err = kind == BROKER_BPF_PROG  ? bpf_prog_get_next_id(id, &next)
	          : kind == BROKER_BPF_MAP ? bpf_map_get_next_id(id, &next)
	          : kind == BROKER_BPF_BTF ? bpf_btf_get_next_id(id, &next)
	                                   : -EACCES;

	return err < 0 ? err : (int)(next & INT32_MAX);
}

static int serve_bpf_open(uint32_t kind, uint32_t id)
{
	LIBBPF_OPTS(bpf_get_fd_by_id_opts, read_only, .open_flags = BPF_F_RDONLY);

	switch (kind) {
	case BROKER_BPF_PROG:
		return bpf_prog_get_fd_by_id(id);
	case BROKER_BPF_MAP:
		return bpf_map_get_fd_by_id_opts(id, &read_only);
	case BROKER_BPF_BTF:
		return bpf_btf_get_fd_by_id(id);
	case BROKER_BPF_CODE:
		return bpf_prog_code_pack(id);
	default:
		return -EACCES;
	}
}

static int serve_socket(struct broker_state *s, const char *path)
{
	if (s->is_sealed || s->socket[0] || strlen(path) >= sizeof(s->socket))
		return -EACCES;
	memcpy(s->socket, path, strlen(path) + 1);
	return 0;
}

/* Not blocking: a server whose queue is full must not hold us. */
int broker_socket_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	SCOPED(scoped_close) int fd = -1;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return -errno;
	return TAKE_FD(fd);
}

static int serve_file(struct broker_state *s, const char *path)
{
	for (size_t i = 0; i < BROKER_FILES_MAX && !s->is_sealed && path[0]; i++) {
		if (s->files[i][0])
			continue;
		memcpy(s->files[i], path, strlen(path) + 1);
		return 0;
	}
	return -EACCES;
}

static int serve_file_open(const struct broker_state *s, const char *path)
{
	SCOPED(scoped_close) int found = -1;

	for (size_t i = 0; i < BROKER_FILES_MAX && found < 0; i++) {
		if (!path[0] || strcmp(s->files[i], path) != 0)
			continue;
		found = open(path, O_PATH | O_CLOEXEC);
		if (found < 0)
			return -errno;
	}
	return found < 0 ? -EACCES : reopen(found, false);
}

int broker_serve(struct broker_state *s, const struct broker_request *r, int given)
{
	if (r->op >= BROKER_NR_OPS || !(s->ops & BROKER_BIT(r->op)))
		return -EACCES;
	switch ((enum broker_op)r->op) {
	case BROKER_OPEN:
		return serve_open(r->path);
	case BROKER_BPF_STATS:
		return serve_bpf_stats();
	case BROKER_CGROUP:
		return cgroup_open_id(given, r->id);
	case BROKER_SCHEDSTAT:
		return schedstat_switch_to(SCHEDSTAT_SWITCH, r->mode != 0);
	case BROKER_SLOT:
		return serve_new_slot(s, r->path, given);
	case BROKER_CREATE:
	case BROKER_REMOVE:
	case BROKER_RENAME:
		return serve_slot(s, r);
	case BROKER_PERF_LIKE:
	case BROKER_PERF:
		return serve_perf(s, r, given);
	case BROKER_BPF_NEXT:
		return serve_bpf_next(r->mode, (uint32_t)r->id);
	case BROKER_BPF_OPEN:
		return serve_bpf_open(r->mode, (uint32_t)r->id);
	case BROKER_SOCKET:
		return serve_socket(s, r->path);
	case BROKER_CONNECT:
		return s->socket[0] && strcmp(s->socket, r->path) == 0
		               ? broker_socket_connect(r->path)
		               : -EACCES;
	case BROKER_FILE:
		return serve_file(s, r->path);
	case BROKER_FILE_OPEN:
		return serve_file_open(s, r->path);
	case BROKER_DIR:
	case BROKER_DIR_OPEN:
	case BROKER_DIR_AGAIN:
	case BROKER_DIR_PLACE:
	case BROKER_DIR_MAKE:
	case BROKER_DIR_CREATE:
	case BROKER_DIR_KEEP:
	case BROKER_DIR_REMOVE:
		return broker_serve_dirs(s, r, given);
	case BROKER_PERF_ANY:
	case BROKER_KPROBE:
	case BROKER_UPROBE:
	case BROKER_MAP:
		return broker_serve_tracing(s, r, given);
	case BROKER_TRY:
		return broker_serve_try(r);
	case BROKER_DOCTOR:
		return broker_serve_doctor(r);
	case BROKER_LOAD:
		break; /* by broker_serve_load() */
	case BROKER_SEAL:
		s->is_sealed = true;
		return 0;
	case BROKER_NR_OPS:
		break;
	}
	return -EACCES;
}

/* Which operations answer with a descriptor. */
static bool gives_descriptor(uint32_t op)
{
	return op == BROKER_OPEN || op == BROKER_BPF_STATS || op == BROKER_CGROUP ||
	       op == BROKER_CREATE || op == BROKER_PERF || op == BROKER_BPF_OPEN ||
	       op == BROKER_CONNECT || op == BROKER_FILE_OPEN || op == BROKER_DIR_OPEN ||
	       op == BROKER_DIR_AGAIN || op == BROKER_DIR_PLACE || op == BROKER_DIR_CREATE ||
	       op == BROKER_PERF_ANY || op == BROKER_KPROBE || op == BROKER_UPROBE ||
	       op == BROKER_MAP || op == BROKER_DOCTOR;
}

/* A request of any length and content. */
static void answer(struct broker_state *s, const struct broker_request *r, int len,
                   const struct fd_packet *given, struct fd_packet *got, struct broker_reply *reply)
{
	bool is_whole = len == sizeof(*r) && memchr(r->path, '\0', sizeof(r->path));

	got->nr = 0;
	reply->err = -EINVAL;
	if (is_whole && r->op == BROKER_LOAD && s->ops & BROKER_BIT(BROKER_LOAD))
		reply->err = broker_serve_load(r, given, got, reply);
	else if (is_whole)
		reply->err = broker_serve(s, r, given->nr ? given->fds[0] : -1);
	if (reply->err < 0 || !gives_descriptor(r->op))
		return;
	got->fds[got->nr++] = reply->err;
	reply->err = 0;
}

_Noreturn void broker_loop(int fd, uint32_t ops)
{
	struct broker_state s = { .ops = ops | BROKER_BIT(BROKER_SEAL), .is_lent = true };
	struct broker_request r = { 0 };

	for (;;) {
		struct fd_packet given, got;
		struct broker_reply reply = { 0 };
		int len = fd_packet_receive_all(fd, &r, sizeof(r), &given);

		if (len == -EINTR)
			continue;
		if (len <= 0 && len != -EMFILE)
			_exit(0);
		answer(&s, &r, len, &given, &got, &reply);
		len = fd_packet_send_all(fd, &reply, sizeof(reply), &got);
		fd_packet_close(&given);
		fd_packet_close(&got);
		if (len < 0)
			_exit(0);
	}
}
