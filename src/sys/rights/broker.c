#include "sys/rights/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/proc/proc_tasks.h"
#include "sys/rights/broker_priv.h"
#include "sys/rights/caps.h"
#include "sys/rights/fd_packet.h"
#include "sys/rights/privilege.h"

/* What each operation takes; root's own files need nothing. */
static const uint64_t caps_of_op[BROKER_NR_OPS] = {
	[BROKER_OPEN] = CAPS_BIT(CAP_SYS_PTRACE) | CAPS_BIT(CAP_DAC_READ_SEARCH) |
	                CAPS_BIT(CAP_SYSLOG) | CAPS_BIT(CAP_CHECKPOINT_RESTORE),
	[BROKER_BPF_STATS] = CAPS_BIT(CAP_SYS_ADMIN),
	[BROKER_CGROUP] = CAPS_BIT(CAP_DAC_READ_SEARCH),
	[BROKER_BPF_NEXT] = CAPS_BIT(CAP_SYS_ADMIN),
	[BROKER_BPF_OPEN] = CAPS_BIT(CAP_SYS_ADMIN),
	[BROKER_CONNECT] = CAPS_BIT(CAP_DAC_OVERRIDE),
	[BROKER_FILE_OPEN] = CAPS_BIT(CAP_DAC_READ_SEARCH),
	[BROKER_DIR_OPEN] = CAPS_BIT(CAP_DAC_READ_SEARCH),
	[BROKER_DIR_MAKE] = CAPS_BIT(CAP_DAC_OVERRIDE),
	[BROKER_DIR_CREATE] = CAPS_BIT(CAP_DAC_OVERRIDE),
	[BROKER_DIR_KEEP] = CAPS_BIT(CAP_DAC_OVERRIDE) | CAPS_BIT(CAP_FOWNER),
	[BROKER_CREATE] = CAPS_BIT(CAP_DAC_OVERRIDE),
	[BROKER_PERF] = CAPS_BIT(CAP_PERFMON),
	[BROKER_RENAME] = CAPS_BIT(CAP_DAC_OVERRIDE) | CAPS_BIT(CAP_FOWNER),
	[BROKER_PERF_ANY] = CAPS_BIT(CAP_PERFMON),
	[BROKER_KPROBE] = CAPS_BIT(CAP_PERFMON),
	/* The child that parses the file becomes the user nobody: without seccomp nothing else would hold it. */
	[BROKER_UPROBE] = CAPS_BIT(CAP_SYS_ADMIN) | CAPS_BIT(CAP_SETUID) | CAPS_BIT(CAP_SETGID),
	[BROKER_MAP] = CAPS_TRACE,
	[BROKER_TRY] = CAPS_TRACE,
	[BROKER_DOCTOR] = CAPS_BIT(CAP_DAC_READ_SEARCH) | CAPS_BIT(CAP_SYSLOG),
	[BROKER_LOAD] = CAPS_TRACE | CAPS_BIT(CAP_SYSLOG), /* addresses in kallsyms */
};

/* One process opens files, another what measures: neither waits for the other, nor has the rights of the other. */
enum conn_of { FILES, TRACING, NR_CONNS };

struct conn {
	pthread_mutex_t lock;
	int fd;
	pid_t pid;
};

/* The connections are those of the process, like its credentials; the locks, too. */
static struct {
	struct conn conns[NR_CONNS];
	uint32_t nr_slots;
	bool is_sealed;
	bool is_proc_hidden; /* processes of others are not there for the client, though they run */
	struct broker_perfs perfs; /* that it knows */
} broker = { .conns = { [FILES] = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 },
	                [TRACING] = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 } } };

static struct conn *conn_of(uint32_t op)
{
	return &broker.conns[BROKER_TRACING & BROKER_BIT(op) ? TRACING : FILES];
}

/* Debian's kernels have a level above those of the others, at which CAP_PERFMON does not do. */
static bool perf_wants_admin(void)
{
	SCOPED(scoped_free) char *level = NULL;

	return text_read_file("/proc/sys/kernel/perf_event_paranoid", 16, &level) == 0 &&
	       strtol(level, NULL, 10) > 2;
}

