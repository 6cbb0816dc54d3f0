/*
 * sys/rights/broker — a small privileged process that opens, for a client without rights, what only rights can open.
 *
 * broker_start() forks it while the client still has its rights and one thread. It knows a closed list of operations, of which
 * the client names those it will need; each checks its arguments, opens one thing and hands the descriptor over. It reads
 * nothing but requests of fixed shape, and ends with its client. BPF and perf events (BROKER_TRACING) have a process of their
 * own, so that loading a program keeps no file waiting, and neither has the rights of the other. broker_seal() takes away what is only for
 * setting up.
 *
 * Without a broker the functions below do the same in this process, with the rights that it has. The connection belongs to
 * the process, as its credentials do. Any thread may call; calls take turns. Descriptors are close-on-exec.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/diag.h"

enum broker_op {
	BROKER_OPEN,      /* files of other users' processes, read only */
	BROKER_BPF_STATS, /* the kernel's statistics of BPF programs, on while the descriptor is open */
	BROKER_CGROUP,    /* a cgroup by its number */
	BROKER_SCHEDSTAT, /* the kernel's schedstats, on or off */
	BROKER_SLOT,      /* a place for output; before the seal only */
	BROKER_CREATE,    /* a new file there */
	BROKER_REMOVE,    /* the same one */
	BROKER_RENAME,
	BROKER_PERF_LIKE, /* an event of perf that may be opened later; before the seal only */
	BROKER_PERF,      /* the same one, on any CPU */
	BROKER_BPF_NEXT,  /* the ids of programs, maps and types in the kernel */
	BROKER_BPF_OPEN,  /* one of them; maps for reading */
	BROKER_SOCKET,    /* the path of a socket; before the seal only */
	BROKER_CONNECT,   /* to that one */
	BROKER_FILE,      /* the path of a file that is read again later; before the seal only */
	BROKER_FILE_OPEN, /* that one, for reading */
	BROKER_DIR, /* a directory whose files may be used (sys/rights/broker_dirs); before the seal only */
	BROKER_DIR_OPEN,  /* one of them, for reading */
	BROKER_DIR_AGAIN, /* the same once more */
	BROKER_DIR_PLACE, /* where a new one can be made */
	BROKER_DIR_MAKE,  /* a directory below it */
	BROKER_DIR_CREATE,
	BROKER_DIR_KEEP,   /* gives its name to one that was made */
	BROKER_DIR_REMOVE, /* one that was made */
	BROKER_PERF_ANY, /* an event of perf, of the kinds that are opened here (sys/rights/perf_policy) */
	BROKER_KPROBE, /* one for a function of the kernel */
	BROKER_UPROBE, /* one for a function of a file; Linux 6.16 wants CAP_SYS_ADMIN for it */
	BROKER_MAP,    /* one of a few kinds of BPF map (sys/bpf/bpf_map) */
	BROKER_LOAD,   /* one of our own BPF objects (broker_set_loader()) */
	BROKER_TRY,    /* whether a program can be loaded or attached (sys/try_attach) */
	BROKER_DOCTOR, /* what sys/doctor finds, in a file of memory */
	BROKER_SEAL,
	BROKER_NR_OPS,
};

#define BROKER_BIT(op) (1U << (op))
#define BROKER_OUTPUT                                                                      \
	(BROKER_BIT(BROKER_SLOT) | BROKER_BIT(BROKER_CREATE) | BROKER_BIT(BROKER_REMOVE) | \
	 BROKER_BIT(BROKER_RENAME))

#define BROKER_DIRS                                                                            \
	(BROKER_BIT(BROKER_DIR) | BROKER_BIT(BROKER_DIR_OPEN) | BROKER_BIT(BROKER_DIR_AGAIN) | \
	 BROKER_BIT(BROKER_DIR_PLACE) | BROKER_BIT(BROKER_DIR_CREATE) |                        \
	 BROKER_BIT(BROKER_DIR_KEEP) | BROKER_BIT(BROKER_DIR_REMOVE))

/* To make files there, and to read none. */
#define BROKER_DIRS_WRITE                                                                       \
	(BROKER_BIT(BROKER_DIR) | BROKER_BIT(BROKER_DIR_MAKE) | BROKER_BIT(BROKER_DIR_CREATE) | \
	 BROKER_BIT(BROKER_DIR_KEEP) | BROKER_BIT(BROKER_DIR_REMOVE))

#define BROKER_PERF_EVENTS (BROKER_BIT(BROKER_PERF_LIKE) | BROKER_BIT(BROKER_PERF))

/* What a process that attaches programs later needs; by a process of its own, which keeps the two rights for it. */
#define BROKER_TRACING                                                                      \
	(BROKER_BIT(BROKER_PERF_ANY) | BROKER_BIT(BROKER_KPROBE) | BROKER_BIT(BROKER_MAP) | \
	 BROKER_BIT(BROKER_LOAD) | BROKER_BIT(BROKER_TRY))

struct caps;
struct doctor_report;
struct fd_packet;
struct perf_event_attr;

/* Nothing happens where there are no rights to lend. */
MUST_USE int broker_start(uint32_t ops, struct diag *d);
MUST_USE int broker_seal(void);
void broker_stop(void); /* also without one */

