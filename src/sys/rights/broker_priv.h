/* sys/rights/broker, both sides of its connection: broker.c asks, broker_serve.c answers. */
#pragma once

#include <limits.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "sys/rights/broker.h"
#include "sys/rights/broker_dirs.h"
#include "sys/rights/fd_packet.h"

#define SOCKET_PATH_MAX 108 /* of struct sockaddr_un */

/* One request is one packet of this size, with a descriptor where the operation takes one. */
struct broker_request {
	uint32_t op;
	uint32_t mode;       /* of a file; whether to switch on; a CPU; a kind of id */
	uint64_t id;         /* of a cgroup, of a slot, of the kernel's */
	char path[PATH_MAX]; /* with its NUL; of an event of perf, its attributes */
};

_Static_assert(BROKER_ORDER_MAX < PATH_MAX, "an order goes in place of a path");

/* A packet: a number, mostly 0, or a negative errno; where the operation gives descriptors, they come with 0. */
struct broker_reply {
	int32_t err;
	char why[BROKER_WHY_LEN]; /* of BROKER_LOAD */
};

/* Events of perf that may be opened again. */
#define BROKER_PERF_MAX 64U
struct broker_perfs {
	struct perf_event_attr attrs[BROKER_PERF_MAX];
	uint32_t nr;
};

/* False: it was not there. */
bool broker_perfs_have(const struct broker_perfs *p, const struct perf_event_attr *attr);
/* Once; false without room. */
bool broker_perfs_add(struct broker_perfs *p, const struct perf_event_attr *attr);
MUST_USE int broker_perf_open(const struct perf_event_attr *attr, int tid, uint32_t cpu,
                              int group_fd);

/* What the broker has been set up with. */
struct broker_state {
	uint32_t ops; /* BROKER_BIT() */
	struct broker_slot slots[BROKER_SLOTS_MAX];
	uint32_t nr_slots;
	struct broker_perfs perfs;
	struct broker_dirs dirs;
	char socket[SOCKET_PATH_MAX];           /* that may be connected to; "" = none */
	char files[BROKER_FILES_MAX][PATH_MAX]; /* that may be read; "" = none */
	bool is_sealed;
	bool is_lent; /* the rights that are used are not those of the one who asks */
};

MUST_USE int broker_socket_connect(const char *path);

/* On a slot in this process or in the broker. */
MUST_USE int broker_slot_create(struct broker_slot *s, const char *name, uint32_t mode);
MUST_USE int broker_slot_remove(struct broker_slot *s);
MUST_USE int broker_slot_rename(struct broker_slot *s);

/* The same of sys/rights/broker_dirs, on a list in this process or in the broker. */
MUST_USE int dirs_add(struct broker_dirs *s, const char *path, int fd); /* fd is lent */
MUST_USE int dirs_open(const struct broker_dirs *s, const char *path);
MUST_USE int dirs_again(int fd);
MUST_USE int dirs_place(const struct broker_dirs *s, const char *path); /* its directory */
MUST_USE int dirs_make(struct broker_dirs *s, const char *real);
enum dirs_how { DIRS_NAMED, DIRS_BESIDE, DIRS_SHARED }; /* the last is beside, too */
MUST_USE int dirs_create(const struct broker_dirs *s, const char *real, enum dirs_how how);
MUST_USE int dirs_keep(const struct broker_dirs *s, int fd, const char *real);
MUST_USE int dirs_remove(const struct broker_dirs *s, int fd);
/* Where the file of a descriptor is now. */
MUST_USE int dirs_path_of(int fd, char path[PATH_MAX]);
MUST_USE int broker_serve_try(const struct broker_request *r);
MUST_USE int broker_serve_doctor(const struct broker_request *r);
MUST_USE int broker_serve_dirs(struct broker_state *s, const struct broker_request *r, int given);
/* An operation on files below directories, of the broker's; with -EACCES without one. */
MUST_USE int broker_ask_dirs(enum broker_op op, uint32_t mode, const char *path, int with);
bool broker_is_there(void);
/* In this process where its rights suffice, else from the broker of the operation: a descriptor, a number, or -errno. */
MUST_USE int broker_ask(const struct broker_request *r, int with); /* the latter only */
MUST_USE int broker_ask_first_here(const struct broker_request *r, int with);
/* -EACCES without a process for it, -EPIPE when it is gone; what it answers. */
MUST_USE int broker_exchange(const struct broker_request *r, const struct fd_packet *given,
                             struct fd_packet *got, struct broker_reply *reply);
/* The operations of BROKER_TRACING that give one descriptor. */
MUST_USE int broker_serve_tracing(const struct broker_state *s, const struct broker_request *r,
                                  int given);
/* BROKER_LOAD, by what broker_set_loader() has set. */
MUST_USE int broker_serve_load(const struct broker_request *r, const struct fd_packet *given,
                               struct fd_packet *got, struct broker_reply *reply);

/* Does what is asked: a descriptor, a number (mostly 0) for operations without, or -errno. given is a descriptor that came along, or -1. */
MUST_USE int broker_serve(struct broker_state *s, const struct broker_request *r, int given);
/* Waits for requests until the other side is gone. Never returns. */
_Noreturn void broker_loop(int fd, uint32_t ops);
