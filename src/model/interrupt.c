#include "model/interrupt.h"

#include <stdio.h>

#include "abi/event.h"

struct interrupt_name {
	const char *title, *words;
};

static const struct interrupt_name names[ABI_BY_SOFTIRQ] = {
#define X(name, nr, title, words) [nr] = { title, words },
	ABI_BY(X)
#undef X
};

const char *softirq_name(uint32_t vector)
{
	static const char *const titles[SOFTIRQ_VECTORS] = {
		"hi",       "timer",   "net-tx", "net-rx",  "block",
		"irq-poll", "tasklet", "sched",  "hrtimer", "rcu",
	};

	return vector < SOFTIRQ_VECTORS ? titles[vector] : NULL;
}

/* As the kernel numbers them; titles are those of softirq_name(). */
static const char *const softirq_words[SOFTIRQ_VECTORS] = {
	"high-priority tasklet",
	"timer",
	"network transmit",
	"network receive",
	"block I/O",
	"IRQ polling",
	"tasklet",
	"load-balancing",
	"high-resolution timer",
	"RCU",
};

enum abi_context interrupt_context(uint32_t ev_flags, uint16_t by)
{
	if (ev_flags & EV_FLAG_NMI)
		return ABI_IN_NMI;
	if (ev_flags & EV_FLAG_HARDIRQ)
		return ABI_IN_HARDIRQ;
	if (ev_flags & EV_FLAG_SOFTIRQ)
		return ABI_IN_SOFTIRQ;
	return by == ABI_BY_NOT_RECORDED || ev_flags & EV_FLAG_UNKNOWN ? ABI_IN_UNKNOWN
	                                                               : ABI_IN_TASK;
}

bool interrupt_is(enum abi_context in)
{
	return in == ABI_IN_SOFTIRQ || in == ABI_IN_HARDIRQ || in == ABI_IN_NMI;
}

bool interrupt_irq(uint16_t by, uint32_t *out)
{
	if (by < ABI_BY_IRQ || by == ABI_BY_NOT_RECORDED)
		return false;
	*out = (uint32_t)(by - ABI_BY_IRQ);
	return true;
}

#define FIRST_KEY 0x80000000U

uint32_t interrupt_key(enum abi_context in, uint16_t by)
{
	return FIRST_KEY | (uint32_t)in << 16 | by;
}

bool interrupt_of_key(uint32_t key, struct interrupt *out)
{
	uint32_t in = (key & ~FIRST_KEY) >> 16;

	if (!(key & FIRST_KEY) || in > ABI_IN_NMI)
		return false;
	*out = (struct interrupt){ .in = (enum abi_context)in, .by = (uint16_t)key };
	return true;
}

static bool softirq_of(const struct interrupt *i, uint32_t *out)
{
	if (i->in != ABI_IN_SOFTIRQ || i->by < ABI_BY_SOFTIRQ ||
	    i->by >= ABI_BY_SOFTIRQ + SOFTIRQ_VECTORS)
		return false;
	*out = (uint32_t)(i->by - ABI_BY_SOFTIRQ);
	return true;
}

static const struct interrupt_name *name_of(const struct interrupt *i)
{
	if (i->in != ABI_IN_HARDIRQ || i->by >= ABI_BY_SOFTIRQ || !names[i->by].title)
		return NULL;
	return &names[i->by];
}

const char *interrupt_title(const struct interrupt *i, char buf[INTERRUPT_TEXT])
{
	const struct interrupt_name *name = name_of(i);
	uint32_t nr;

	if (name)
		return name->title;
	if (i->in == ABI_IN_NMI)
		return "NMI";
	if (softirq_of(i, &nr))
		(void)snprintf(buf, INTERRUPT_TEXT, "%s softirq", softirq_name(nr));
	else if (i->in == ABI_IN_HARDIRQ && interrupt_irq(i->by, &nr) && i->device)
		(void)snprintf(buf, INTERRUPT_TEXT, "%.48s interrupt", i->device);
	else if (i->in == ABI_IN_HARDIRQ && interrupt_irq(i->by, &nr))
		(void)snprintf(buf, INTERRUPT_TEXT, "interrupt %u", nr);
	else
		return i->in == ABI_IN_SOFTIRQ ? "unknown softirq" : "unknown interrupt";
	return buf;
}

const char *interrupt_words(const struct interrupt *i, char buf[INTERRUPT_TEXT])
{
	const struct interrupt_name *name = name_of(i);
	uint32_t nr;

	if (name)
		return name->words;
	if (i->in == ABI_IN_NMI)
		return "an NMI";
	if (softirq_of(i, &nr))
		(void)snprintf(buf, INTERRUPT_TEXT, "the %s softirq", softirq_words[nr]);
	else if (i->in == ABI_IN_HARDIRQ && interrupt_irq(i->by, &nr) && i->device)
		(void)snprintf(buf, INTERRUPT_TEXT, "the interrupt of %.42s", i->device);
	else if (i->in == ABI_IN_HARDIRQ && interrupt_irq(i->by, &nr))
		(void)snprintf(buf, INTERRUPT_TEXT, "interrupt %u", nr);
	else
		return i->in == ABI_IN_SOFTIRQ ? "a softirq (which one is not known)"
		                               : "an interrupt (which one is not known)";
	return buf;
}