static uint64_t caps_of(uint32_t ops)
{
	const uint32_t perf = BROKER_BIT(BROKER_PERF) | BROKER_BIT(BROKER_PERF_ANY) |
	                      BROKER_BIT(BROKER_KPROBE);
	uint64_t caps = ops & perf && perf_wants_admin() ? CAPS_BIT(CAP_SYS_ADMIN) : 0;

	for (int op = 0; op < BROKER_NR_OPS; op++)
		caps |= ops & BROKER_BIT(op) ? caps_of_op[op] : 0;
	return caps;
}

/* In the child: nothing of the client's is left open, signals of the terminal are the client's, and its death is ours. */
static _Noreturn void be_broker(int fd, uint32_t ops, pid_t client)
{
	bool is_tracing = ops & BROKER_TRACING;
	uint64_t caps = caps_of(ops);
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL); /* but SIGKILL */
	if (dup2(fd, 3) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || getppid() != client)
		_exit(1);
	(void)syscall(SYS_close_range, 4U, ~0U, 0U);
	for (int std = 0; std < 3; std++)
		close(std);
	(void)open("/dev/null", O_RDWR); /* so that what is opened is never a standard stream */
	(void)!dup(0);
	(void)!dup(0);
	for (int i = 0; i < NR_CONNS; i++)
		broker.conns[i].fd = -1; /* what is called here does it here */
	(void)prctl(PR_SET_NAME, is_tracing ? "schedscope-bpf" : "schedscope-priv", 0, 0, 0);
	if (privilege_show(caps) || caps_drop_to(caps) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		_exit(1);
	broker_loop(3, ops);
}

static bool has_rights(void)
{
	struct caps own;

	return caps_get(&own) == 0 && own.permitted;
}

static int start(struct conn *c, uint32_t ops, struct diag *d)
{
	pid_t client = getpid(), pid;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return diag_set(d, -errno, NULL, "cannot make a socket");
	pid = fork();
	if (pid == 0)
		be_broker(pair[1], ops, client);
	close(pair[1]);
	if (pid < 0) {
		int err = -errno;

		close(pair[0]);
		return diag_set(d, err, NULL, "cannot start the process that keeps privileges");
	}
	c->fd = pair[0];
	c->pid = pid;
	return 0;
}

int broker_start(uint32_t ops, struct diag *d)
{
	int err;

	if (broker_is_there() || !has_rights())
		return 0;
	err = start(&broker.conns[FILES], ops & ~BROKER_TRACING, d);
	if (!err && ops & BROKER_TRACING)
		err = start(&broker.conns[TRACING], ops & BROKER_TRACING, d);
	broker.is_sealed = false;
	broker.is_proc_hidden = proc_hides_processes("/proc/self/mounts");
	return err;
}

void broker_stop(void)
{
	for (int i = 0; i < NR_CONNS; i++) {
		struct conn *c = &broker.conns[i];

		if (c->fd < 0)
			continue;
		close(c->fd);
		while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
			;
		c->fd = -1;
		c->pid = 0;
	}
	broker.nr_slots = 0;
	broker.is_sealed = false;
	broker.perfs.nr = 0;
}

int broker_exchange(const struct broker_request *r, const struct fd_packet *given,
                    struct fd_packet *got, struct broker_reply *reply)
{
	struct conn *c = conn_of(r->op);
	int len;

	got->nr = 0;
	if (c->fd < 0)
		return -EACCES;
	pthread_mutex_lock(&c->lock);
	len = fd_packet_send_all(c->fd, r, sizeof(*r), given);
	if (len >= 0)
		len = fd_packet_receive_all(c->fd, reply, sizeof(*reply), got);
	pthread_mutex_unlock(&c->lock);
	if (len < 0)
		return len;
	reply->why[sizeof(reply->why) - 1] = '\0';
	return len == sizeof(*reply) ? reply->err : -EPIPE; /* it is gone */
}

