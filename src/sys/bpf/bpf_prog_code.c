#include "sys/bpf/bpf_prog_code.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/write_all.h"
#include "sys/bpf/bpf_btf.h"
#include "sys/rights/broker.h"

#define RANGES_MAX 4096U
#define LINES_MAX  (1U << 20)

struct bpf_prog_code {
	struct btf *btf; /* its texts are what is given out; NULL = none */
	struct bpf_prog_range *ranges;
	size_t nr_ranges;
	struct bpf_prog_line *lines; /* by address */
	uint32_t *numbers;           /* of lines */
	size_t nr_lines;
	uint32_t nr_numbers; /* then one for each function, for what has no line */
};

void bpf_prog_code_free(struct bpf_prog_code *c)
{
	if (!c)
		return;
	btf__free(c->btf);
	free(c->ranges);
	free(c->lines);
	free(c->numbers);
	free(c);
}

DEFINE_SCOPED(bpf_prog_code, bpf_prog_code_free)

static int by_address(const void *a, const void *b)
{
	const struct bpf_prog_line *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int by_start(const void *a, const void *b)
{
	const struct bpf_prog_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Indices of lines, by file and line, so that equal ones are adjacent. */
static int by_line(const void *a, const void *b, void *arg)
{
	const struct bpf_prog_line *lines = arg;
	const struct bpf_prog_line *x = &lines[*(const uint32_t *)a];
	const struct bpf_prog_line *y = &lines[*(const uint32_t *)b];
	int files = strcmp(x->file ? x->file : "", y->file ? y->file : "");

	return files ? files : (x->line > y->line) - (x->line < y->line);
}

/* Texts that are equal are one line, wherever its code was put. */
static int number_lines(struct bpf_prog_code *c)
{
	SCOPED(scoped_free) uint32_t *order = calloc(c->nr_lines + 1, sizeof(*order));

	c->numbers = calloc(c->nr_lines + 1, sizeof(*c->numbers));
	if (!order || !c->numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->nr_lines; i++)
		order[i] = i;
	qsort_r(order, c->nr_lines, sizeof(*order), by_line, c->lines);
	for (size_t i = 0; i < c->nr_lines; i++) {
		c->nr_numbers += i > 0 && by_line(&order[i - 1], &order[i], c->lines) != 0;
		c->numbers[order[i]] = c->nr_numbers;
	}
	c->nr_numbers += c->nr_lines > 0;
	return 0;
}

static int settle(struct bpf_prog_code *c)
{
	if (c->nr_ranges)
		qsort(c->ranges, c->nr_ranges, sizeof(*c->ranges), by_start);
	if (c->nr_lines)
		qsort(c->lines, c->nr_lines, sizeof(*c->lines), by_address);
	return number_lines(c);
}

int bpf_prog_code_make(const struct bpf_prog_range *ranges, size_t nr_ranges,
                       const struct bpf_prog_line *lines, size_t nr_lines,
                       struct bpf_prog_code **out)
{
	SCOPED(scoped_bpf_prog_code) struct bpf_prog_code *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->ranges = calloc(nr_ranges + 1, sizeof(*c->ranges));
	c->lines = calloc(nr_lines + 1, sizeof(*c->lines));
	if (!c->ranges || !c->lines)
		return -ENOMEM;
	if (nr_ranges)
		memcpy(c->ranges, ranges, nr_ranges * sizeof(*ranges));
	if (nr_lines)
		memcpy(c->lines, lines, nr_lines * sizeof(*lines));
	c->nr_ranges = nr_ranges;
	c->nr_lines = nr_lines;
	err = settle(c);
	if (err)
		return err;
	*out = TAKE_PTR(c);
	return 0;
}

/* What the kernel reports of a program in arrays. */
struct raw {
	struct bpf_prog_info info;
	uint64_t *ksyms;
	uint32_t *lens;
	struct bpf_func_info *funcs;
	struct bpf_line_info *lines;
	uint64_t *addresses; /* of lines */
};

static void scoped_raw(struct raw *r)
{
	free(r->ksyms);
	free(r->lens);
	free(r->funcs);
	free(r->lines);
	free(r->addresses);
}

static uint64_t as_u64(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static int allocate(struct raw *r, const struct bpf_prog_info *count)
{
	r->ksyms = calloc(count->nr_jited_ksyms + 1, sizeof(*r->ksyms));
	r->lens = calloc(count->nr_jited_func_lens + 1, sizeof(*r->lens));
	r->funcs = calloc(count->nr_func_info + 1, sizeof(*r->funcs));
	r->lines = calloc(count->nr_line_info + 1, sizeof(*r->lines));
	r->addresses = calloc(count->nr_jited_line_info + 1, sizeof(*r->addresses));
	return r->ksyms && r->lens && r->funcs && r->lines && r->addresses ? 0 : -ENOMEM;
}

/* First the count is read, then the records. Records of other sizes than ours are not requested. */
static int read_raw(int fd, struct raw *r)
{
	struct bpf_prog_info count = { 0 }, *in = &r->info;
	__u32 len = sizeof(count);

	if (bpf_obj_get_info_by_fd(fd, &count, &len))
		return -errno;
	if (count.nr_jited_ksyms > RANGES_MAX || count.nr_line_info > LINES_MAX)
		return -E2BIG;
	if (allocate(r, &count))
		return -ENOMEM;
	*in = (struct bpf_prog_info){
		.nr_jited_ksyms = count.nr_jited_ksyms,
		.jited_ksyms = as_u64(r->ksyms),
		.nr_jited_func_lens = count.nr_jited_func_lens,
		.jited_func_lens = as_u64(r->lens),
		.nr_func_info = count.nr_func_info,
		.func_info_rec_size = sizeof(*r->funcs),
		.func_info = as_u64(r->funcs),
		.nr_line_info = count.nr_line_info,
		.line_info_rec_size = sizeof(*r->lines),
		.line_info = as_u64(r->lines),
		.nr_jited_line_info = count.nr_jited_line_info,
		.jited_line_info_rec_size = sizeof(*r->addresses),
		.jited_line_info = as_u64(r->addresses),
	};
	len = sizeof(*in);
	return bpf_obj_get_info_by_fd(fd, in, &len) ? -errno : 0;
}

/* The arrays in the order in which they are packed, with their sizes. */
#define RAW_PARTS 5
static void raw_parts(struct raw *r, struct iovec parts[RAW_PARTS])
{
	parts[0] = (struct iovec){ r->ksyms, r->info.nr_jited_ksyms * sizeof(*r->ksyms) };
	parts[1] = (struct iovec){ r->lens, r->info.nr_jited_func_lens * sizeof(*r->lens) };
	parts[2] = (struct iovec){ r->funcs, r->info.nr_func_info * sizeof(*r->funcs) };
	parts[3] = (struct iovec){ r->lines, r->info.nr_line_info * sizeof(*r->lines) };
	parts[4] = (struct iovec){ r->addresses,
		                   r->info.nr_jited_line_info * sizeof(*r->addresses) };
}

int bpf_prog_code_pack(uint32_t id)
{
	SCOPED(scoped_close) int prog = bpf_prog_get_fd_by_id(id);
	SCOPED(scoped_close) int fd = -1;
	SCOPED(scoped_raw) struct raw r = { 0 };
	struct iovec parts[RAW_PARTS];
	int err;

	if (prog < 0)
		return prog;
	err = read_raw(prog, &r);
	if (err)
		return err;
	fd = memfd_create("bpf_prog_code", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	raw_parts(&r, parts);
	err = write_all(fd, &r.info, sizeof(r.info));
	for (int i = 0; i < RAW_PARTS && !err; i++)
		err = write_all(fd, parts[i].iov_base, parts[i].iov_len);
	return err ? err : TAKE_FD(fd);
}

static int read_packed(int fd, struct raw *r)
{
	const struct bpf_prog_info *in = &r->info;
	struct iovec parts[RAW_PARTS];
	off_t at = sizeof(r->info);

	if (pread(fd, &r->info, sizeof(r->info), 0) != sizeof(r->info))
		return -EIO;
	if (in->nr_jited_ksyms > RANGES_MAX || in->nr_jited_func_lens > RANGES_MAX ||
	    in->nr_func_info > RANGES_MAX || in->nr_line_info > LINES_MAX ||
	    in->nr_jited_line_info > LINES_MAX)
		return -E2BIG;
	if (allocate(r, in))
		return -ENOMEM;
	raw_parts(r, parts);
	for (int i = 0; i < RAW_PARTS; at += (off_t)parts[i].iov_len, i++)
		if (pread(fd, parts[i].iov_base, parts[i].iov_len, at) != (ssize_t)parts[i].iov_len)
			return -EIO;
	return 0;
}

static const char *function_name(const struct bpf_prog_code *c, const struct raw *r, uint32_t i)
{
	const struct btf_type *t = c->btf && i < r->info.nr_func_info
	                                   ? btf__type_by_id(c->btf, r->funcs[i].type_id)
	                                   : NULL;

	return t ? btf__name_by_offset(c->btf, t->name_off) : NULL;
}

static int take_ranges(struct bpf_prog_code *c, const struct raw *r, struct diag *d)
{
	uint32_t nr = r->info.nr_jited_ksyms;

	if (nr > r->info.nr_jited_func_lens)
		nr = r->info.nr_jited_func_lens;
	if (!nr)
		return diag_set(d, -ENOTSUP, "see sysctl net.core.bpf_jit_enable",
		                "the program has no machine code: it is interpreted");
	c->ranges = calloc(nr, sizeof(*c->ranges));
	if (!c->ranges)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	for (uint32_t i = 0; i < nr; i++) {
		if (!r->ksyms[i])
			continue;
		c->ranges[c->nr_ranges++] = (struct bpf_prog_range){ r->ksyms[i], r->lens[i],
			                                             function_name(c, r, i) };
	}
	if (!c->nr_ranges)
		return diag_set(d, -EPERM, "run as root, with sysctl kernel.kptr_restrict=0 or 1",
		                "the kernel hides where the program's code is");
	return 0;
}

static int take_lines(struct bpf_prog_code *c, const struct raw *r)
{
	uint32_t nr = r->info.nr_jited_line_info;

	if (nr > r->info.nr_line_info)
		nr = r->info.nr_line_info;
	c->lines = calloc(nr + 1, sizeof(*c->lines));
	if (!c->lines)
		return -ENOMEM;
	for (uint32_t i = 0; c->btf && i < nr; i++) {
		if (!r->addresses[i])
			continue;
		c->lines[c->nr_lines++] = (struct bpf_prog_line){
			.address = r->addresses[i],
			.file = btf__name_by_offset(c->btf, r->lines[i].file_name_off),
			.text = btf__name_by_offset(c->btf, r->lines[i].line_off),
			.line = BPF_LINE_INFO_LINE_NUM(r->lines[i].line_col),
		};
	}
	return 0;
}

int bpf_prog_code_unpack(int fd, struct diag *d, struct bpf_prog_code **out)
{
	SCOPED(scoped_bpf_prog_code) struct bpf_prog_code *c = calloc(1, sizeof(*c));
	SCOPED(scoped_raw) struct raw r = { 0 };
	int err;

	if (!c)
		return diag_set(d, -ENOMEM, NULL, "out of memory");
	err = read_packed(fd, &r);
	if (err)
		return diag_set(d, err, NULL, "cannot read the code of the program");
	c->btf = r.info.btf_id ? bpf_btf_read(r.info.btf_id) : NULL;
	err = take_ranges(c, &r, d);
	if (!err && (take_lines(c, &r) || settle(c)))
		err = diag_set(d, -ENOMEM, NULL, "out of memory");
	if (err)
		return err;
	*out = TAKE_PTR(c);
	return 0;
}

int bpf_prog_code_read(uint32_t id, struct diag *d, struct bpf_prog_code **out)
{
	SCOPED(scoped_close) int fd = broker_bpf_open(BROKER_BPF_CODE, id);

	if (fd < 0)
		return diag_set(d, fd, NULL,
		                fd == -ENOENT ? "program %u was unloaded"
		                              : "cannot open program %u",
		                id);
	return bpf_prog_code_unpack(fd, d, out);
}

size_t bpf_prog_code_nr(const struct bpf_prog_code *c)
{
	return c->nr_numbers + c->nr_ranges;
}

bool bpf_prog_code_has_lines(const struct bpf_prog_code *c)
{
	return c->nr_lines > 0;
}

/* The last line that begins at or before the address, and in the same function. */
static size_t line_at(const struct bpf_prog_code *c, const struct bpf_prog_range *range,
                      uint64_t address)
{
	size_t low = 0, high = c->nr_lines;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (c->lines[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low && c->lines[low - 1].address >= range->start ? low - 1 : SIZE_MAX;
}

bool bpf_prog_code_find(const struct bpf_prog_code *c, uint64_t address, struct bpf_prog_place *out)
{
	for (size_t i = 0; i < c->nr_ranges; i++) {
		const struct bpf_prog_range *range = &c->ranges[i];
		size_t line;

		if (address < range->start || address - range->start >= range->bytes)
			continue;
		line = line_at(c, range, address);
		*out = (struct bpf_prog_place){ .function = range->name,
			                        .number = c->nr_numbers + (uint32_t)i };
		if (line == SIZE_MAX)
			return true;
		out->file = c->lines[line].file;
		out->text = c->lines[line].text;
		out->line = c->lines[line].line;
		out->number = c->numbers[line];
		return true;
	}
	return false;
}
