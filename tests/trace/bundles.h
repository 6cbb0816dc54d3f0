/* tests/trace/bundles — packets with events of the kernel, by hand. */
#pragma once

#include "enc.h"

/* A packet with what is in body, which is empty afterwards. */
static inline void put_packet(struct enc *trace, struct enc *body)
{
	enc_msg(trace, 1, body);
}

/* An event in full into a bundle: the message in sub is the member. */
static inline void put_event(struct enc *bundle, uint64_t ts, uint32_t pid, uint32_t member,
                             struct enc *sub)
{
	static struct enc event;

	event.len = 0;
	enc_uint(&event, 1, ts);
	enc_uint(&event, 2, pid);
	enc_msg(&event, member, sub);
	enc_msg(bundle, 2, &event);
}

static inline void put_switch(struct enc *bundle, uint64_t ts, uint32_t prev, uint64_t state,
                              uint32_t next)
{
	static struct enc sub;
	char name[16];

	sub.len = 0;
	(void)snprintf(name, sizeof(name), "task-%u", prev);
	enc_text(&sub, 1, prev ? name : "swapper/0");
	enc_uint(&sub, 2, prev);
	enc_uint(&sub, 3, 120);
	enc_uint(&sub, 4, state);
	(void)snprintf(name, sizeof(name), "task-%u", next);
	enc_text(&sub, 5, next ? name : "swapper/0");
	enc_uint(&sub, 6, next);
	enc_uint(&sub, 7, 120);
	put_event(bundle, ts, prev, 4, &sub);
}

/* sched_waking 20, sched_wakeup 17, sched_wakeup_new 114 */
static inline void put_wake(struct enc *bundle, uint32_t member, uint64_t ts, uint32_t waker,
                            uint32_t tid, uint32_t target)
{
	static struct enc sub;
	char name[16];

	sub.len = 0;
	(void)snprintf(name, sizeof(name), "task-%u", tid);
	enc_text(&sub, 1, name);
	enc_uint(&sub, 2, tid);
	enc_uint(&sub, 3, 120);
	enc_uint(&sub, 4, 1);
	enc_uint(&sub, 5, target);
	put_event(bundle, ts, waker, member, &sub);
}

/* The bundle becomes a packet of sequence seq (0 = none); it is empty afterwards. */
static inline void put_bundle(struct enc *trace, uint32_t seq, uint32_t cpu, struct enc *bundle)
{
	static struct enc packet, whole;

	packet.len = whole.len = 0;
	if (seq)
		enc_uint(&packet, 10, seq);
	enc_uint(&whole, 1, cpu);
	enc_raw(&whole, bundle->buf, bundle->len);
	bundle->len = 0;
	enc_msg(&packet, 1, &whole);
	put_packet(trace, &packet);
}