/* The answer: a descriptor, 0 or -errno. */
int broker_ask(const struct broker_request *r, int with)
{
	struct fd_packet given = { .fds = { with }, .nr = with >= 0 }, got;
	struct broker_reply reply;
	int err = broker_exchange(r, &given, &got, &reply);

	if (err >= 0 && got.nr)
		return got.fds[0];
	fd_packet_close(&got);
	return err;
}

/* In this process where there is no broker. */
static int ask(const struct broker_request *r, int with)
{
	struct broker_state own = { .ops = ~0U };

	return broker_is_there() ? broker_ask(r, with) : broker_serve(&own, r, with);
}

/* With the rights of this process where they suffice, as they do before they are given up. */
int broker_ask_first_here(const struct broker_request *r, int with)
{
	const uint32_t dear = BROKER_TRACING | BROKER_BIT(BROKER_UPROBE); /* to try in vain */
	struct broker_state own = { .ops = ~0U };
	int ret, other;

	if (broker.is_sealed && dear & BROKER_BIT(r->op) && conn_of(r->op)->fd >= 0)
		return broker_ask(r, with);
	ret = broker_serve(&own, r, with);
	if ((ret != -EPERM && ret != -EACCES) || conn_of(r->op)->fd < 0)
		return ret;
	other = broker_ask(r, with);
	return other == -EACCES ? ret : other;
}

static int set_path(struct broker_request *r, const char *path)
{
	size_t len = strlen(path);

	if (len >= sizeof(r->path))
		return -ENAMETOOLONG;
	memcpy(r->path, path, len + 1);
	return 0;
}

int broker_seal(void)
{
	struct broker_request r = { .op = BROKER_SEAL };

	broker.is_sealed = true;
	return broker_is_there() ? broker_ask(&r, -1) : 0;
}

int broker_fetch(const char *path)
{
	struct broker_request r = { .op = BROKER_OPEN };
	int err = !broker_is_there() ? -EACCES : set_path(&r, path);

	return err ? err : broker_ask(&r, -1);
}

int broker_open(const char *path)
{
	/* The kernel's symbols are there for everyone, and all 0 for most. */
	bool is_veiled = strcmp(path, "/proc/kallsyms") == 0;
	int fd = is_veiled ? broker_fetch(path) : -EACCES, err;

	if (fd >= 0)
		return fd;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	err = -errno;
	if (fd >= 0)
		return fd;
	/* Most processes that are not there have ended: a question for each would keep both sides awake. */
	if (err != -EACCES && err != -EPERM &&
	    (err != -ENOENT || !broker.is_proc_hidden ||
	     strncmp(path, "/proc/", strlen("/proc/")) != 0))
		return err;
	fd = broker_fetch(path);
	return fd == -EACCES ? err : fd;
}

int broker_read(const char *path, size_t cap, char **out)
{
	SCOPED(scoped_close) int fd = broker_open(path);

	return fd < 0 ? fd : text_read_fd(fd, cap, out);
}

static int ask_perf(enum broker_op op, const struct perf_event_attr *attr, uint32_t cpu,
                    int group_fd)
{
	struct broker_request r = { .op = op, .mode = cpu };

	memcpy(r.path, attr, sizeof(*attr));
	return broker_ask(&r, group_fd);
}

/* Setting up is done by one thread. */
static void remember_perf(const struct perf_event_attr *attr)
{
	if (!broker_is_there() || broker.is_sealed || broker_perfs_have(&broker.perfs, attr) ||
	    ask_perf(BROKER_PERF_LIKE, attr, 0, -1))
		return;
	(void)broker_perfs_add(&broker.perfs, attr);
}

int broker_perf(const struct perf_event_attr *attr, uint32_t cpu, int group_fd)
{
	int fd = broker_perf_open(attr, -1, cpu, group_fd), other;

	if (fd >= 0) {
		remember_perf(attr);
		return fd;
	}
	if (fd != -EACCES && fd != -EPERM)
		return fd;
	other = broker_can_trace() ? broker_perf_of(attr, -1, cpu, group_fd)
	                           : ask_perf(BROKER_PERF, attr, cpu, group_fd);
	return other == -EACCES ? fd : other;
}