/*
 * A descriptor for reading, or -errno: with the caller's own rights where they suffice, else from the broker. That one opens
 * /proc/kallsyms; small files of /proc/PID (maps, io, stat and such); lists and ids of events in tracefs; meters of energy; the
 * kernel's log; and what a process runs, if it is an ELF file or the map of
 * a JIT: /proc/PID/map_files/RANGE and /proc/PID/root/PATH, whose links stay inside that root.
 */
MUST_USE int broker_open(const char *path);
/* The same from the broker only; -EACCES where there is none. */
MUST_USE int broker_fetch(const char *path);
/* Reads a whole file of at most cap bytes, as text_read_file() does. */
MUST_USE int broker_read(const char *path, size_t cap, char **out);
/*
 * An event of perf for whatever runs on a CPU: a descriptor, or -errno. With the caller's own rights where they suffice: then,
 * before the seal, the event is remembered, and the broker opens the same one later, on CPUs that come online.
 */
MUST_USE int broker_perf(const struct perf_event_attr *attr, uint32_t cpu, int group_fd);
/* The same of one thread; tid -1 is whatever runs there. From BROKER_TRACING only, and nothing is remembered. */
MUST_USE int broker_perf_of(const struct perf_event_attr *attr, int tid, uint32_t cpu,
                            int group_fd);
MUST_USE int broker_bpf_stats(void);
/* A descriptor for its path only; mount_fd is any directory of the version 2 hierarchy. */
MUST_USE int broker_cgroup(int mount_fd, uint64_t id);
MUST_USE int broker_schedstat(bool is_on);

enum broker_bpf {
	BROKER_BPF_PROG,
	BROKER_BPF_MAP,
	BROKER_BPF_BTF,
	BROKER_BPF_CODE /* of a program: bpf_prog_code */
};
/* The id that follows, -ENOENT behind the last. */
MUST_USE int broker_bpf_next(enum broker_bpf kind, uint32_t id, uint32_t *next);
MUST_USE int broker_bpf_open(enum broker_bpf kind, uint32_t id);

/* As doctor_run(), with the rights of the broker; caps are those that the process began with. */
MUST_USE int broker_doctor(const struct caps *caps, struct doctor_report *out);

/* Whether there is a process for BROKER_TRACING. */
bool broker_can_trace(void);
/* An event of perf that fires when a function is called, or returns: a descriptor, or -errno. */
MUST_USE int broker_kprobe(const char *function, bool is_return);
/* -ENOENT: the file has no such function. With an offset from it only where our own rights do. */
MUST_USE int broker_uprobe(int file, const char *function, uint64_t offset, bool is_return);

enum broker_map {
	BROKER_MAP_RING,    /* of so many bytes */
	BROKER_MAP_STORAGE, /* of tasks, with values of so many bytes */
	BROKER_MAP_ONE,     /* an array of one number */
	BROKER_MAP_OF_ONE,  /* an array of one map; inner_fd is like it */
};
/* A BPF map: a descriptor, or -errno. */
MUST_USE int broker_bpf_map(enum broker_map kind, uint32_t bytes, int inner_fd);

/*
 * What loads BPF objects: the caller of broker_start() knows them, sys does not. An order is of a fixed size, at most
 * BROKER_ORDER_MAX, and nothing in it is to be trusted; *given are descriptors that came with it, *got those of maps and
 * programs. In why a sentence, if the kernel refused. 0 or -errno.
 */
#define BROKER_ORDER_MAX 4000U
#define BROKER_WHY_LEN   252U
typedef int broker_load_fn(const void *order, const struct fd_packet *given, struct fd_packet *got,
                           char why[BROKER_WHY_LEN]);
/* Before broker_start(). */
void broker_set_loader(broker_load_fn *load);
/* With BROKER_TRACING from its process, else by load in this one. */
MUST_USE int broker_load(broker_load_fn *load, const void *order, size_t bytes,
                         const struct fd_packet *given, struct fd_packet *got,
                         char why[BROKER_WHY_LEN]);

/* The one path for broker_connect(); before broker_seal(). */
MUST_USE int broker_allow_socket(const char *path);
/* A stream connection that does not block, or -errno. */
MUST_USE int broker_connect(const char *path);

/* A path for broker_file_open(); at most BROKER_FILES_MAX, before broker_seal(). */
#define BROKER_FILES_MAX 2
MUST_USE int broker_allow_file(const char *path);
/* Whatever ordinary file has that path now, for reading: with the caller's own rights where they suffice. A descriptor, or -errno. */
MUST_USE int broker_file_open(const char *path);

/*
 * Where files are made later: a directory of which the user has chosen the path. With a name, only files NAME.SOMETHING can be
 * made in it, and renamed to it; without (""), files of any new name. dir_fd is lent.
 */
struct broker_slot {
	int dir_fd;
	char name[NAME_MAX + 1];
	uint32_t nr;             /* the broker's number of it */
	char made[NAME_MAX + 1]; /* the file that was made last; "" = none */
};

/* At most BROKER_SLOTS_MAX, before broker_seal(). */
#define BROKER_SLOTS_MAX 8
MUST_USE int broker_slot_init(struct broker_slot *s, int dir_fd, const char *name);
/* A new file, open for writing: a descriptor, or -EEXIST and such. */
MUST_USE int broker_create(struct broker_slot *s, const char *name, uint32_t mode);
MUST_USE int broker_remove(struct broker_slot *s); /* what was made last */
MUST_USE int broker_rename(struct broker_slot *s); /* the same, to the name of the slot */
