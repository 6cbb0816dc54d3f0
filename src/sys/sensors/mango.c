#include "sys/sensors/mango.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <unistd.h>

#ifndef MSG_COPY
#define MSG_COPY 040000 /* Linux 3.8 */
#endif

#define PROJECT       65
#define MESSAGE_BYTES 512 /* later versions may add to it */

/* What the compositor sends, version 1. Not in the order that a compiler would choose. */
struct mango_message {
	long type;
	uint32_t version;
	uint32_t pid;
	uint64_t app_frametime_ns;
	uint8_t fsr_upscale;
	uint8_t fsr_sharpness;
	uint64_t visible_frametime_ns;
	uint64_t latency_ns;
	uint32_t output_width;
	uint32_t output_height;
	uint16_t display_refresh;
	uint8_t flags;
	char engine_name[MANGO_ENGINE];
} __attribute__((packed));
_Static_assert(sizeof(struct mango_message) == sizeof(long) + 85, "as it is sent");

enum { WANTS_HDR = 1, STEAM_FOCUSED = 2 };

struct letter {
	size_t bytes; /* type included */
	union {
		struct { /* as msgrcv() wants it */
			long type;
			char text[MESSAGE_BYTES];
		} raw;
		unsigned char all[sizeof(long) + MESSAGE_BYTES];
	};
};

struct mango {
	const char *path;
	bool cannot_copy;
	/* The content of the queue at this read and at the last one, oldest first. */
	struct letter *now, *before;
	size_t nr_now, nr_before;
	struct mango_frame frames[MANGO_FRAMES_MAX];
};

bool mango_decode(const void *message, size_t bytes, struct mango_frame *out)
{
	struct mango_message m;

	if (bytes < sizeof(m))
		return false;
	memcpy(&m, message, sizeof(m));
	if (m.version != 1)
		return false;
	*out = (struct mango_frame){
		.pid = m.pid,
		.app_ns = m.app_frametime_ns,
		.visible_ns = m.visible_frametime_ns,
		.latency_ns = m.latency_ns,
		.width = m.output_width,
		.height = m.output_height,
		.refresh_hz = m.display_refresh,
		.upscale = m.fsr_upscale,
		.sharpness = m.fsr_sharpness,
		.has_hdr = m.flags & WANTS_HDR,
		.is_steam_focused = m.flags & STEAM_FOCUSED,
	};
	memcpy(out->engine, m.engine_name, MANGO_ENGINE);
	return true;
}

int mango_open(const char *path, struct mango **out)
{
	struct mango *m = calloc(1, sizeof(*m));

	if (m) {
		m->path = path;
		m->now = calloc(MANGO_FRAMES_MAX, sizeof(*m->now));
		m->before = calloc(MANGO_FRAMES_MAX, sizeof(*m->before));
	}
	if (!m || !m->now || !m->before) {
		mango_close(m);
		return -ENOMEM;
	}
	*out = m;
	return 0;
}

void mango_close(struct mango *m)
{
	if (!m)
		return;
	free(m->now);
	free(m->before);
	free(m);
}

/* The other process that removes messages: the last one that did, unless it was us or has exited. */
static pid_t other_reader(const struct msqid_ds *q)
{
	if (!q->msg_lrpid || q->msg_lrpid == getpid())
		return 0;
	return kill(q->msg_lrpid, 0) == 0 || errno == EPERM ? q->msg_lrpid : 0;
}

/* One message, by its place if it is copied, else the first. Its size, or -errno. */
static ssize_t receive(int id, struct letter *l, long place, bool is_copy)
{
	int flags = IPC_NOWAIT | MSG_NOERROR | (is_copy ? MSG_COPY : 0);
	ssize_t n = msgrcv(id, &l->raw, sizeof(l->raw.text), is_copy ? place : 0, flags);

	if (n < 0)
		return -errno;
	l->bytes = sizeof(long) + (size_t)n;
	return n;
}

static int copy_all(struct mango *m, int id)
{
	while (m->nr_now < MANGO_FRAMES_MAX) {
		ssize_t n = receive(id, &m->now[m->nr_now], (long)m->nr_now, true);

		if (n == -ENOMSG)
			return 0;
		if (n < 0)
			return (int)n;
		m->nr_now++;
	}
	return 0;
}

/* More than we hold: the newest ones stay. */
static int take_all(struct mango *m, int id)
{
	for (size_t i = 0;; i++) {
		ssize_t n;

		if (m->nr_now == MANGO_FRAMES_MAX) {
			memmove(m->now, m->now + 1, (m->nr_now - 1) * sizeof(*m->now));
			m->nr_now--;
		}
		n = receive(id, &m->now[m->nr_now], 0, false);
		if (n == -ENOMSG)
			return 0;
		if (n < 0)
			return (int)n;
		m->nr_now++;
		/* A sender without end does not keep us here. */
		if (i == 8 * (size_t)MANGO_FRAMES_MAX)
			return 0;
	}
}

static bool is_same(const struct letter *a, const struct letter *b)
{
	return a->bytes == b->bytes && memcmp(a->all, b->all, a->bytes) == 0;
}

/*
 * Others take from the front, new ones come at the end: what remains of the last read begins this
 * one. Returns how many of this read were there before.
 */
static size_t nr_seen(const struct mango *m)
{
	for (size_t gone = 0; gone < m->nr_before; gone++) {
		size_t left = m->nr_before - gone, i = 0;

		if (left > m->nr_now)
			continue;
		while (i < left && is_same(&m->before[gone + i], &m->now[i]))
			i++;
		if (i == left)
			return left;
	}
	return 0;
}

static void decode_new(struct mango *m, struct mango_frames *out)
{
	for (size_t i = nr_seen(m); i < m->nr_now; i++) {
		if (mango_decode(m->now[i].all, m->now[i].bytes, &m->frames[out->nr]))
			out->nr++;
		else
			out->nr_odd++;
	}
	out->frames = m->frames;
}

static void remember(struct mango *m, bool is_taking)
{
	struct letter *old = m->before;

	m->before = m->now;
	m->nr_before = is_taking ? 0 : m->nr_now;
	m->now = old;
	m->nr_now = 0;
}

int mango_read(struct mango *m, struct mango_frames *out)
{
	/* Without such a file the key is -1: so it is for mangoapp and those that write to it, too. */
	int id = msgget(ftok(m->path, PROJECT), 0), err = 0;
	struct mango_frames l = { 0 };
	struct msqid_ds q;

	if (id < 0 || msgctl(id, IPC_STAT, &q) < 0)
		return -errno;
	l.other = other_reader(&q);
	l.sent_s = (uint64_t)q.msg_stime;
	if (l.other && !m->cannot_copy) {
		err = copy_all(m, id);
		m->cannot_copy = err == -ENOSYS || err == -EINVAL;
	}
	l.is_taking = !l.other || m->cannot_copy;
	if (l.is_taking)
		err = take_all(m, id);
	if (err) {
		m->nr_now = 0;
		return err;
	}
	decode_new(m, &l);
	remember(m, l.is_taking);
	*out = l;
	return 0;
}
