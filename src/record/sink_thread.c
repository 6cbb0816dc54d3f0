#include "record/sink_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"

#define NR_BATCHES  8U
#define BATCH_BYTES (256U << 10) /* more than the largest record */

struct record_batch {
	size_t len;
	_Alignas(8) uint8_t bytes[BATCH_BYTES];
};

/* Batches go round: filled at head, emptied at tail. */
struct sink_thread {
	struct ev_sink target;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t has_changed;
	unsigned int head, tail; /* count up */
	bool is_ended;
	int error; /* of the target; sticks */
	struct record_batch *batches;
};

static int push_all(const struct ev_sink *target, const struct record_batch *b)
{
	int err = 0;

	for (size_t at = 0; at < b->len && !err;) {
		const struct ev_hdr *rec = (const struct ev_hdr *)(const void *)(b->bytes + at);

		err = target->push(target->ctx, rec);
		at += rec->size;
	}
	return err;
}

static void *consume(void *ctx)
{
	struct sink_thread *t = ctx;

	pthread_mutex_lock(&t->lock);
	for (;;) {
		int err;

		while (t->tail == t->head && !t->is_ended)
			pthread_cond_wait(&t->has_changed, &t->lock);
		if (t->tail == t->head)
			break;
		err = t->error;
		pthread_mutex_unlock(&t->lock);
		if (!err)
			err = push_all(&t->target, &t->batches[t->tail % NR_BATCHES]);
		pthread_mutex_lock(&t->lock);
		t->error = err;
		t->tail++;
		pthread_cond_signal(&t->has_changed);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

static void release(struct sink_thread *t)
{
	pthread_cond_destroy(&t->has_changed);
	pthread_mutex_destroy(&t->lock);
	free(t->batches);
	free(t);
}

int sink_thread_open(const struct ev_sink *target, struct sink_thread **out)
{
	struct sink_thread *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->target = *target;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->has_changed, NULL);
	t->batches = calloc(NR_BATCHES, sizeof(*t->batches));
	err = t->batches ? thread_start(&t->thread, consume, t) : -ENOMEM;
	if (err) {
		release(t);
		return err;
	}
	*out = t;
	return 0;
}

/* The batch being filled is the producer's alone until it is handed over. */
static struct record_batch *filling(struct sink_thread *t)
{
	return &t->batches[t->head % NR_BATCHES];
}

static int hand_over(struct sink_thread *t)
{
	int err;

	pthread_mutex_lock(&t->lock);
	t->head++;
	pthread_cond_signal(&t->has_changed);
	while (t->head - t->tail == NR_BATCHES)
		pthread_cond_wait(&t->has_changed, &t->lock);
	err = t->error;
	pthread_mutex_unlock(&t->lock);
	filling(t)->len = 0;
	return err;
}

static int push(void *ctx, const struct ev_hdr *rec)
{
	struct sink_thread *t = ctx;
	struct record_batch *b = filling(t);
	int err;

	if (b->len + rec->size > BATCH_BYTES) {
		err = hand_over(t);
		if (err)
			return err;
		b = filling(t);
	}
	memcpy(b->bytes + b->len, rec, rec->size);
	b->len += rec->size;
	return 0;
}

/* Rare, so it waits until everything before it is done, and the target is idle. */
static int advance(void *ctx, __u64 ts_ns)
{
	struct sink_thread *t = ctx;
	int err = filling(t)->len ? hand_over(t) : 0;

	pthread_mutex_lock(&t->lock);
	while (t->tail != t->head)
		pthread_cond_wait(&t->has_changed, &t->lock);
	err = err ? err : t->error;
	if (!err && t->target.advance)
		err = t->target.advance(t->target.ctx, ts_ns);
	pthread_mutex_unlock(&t->lock);
	return err;
}

struct ev_sink sink_thread_sink(struct sink_thread *t)
{
	return (struct ev_sink){ .push = push, .advance = advance, .ctx = t };
}

int sink_thread_finish(struct sink_thread *t)
{
	int err;

	pthread_mutex_lock(&t->lock);
	if (filling(t)->len)
		t->head++;
	t->is_ended = true;
	pthread_cond_signal(&t->has_changed);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	err = t->error;
	release(t);
	return err;
}
