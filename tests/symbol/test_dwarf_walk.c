/* Copies of this program's own stack, walked by libdw: here, and by the process without rights. */
#include "../unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "abi/profile.h"
#include "base/clock.h"
#include "symbol/dwarf_walk.h"
#include "symbol/symbolizer.h"
#include "sys/stack_copy.h"

#define STACK_BYTES 16384U
#define NR_PARTS    64U

struct own_copy {
	struct stack_copy copy;
	uint8_t stack[STACK_BYTES];
};

struct own_parts {
	struct dwarf_part all[NR_PARTS];
	char paths[NR_PARTS][256];
	uint32_t nr;
};

#if defined(__x86_64__)
static void set_registers(struct stack_copy *c, const ucontext_t *u)
{
	static const int order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
		                     REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
		                     REG_R12, REG_R13, REG_R14, REG_R15 };

	for (unsigned int i = 0; i < STACK_COPY_REGISTERS; i++)
		c->registers[i] = (uint64_t)u->uc_mcontext.gregs[order[i]];
	c->pc = (uint64_t)u->uc_mcontext.gregs[REG_RIP];
}
#else
static void set_registers(struct stack_copy *c, const ucontext_t *u)
{
	memcpy(c->registers, u->uc_mcontext.regs, sizeof(u->uc_mcontext.regs));
	c->registers[STACK_COPY_SP] = u->uc_mcontext.sp;
	c->pc = u->uc_mcontext.pc;
}
#endif

static uint64_t stack_end(void)
{
	pthread_attr_t attr;
	void *start;
	size_t bytes;

	assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
	assert_int_equal(pthread_attr_getstack(&attr, &start, &bytes), 0);
	pthread_attr_destroy(&attr);
	return (uint64_t)(uintptr_t)start + bytes;
}

/* What lies above this frame. */
__attribute__((noinline, no_sanitize("address"))) static void take_copy(struct own_copy *out)
{
	ucontext_t here;
	const volatile uint8_t *from;
	uint64_t above;

	assert_int_equal(getcontext(&here), 0);
	out->copy = (struct stack_copy){ .tgid = (uint32_t)getpid(),
		                         .is_64 = true,
		                         .ts_ns = clock_boot_ns(),
		                         .stack = out->stack };
	set_registers(&out->copy, &here);
	from = (const volatile uint8_t *)(uintptr_t)out->copy.registers[STACK_COPY_SP];
	above = stack_end() - out->copy.registers[STACK_COPY_SP];
	out->copy.bytes = above < STACK_BYTES ? (uint32_t)above : STACK_BYTES;
	for (uint32_t i = 0; i < out->copy.bytes; i++)
		out->stack[i] = from[i];
}

__attribute__((noinline)) static int inner(struct own_copy *out, int n)
{
	take_copy(out);
	return n + 1;
}

__attribute__((noinline)) static int outer(struct own_copy *out, int n)
{
	char room[600]; /* so that frames lie apart */

	memset(room, n, sizeof(room));
	return inner(out, n) + room[n];
}

/* Executable parts of this process that have a file. */
static void read_parts(struct own_parts *p)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[600], rights[8];
	unsigned long start, end, offset;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) && p->nr < NR_PARTS) {
		p->paths[p->nr][0] = '\0';
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", &start, &end, rights, &offset,
		           p->paths[p->nr]) < 5 ||
		    rights[2] != 'x' || p->paths[p->nr][0] != '/')
			continue;
		p->all[p->nr] = (struct dwarf_part){ start, end, offset, p->nr };
		p->nr++;
	}
	fclose(f);
}

static int index_of(const struct prof_stack *s, const void *function)
{
	uint64_t start = (uint64_t)(uintptr_t)function & ((1ULL << 48) - 1);

	for (uint32_t i = 0; i < s->nr; i++)
		if (s->ips[i] > start && s->ips[i] < start + 4096)
			return (int)i;
	return -1;
}

/* Return addresses lie behind the beginning of their functions, the nearest of which is the one. */
static void expect_callers(const struct prof_stack *s)
{
	int in = index_of(s, (const void *)(uintptr_t)inner);

	assert_true(s->nr >= 4);
	assert_true(in >= 0);
	assert_true(index_of(s, (const void *)(uintptr_t)outer) >= 0);
}

static struct dwarf_walk *walk_of_this(struct own_parts *parts)
{
	struct dwarf_walk *w = dwarf_walk_new();

