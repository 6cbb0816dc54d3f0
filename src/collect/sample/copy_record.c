#include "collect/sample/copy_record.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "abi/profile.h"
#include "sys/stack_copy.h"

/* Where the kernel puts them, in the order of its bits: first the registers of DWARF, last the program counter. */
#if defined(__x86_64__)
#define REGISTERS                                \
	(((1ULL << (PERF_REG_X86_IP + 1)) - 1) | \
	 (((1ULL << (PERF_REG_X86_R15 + 1)) - 1) & ~((1ULL << PERF_REG_X86_R8) - 1)))
static const uint8_t places[] = { 0, 3, 2, 1, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 8 };
#else
#define REGISTERS ((1ULL << PERF_REG_ARM64_MAX) - 1)
static const uint8_t places[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
	                          11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
	                          22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };
#endif

#define NR_REGISTERS (sizeof(places) / sizeof(places[0]))

_Static_assert(NR_REGISTERS == STACK_COPY_REGISTERS + 1, "and the program counter");

/* What is still to be read of a record. */
struct rest {
	const uint8_t *at;
	size_t bytes;
};

void copy_record_attr(struct perf_event_attr *attr)
{
	attr->sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = REGISTERS;
	attr->sample_stack_user = STACK_COPY_BYTES;
}

static const void *take(struct rest *r, size_t bytes)
{
	const void *at = r->at;

	if (bytes > r->bytes)
		return NULL;
	r->at += bytes;
	r->bytes -= bytes;
	return at;
}

static int take_u64(struct rest *r, uint64_t *out)
{
	const void *at = take(r, sizeof(*out));

	if (!at)
		return -EBADMSG;
	memcpy(out, at, sizeof(*out));
	return 0;
}

/* What the program wrote: its size, the bytes, perhaps another stack, and what fills them up. */
static int take_note(struct rest *r, struct prof_copy *note, struct prof_stack *walked)
{
	const void *at = take(r, sizeof(uint32_t));
	uint32_t bytes;

	if (!at)
		return -EBADMSG;
	memcpy(&bytes, at, sizeof(bytes));
	at = take(r, bytes);
	if (!at || bytes < sizeof(*note))
		return -EBADMSG;
	memcpy(note, at, sizeof(*note));
	walked->nr = 0;
	if (bytes - sizeof(*note) >= sizeof(*walked))
		memcpy(walked, (const uint8_t *)at + sizeof(*note), sizeof(*walked));
	return walked->nr > PROF_DEPTH ? -EBADMSG : 0;
}

static int take_registers(struct rest *r, struct stack_copy *out)
{
	uint64_t all[NR_REGISTERS];
	const void *at = take(r, sizeof(all));

	if (!at)
		return -EBADMSG;
	memcpy(all, at, sizeof(all));
	for (size_t i = 0; i < STACK_COPY_REGISTERS; i++)
		out->registers[i] = all[places[i]];
	out->pc = all[places[STACK_COPY_REGISTERS]];
	return 0;
}

/* Room for so many bytes, and at the end how many there were. */
static int take_stack(struct rest *r, struct stack_copy *out)
{
	uint64_t room, bytes;
	int err = take_u64(r, &room);

	out->stack = r->at;
	out->bytes = 0;
	if (err || !room)
		return err;
	if (room > STACK_COPY_BYTES || !take(r, (size_t)room))
		return -EBADMSG;
	err = take_u64(r, &bytes);
	if (!err && bytes > room)
		err = -EBADMSG;
	if (!err)
		out->bytes = (uint32_t)bytes;
	return err;
}

int copy_record_parse(const struct perf_event_header *record, size_t bytes, struct prof_copy *note,
                      struct prof_stack *walked, struct stack_copy *out)
{
	struct rest r = { (const uint8_t *)(record + 1), bytes - sizeof(*record) };
	uint64_t abi;
	int err;

	if (bytes < sizeof(*record))
		return -EBADMSG;
	if (record->type != PERF_RECORD_SAMPLE)
		return -ENOENT;
	err = take_note(&r, note, walked);
	if (!err)
		err = take_u64(&r, &abi);
	if (err || abi == PERF_SAMPLE_REGS_ABI_NONE)
		return err;
	*out = (struct stack_copy){ .tgid = note->tgid,
		                    .is_64 = abi == PERF_SAMPLE_REGS_ABI_64,
		                    .ts_ns = note->ts_ns,
		                    .walked = walked->nr ? walked : NULL };
	err = take_registers(&r, out);
	if (!err)
		err = take_stack(&r, out);
	return err ? err : 1;
}