int broker_bpf_stats(void)
{
	struct broker_request r = { .op = BROKER_BPF_STATS };

	return ask(&r, -1);
}

int broker_cgroup(int mount_fd, uint64_t id)
{
	struct broker_request r = { .op = BROKER_CGROUP, .id = id };

	return ask(&r, mount_fd);
}

int broker_schedstat(bool is_on)
{
	struct broker_request r = { .op = BROKER_SCHEDSTAT, .mode = is_on };

	return ask(&r, -1);
}

int broker_bpf_next(enum broker_bpf kind, uint32_t id, uint32_t *next)
{
	struct broker_request r = { .op = BROKER_BPF_NEXT, .mode = kind, .id = id };
	int err = broker_ask_first_here(&r, -1);

	if (err < 0)
		return err;
	*next = (uint32_t)err;
	return 0;
}

int broker_bpf_open(enum broker_bpf kind, uint32_t id)
{
	struct broker_request r = { .op = BROKER_BPF_OPEN, .mode = kind, .id = id };

	return broker_ask_first_here(&r, -1);
}

int broker_allow_socket(const char *path)
{
	struct broker_request r = { .op = BROKER_SOCKET };
	int err = set_path(&r, path);

	return err || !broker_is_there() ? err : broker_ask(&r, -1);
}

int broker_connect(const char *path)
{
	struct broker_request r = { .op = BROKER_CONNECT };
	int err = set_path(&r, path);

	if (err)
		return err;
	return broker_is_there() ? broker_ask(&r, -1) : broker_socket_connect(path);
}

int broker_allow_file(const char *path)
{
	struct broker_request r = { .op = BROKER_FILE };
	int err = set_path(&r, path);

	return err || !broker_is_there() ? err : broker_ask(&r, -1);
}

int broker_file_open(const char *path)
{
	struct broker_request r = { .op = BROKER_FILE_OPEN };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), err = -errno;

	if (fd >= 0)
		return fd;
	if ((err != -EACCES && err != -EPERM) || !broker_is_there() || set_path(&r, path))
		return err;
	fd = broker_ask(&r, -1);
	return fd == -EACCES ? err : fd;
}

bool broker_is_there(void)
{
	return broker.conns[FILES].fd >= 0;
}

bool broker_can_trace(void)
{
	return broker.conns[TRACING].fd >= 0;
}

int broker_ask_dirs(enum broker_op op, uint32_t mode, const char *path, int with)
{
	struct broker_request r = { .op = op, .mode = mode };
	int err = !broker_is_there() ? -EACCES : set_path(&r, path);

	return err ? err : broker_ask(&r, with);
}

int broker_slot_init(struct broker_slot *s, int dir_fd, const char *name)
{
	struct broker_request r = { .op = BROKER_SLOT };
	int err;

	if (strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	*s = (struct broker_slot){ .dir_fd = dir_fd, .nr = broker.nr_slots };
	memcpy(s->name, name, strlen(name) + 1);
	err = set_path(&r, name);
	if (!err && broker_is_there())
		err = broker_ask(&r, dir_fd);
	if (!err)
		broker.nr_slots++;
	return err;
}

/* Operations on a slot, of the broker's or here. */
static int ask_slot(const struct broker_slot *s, enum broker_op op, const char *name, uint32_t mode)
{
	struct broker_request r = { .op = op, .id = s->nr, .mode = mode };
	int err = set_path(&r, name);

	return err ? err : broker_ask(&r, -1);
}

int broker_create(struct broker_slot *s, const char *name, uint32_t mode)
{
	return broker_is_there() ? ask_slot(s, BROKER_CREATE, name, mode)
	                         : broker_slot_create(s, name, mode);
}

int broker_remove(struct broker_slot *s)
{
	return broker_is_there() ? ask_slot(s, BROKER_REMOVE, "", 0) : broker_slot_remove(s);
}

int broker_rename(struct broker_slot *s)
{
	return broker_is_there() ? ask_slot(s, BROKER_RENAME, "", 0) : broker_slot_rename(s);
}
