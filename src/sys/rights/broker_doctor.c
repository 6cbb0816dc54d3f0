/* What this machine allows, found out with the rights that a client has lent to its brokers, both sides. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/write_all.h"
#include "sys/doctor.h"
#include "sys/rights/broker_priv.h"
#include "sys/try_attach.h"

enum { TRY_LOAD, TRY_FENTRY, TRY_KPROBE, NR_TRIES };

/* In place of a path. */
struct question {
	struct caps caps;
	int32_t errors[NR_TRIES];
};

_Static_assert(sizeof(struct question) < PATH_MAX, "a question goes in place of a path");

int broker_serve_try(const struct broker_request *r)
{
	switch (r->mode) {
	case TRY_LOAD:
		return try_attach_load();
	case TRY_FENTRY:
		return try_attach_fentry();
	case TRY_KPROBE:
		return try_attach_kprobe();
	default:
		return -EINVAL;
	}
}

/* The names of checks are the same literals on both sides: the broker is a fork of its client. */
int broker_serve_doctor(const struct broker_request *r)
{
	SCOPED(scoped_close) int fd = memfd_create("doctor", MFD_CLOEXEC);
	struct doctor_report report;
	struct question q;
	int err;

	if (fd < 0)
		return -errno;
	memcpy(&q, r->path, sizeof(q));
	doctor_run(&(struct doctor_cfg){ .root = "",
	                                 .caps = &q.caps,
	                                 .has_tried_bpf = true,
	                                 .bpf_error = q.errors[TRY_LOAD],
	                                 .fentry_error = q.errors[TRY_FENTRY],
	                                 .kprobe_error = q.errors[TRY_KPROBE] },
	           &report);
	err = write_all(fd, &report, sizeof(report));
	return err ? err : TAKE_FD(fd);
}

int broker_doctor(const struct caps *caps, struct doctor_report *out)
{
	struct broker_request r = { .op = BROKER_DOCTOR };
	struct question q = { .caps = *caps };
	struct broker_state own = { .ops = ~0U };
	SCOPED(scoped_close) int fd = -1;

	for (uint32_t i = 0; i < NR_TRIES; i++)
		q.errors[i] = broker_ask_first_here(
			&(struct broker_request){ .op = BROKER_TRY, .mode = i }, -1);
	memcpy(r.path, &q, sizeof(q));
	fd = broker_is_there() ? broker_ask(&r, -1) : broker_serve(&own, &r, -1);
	if (fd < 0)
		return fd;
	return pread(fd, out, sizeof(*out), 0) == (ssize_t)sizeof(*out) ? 0 : -EIO;
}