	assert_non_null(w);
	read_parts(parts);
	assert_true(parts->nr >= 2);
	for (uint32_t i = 0; i < parts->nr; i++)
		assert_int_equal(dwarf_walk_file(w, i, open(parts->paths[i], O_RDONLY | O_CLOEXEC)),
		                 0);
	assert_int_equal(dwarf_walk_space(w, 3, parts->all, parts->nr), 0);
	return w;
}

static void callers_are_found_up_to_the_first_function(void **state)
{
	static struct own_parts parts;
	static struct own_copy own;
	struct dwarf_walk *w = walk_of_this(&parts);
	struct prof_stack out, again;

	(void)state;
	(void)outer(&own, 1);
	assert_int_equal(dwarf_walk_stack(w, 3, &own.copy, &out), 0);
	expect_callers(&out);
	/* Its stack may be deeper than the copy. */
	assert_true(out.end == PROF_END_WHOLE || out.end == PROF_END_READ);
	assert_int_equal(dwarf_walk_stack(w, 3, &own.copy, &again), 0);
	assert_int_equal(again.nr, out.nr);
	assert_memory_equal(again.ips, out.ips, out.nr * sizeof(out.ips[0]));
	dwarf_walk_free(w);
}

static void a_copy_that_is_cut_ends_there(void **state)
{
	static struct own_parts parts;
	static struct own_copy own;
	struct dwarf_walk *w = walk_of_this(&parts);
	struct prof_stack whole, cut;

	(void)state;
	(void)outer(&own, 1);
	assert_int_equal(dwarf_walk_stack(w, 3, &own.copy, &whole), 0);
	own.copy.bytes = 0;
	assert_int_equal(dwarf_walk_stack(w, 3, &own.copy, &cut), 0);
	assert_int_equal(cut.end, PROF_END_READ);
	assert_true(cut.nr < whole.nr);
	assert_int_equal(cut.ips[0], own.copy.pc);
	dwarf_walk_free(w);
}

static void without_files_there_is_where_it_was(void **state)
{
	static struct own_copy own;
	struct dwarf_walk *w = dwarf_walk_new();
	const struct dwarf_part unknown = { 0x1000, 0x2000, 0, 7 };
	struct prof_stack out;

	(void)state;
	(void)outer(&own, 1);
	assert_int_equal(dwarf_walk_stack(w, 0, &own.copy, &out), 0);
	assert_int_equal(out.nr, 1);
	assert_int_equal(out.end, PROF_END_NO_TABLE);
	assert_int_equal(dwarf_walk_space(w, 0, &unknown, 1), 0);
	assert_int_equal(dwarf_walk_stack(w, 0, &own.copy, &out), 0);
	assert_int_equal(out.end, PROF_END_NO_TABLE);
	assert_int_equal(dwarf_walk_space(w, DWARF_WALK_SPACES, &unknown, 1), -EINVAL);
	assert_int_equal(dwarf_walk_stack(w, DWARF_WALK_SPACES, &own.copy, &out), -EINVAL);
	assert_int_equal(dwarf_walk_file(w, 1, open("/dev/null", O_RDONLY | O_CLOEXEC)), -ENOEXEC);
	dwarf_walk_free(w);
}

static void the_process_without_rights_finds_the_same(void **state)
{
	static struct own_parts parts;
	static struct own_copy own;
	struct dwarf_walk *w = walk_of_this(&parts);
	struct symbolizer *s = NULL;
	struct prof_stack here, there;
	struct diag d = { 0 };

	(void)state;
	(void)outer(&own, 1);
	assert_int_equal(dwarf_walk_stack(w, 3, &own.copy, &here), 0);
	assert_int_equal(symbolizer_new(&(struct symbolizer_cfg){ 0 }, &d, &s), 0);
	assert_int_equal(symbolizer_walk(s, &own.copy, &there), 0);
	assert_int_equal(there.end, here.end);
	assert_int_equal(there.nr, here.nr);
	assert_memory_equal(there.ips, here.ips, here.nr * sizeof(here.ips[0]));
	own.copy.is_64 = false;
	assert_int_equal(symbolizer_walk(s, &own.copy, &there), 0);
	assert_int_equal(there.nr, 1);
	assert_int_equal(there.end, PROF_END_NO_TABLE);
	symbolizer_free(s);
	dwarf_walk_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_are_found_up_to_the_first_function),
		cmocka_unit_test(a_copy_that_is_cut_ends_there),
		cmocka_unit_test(without_files_there_is_where_it_was),
		cmocka_unit_test(the_process_without_rights_finds_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
