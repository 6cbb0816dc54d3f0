/* fuzz/fuzz_cfi — any bytes as call frame information of either machine: the rows are sorted, and survive a message. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "fuzz.h"
#include "symbol/cfi.h"
#include "symbol/unwind_table.h"
#include "sys/rights/sandbox_msg.h"

#define ADDRESS 0x400000U

static int add_row(void *ctx, uint64_t address, uint32_t rule)
{
	int err = unwind_table_add(ctx, address, rule);

	fuzz_check(err == 0 || err == -E2BIG); /* never out of order */
	return err;
}

static void send(const struct unwind_table *t)
{
	SCOPED(sandbox_msg_done) struct sandbox_msg m = { 0 };
	SCOPED(scoped_unwind_table) struct unwind_table *back = NULL;
	const struct unwind_row *a, *b;
	uint32_t nr, nr_back;

	unwind_table_put(t, &m);
	fuzz_check(unwind_table_get(&m, &back) == 0);
	a = unwind_table_rows(t, &nr);
	b = unwind_table_rows(back, &nr_back);
	fuzz_check(nr == nr_back && (!nr || memcmp(a, b, nr * sizeof(*a)) == 0));
	for (uint32_t i = 0; i < nr && i < 64; i++)
		fuzz_check(unwind_table_rule(back, unwind_table_base(t) + a[i].at) == a[i].rule);
}

/* The first byte chooses machine and kind, the second where the bytes are cut into two sections. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SCOPED(scoped_unwind_table) struct unwind_table *t = unwind_table_new();
	SCOPED(scoped_cfi) struct cfi *c = NULL;
	struct cfi_section first = { .address = ADDRESS }, second = { .address = ADDRESS };

	if (size < 2)
		return 0;
	c = cfi_new(data[0] & 1 ? CFI_ARM64 : CFI_X86_64);
	fuzz_check(t && c);
	first.is_eh = data[0] & 2;
	second.is_eh = data[0] & 4;
	second.move = data[0] & 8 ? 0x1000 : 0;
	first.bytes = data + 2;
	first.len = (size - 2) * data[1] / 255;
	second.bytes = first.bytes + first.len;
	second.len = size - 2 - first.len;
	fuzz_check(cfi_add(c, &first) == 0 && cfi_add(c, &second) == 0);
	if (cfi_rows(c, add_row, t) == 0)
		send(t);
	return 0;
}
