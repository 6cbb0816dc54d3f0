/*
 * model/interrupt — the name of an interrupt that woke a task. Pure.
 *
 * Which one it was is a number of abi/context.h; names of devices come from the caller, and are
 * untrusted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/context.h"

#define INTERRUPT_TEXT  64
#define SOFTIRQ_VECTORS 10

struct interrupt {
	enum abi_context in;
	uint16_t by;        /* ABI_BY_* */
	const char *device; /* what handles the interrupt of interrupt_irq(); NULL = unknown */
};

/* "timer", "net-rx", ...; NULL for a vector that Linux does not have. */
const char *softirq_name(uint32_t vector);
/* What the flags of a waking and its number say together. */
enum abi_context interrupt_context(uint32_t ev_flags, uint16_t by);
bool interrupt_is(enum abi_context in); /* hard, soft or NMI: the waker is not a task */
/* The kernel's number of a device's interrupt; false if it is none. */
bool interrupt_irq(uint16_t by, uint32_t *out);
/* A number above those of all tasks for an interrupt, so that both fit into the same field. */
uint32_t interrupt_key(enum abi_context in, uint16_t by);
bool interrupt_of_key(uint32_t key, struct interrupt *out); /* false for a task, or TASKS_NONE */
/* For tables: "timer interrupt", "net-rx softirq", "eth0 interrupt", "interrupt 27", "unknown interrupt". */
const char *interrupt_title(const struct interrupt *i, char buf[INTERRUPT_TEXT]);
/* Behind "woken by": "the timer interrupt", "the network receive softirq", "an interrupt (which one is not known)". */
const char *interrupt_words(const struct interrupt *i, char buf[INTERRUPT_TEXT]);
