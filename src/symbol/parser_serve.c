/* The process that takes files apart: it is handed descriptors, and has no rights (sys/rights/sandbox). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "abi/profile.h"
#include "base/cleanup.h"
#include "symbol/demangle.h"
#include "symbol/dwarf_lines.h"
#include "symbol/dwarf_walk.h"
#include "symbol/elf_image.h"
#include "symbol/parser_priv.h"
#include "symbol/perf_map.h"
#include "symbol/symtab.h"
#include "symbol/unwind_table.h"
#include "sys/stack_copy.h"

#define SYMBOLS_MAX (1U << 22)
#define CHECKED_MAX ((off_t)2 << 30)
#define CHUNK_BYTES ((size_t)64 << 10)
#define FRAMES_MAX  64U

struct parsed_file {
	bool is_used;
	uint64_t number;
	struct elf_image *image;
	struct dwarf_lines *lines;
};

struct server {
	struct sandbox_msg in, out;
	struct parsed_file files[PARSER_DWARF_MAX];
	struct dwarf_walk *walk; /* NULL until it is needed */
};

/* An answer: its errno, and what follows where that is 0. */
static void begin(struct server *s, int err)
{
	sandbox_msg_begin(&s->out, 0);
	sandbox_put_u64(&s->out, (uint64_t)-err);
}

static void put_facts(struct server *s, const struct elf_image *e)
{
	uint8_t id[ELF_BUILD_ID_MAX];
	size_t nr = elf_image_build_id(e, id);
	uint32_t crc = 0;
	const char *link = elf_image_debug_link(e, &crc);

	begin(s, 0);
	sandbox_put_bytes(&s->out, elf_image_segments(e), sizeof(struct elf_segments));
	sandbox_put_bytes(&s->out, id, nr);
	sandbox_put_u64(&s->out, elf_image_has_symtab(e));
	sandbox_put_u64(&s->out, elf_image_has_dwarf(e));
	sandbox_put_text(&s->out, link);
	sandbox_put_u64(&s->out, crc);
}

static void identify(struct server *s)
{
	SCOPED(scoped_elf_image) struct elf_image *e = NULL;
	int err = elf_image_open(sandbox_take_fd(&s->in, 0), &e);

	if (err)
		begin(s, err);
	else
		put_facts(s, e);
}

static bool has_checksum(int fd, uint32_t wanted)
{
	static unsigned char chunk[CHUNK_BYTES];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n;

	while (at < CHECKED_MAX && (n = pread(fd, chunk, sizeof(chunk), at)) > 0) {
		crc = crc32(crc, chunk, (uInt)n);
		at += n;
	}
	return crc == wanted;
}

static bool belongs(struct server *s, const struct elf_image *e)
{
	uint8_t own[ELF_BUILD_ID_MAX];
	size_t nr_own = elf_image_build_id(e, own), nr;
	const void *id = sandbox_get_bytes(&s->in, &nr);
	bool is_link = sandbox_get_u64(&s->in);
	uint32_t crc = (uint32_t)sandbox_get_u64(&s->in);

	if (!elf_image_has_symtab(e) && !elf_image_has_dwarf(e))
		return false;
	if (nr_own && nr)
		return nr_own == nr && memcmp(own, id, nr) == 0;
	return is_link && has_checksum(elf_image_fd(e), crc);
}

static void identify_debug(struct server *s)
{
	SCOPED(scoped_elf_image) struct elf_image *e = NULL;
	int err = elf_image_open(sandbox_take_fd(&s->in, 0), &e);

	if (!err && !belongs(s, e))
		err = -ESRCH;
	if (err)
		begin(s, err);
	else
		put_facts(s, e);
}

/* Files about one program may be laid out from another first address: prelink did so. */
static uint64_t move_of(const struct elf_image *to, const struct elf_image *from)
{
	return elf_segments_base(elf_image_segments(to)) -
	       elf_segments_base(elf_image_segments(from));
}

static int add_debug_data(const struct elf_image *e, struct symtab *t)
{
	SCOPED(scoped_elf_image) struct elf_image *packed = NULL;
	SCOPED(scoped_free) uint8_t *bytes = NULL;
	size_t len = 0;

	if (elf_image_debug_data(e, &bytes, &len) || elf_image_open_bytes(bytes, len, &packed))
		return 0;
	return elf_image_add_functions(packed, move_of(e, packed), t);
}

/* When a table is full, further functions have no names. */
static int add_all(const struct elf_image *e, const struct elf_image *debug, struct symtab *t)
{
	int err = elf_image_add_functions(e, 0, t);

	if (!err && !elf_image_has_symtab(e))
		err = add_debug_data(e, t);
	if (!err && debug)
		err = elf_image_add_functions(debug, move_of(e, debug), t);
	return err == -E2BIG ? 0 : err;
}

static void put_table(struct server *s, int err, struct symtab *t)
{
	begin(s, err);
	if (err)
		return;
	symtab_seal(t);
	symtab_put(t, &s->out);
	if (s->out.error)
		begin(s, s->out.error);
}

static void functions(struct server *s)
{
	SCOPED(scoped_elf_image) struct elf_image *e = NULL;
	SCOPED(scoped_elf_image) struct elf_image *debug = NULL;
	SCOPED(scoped_symtab) struct symtab *t = symtab_new(SYMBOLS_MAX);
	int err = t ? elf_image_open(sandbox_take_fd(&s->in, 0), &e) : -ENOMEM;

	if (!err && s->in.nr_fds > 1 && elf_image_open(sandbox_take_fd(&s->in, 1), &debug))
		debug = NULL;
	if (!err)
		err = add_all(e, debug, t);
	put_table(s, err, t);
}

static void unwind(struct server *s)
{
	SCOPED(scoped_elf_image) struct elf_image *e = NULL;
	SCOPED(scoped_elf_image) struct elf_image *debug = NULL;
	SCOPED(scoped_unwind_table) struct unwind_table *t = NULL;
	int err = elf_image_open(sandbox_take_fd(&s->in, 0), &e);

	if (!err && s->in.nr_fds > 1 && elf_image_open(sandbox_take_fd(&s->in, 1), &debug))
		debug = NULL;
	if (!err)
		err = unwind_table_compile(e, debug, debug ? move_of(e, debug) : 0, &t);
	begin(s, err);
	if (err)
		return;
	unwind_table_put(t, &s->out);
	if (s->out.error)
		begin(s, s->out.error);
}

static char *read_text(int fd, size_t size, size_t *len)
{
	char *text = malloc(size + 1);
	ssize_t n;

	*len = 0;
	while (text && *len < size) {
		n = pread(fd, text + *len, size - *len, (off_t)*len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		*len += (size_t)n;
	}
	return text;
}

static void perf_map(struct server *s)
{
	SCOPED(scoped_close) int fd = sandbox_take_fd(&s->in, 0);
	SCOPED(scoped_symtab) struct symtab *t = NULL;
	SCOPED(scoped_free) char *text = NULL;
	struct stat st;
	size_t len, most = PERF_MAP_BYTES_MAX;
	int err = -EIO;

	if (fstat(fd, &st) == 0 && st.st_size < (off_t)most)
		most = (size_t)st.st_size;
	text = read_text(fd, most, &len);
	if (text)
		err = perf_map_parse(text, len, &t); /* sealed */
	begin(s, err);
	if (!err)
		symtab_put(t, &s->out);
}

static struct parsed_file *find_file(struct server *s, uint64_t number, bool is_new)
{
	for (size_t i = 0; i < PARSER_DWARF_MAX; i++) {
		struct parsed_file *f = &s->files[i];

		if (is_new ? !f->is_used : f->is_used && f->number == number)
			return f;
	}
	return NULL;
}

static void open_lines(struct server *s)
{
	uint64_t number = sandbox_get_u64(&s->in);
	struct parsed_file *f = find_file(s, number, true);
	int err = f ? elf_image_open(sandbox_take_fd(&s->in, 0), &f->image) : -ENFILE;

	if (!err)
		err = dwarf_lines_open(f->image, &f->lines);
	if (err && f) {
		elf_image_close(f->image);
		*f = (struct parsed_file){ 0 };
	} else if (f) {
		f->is_used = true;
		f->number = number;
	}
	begin(s, err);
}

static void put_name(struct server *s, const char *name)
{
	char buf[DEMANGLE_NAME_MAX];

	sandbox_put_text(&s->out, name ? demangle(name, buf) : NULL);
}

static void lines(struct server *s)
{
	const struct parsed_file *f = find_file(s, sandbox_get_u64(&s->in), false);
	uint64_t address = sandbox_get_u64(&s->in), max = sandbox_get_u64(&s->in);
	struct dwarf_frame frames[FRAMES_MAX];
	size_t nr;

	if (!f || max > FRAMES_MAX) {
		begin(s, -EINVAL);
		return;
	}
	nr = dwarf_lines_at(f->lines, address, frames, (size_t)max);
	begin(s, 0);
	sandbox_put_u64(&s->out, nr);
	for (size_t i = 0; i < nr; i++) {
		put_name(s, frames[i].name);
		sandbox_put_text(&s->out, frames[i].file);
		sandbox_put_u64(&s->out, frames[i].line);
	}
}

static void write_name(struct server *s)
{
	const char *name = sandbox_get_text(&s->in);

	begin(s, name ? 0 : -EINVAL);
	put_name(s, name);
}

static struct dwarf_walk *walk_of(struct server *s)
{
	if (!s->walk)
		s->walk = dwarf_walk_new();
	return s->walk;
}

static void walk_file(struct server *s)
{
	uint64_t number = sandbox_get_u64(&s->in);

	begin(s,
	      walk_of(s) ? dwarf_walk_file(s->walk, number, sandbox_take_fd(&s->in, 0)) : -ENOMEM);
}

static void walk_space(struct server *s)
{
	uint64_t place = sandbox_get_u64(&s->in);
	SCOPED(scoped_free) struct dwarf_part *parts = NULL;
	size_t bytes;
	const void *given = sandbox_get_bytes(&s->in, &bytes);

	parts = malloc(bytes + 1);
	if (!walk_of(s) || !parts) {
		begin(s, -ENOMEM);
		return;
	}
	if (bytes)
		memcpy(parts, given, bytes);
	begin(s, dwarf_walk_space(s->walk, place, parts, bytes / sizeof(*parts)));
}

static void walk_stack(struct server *s)
{
	uint64_t place = sandbox_get_u64(&s->in);
	size_t copy_bytes, bytes;
	const void *given = sandbox_get_bytes(&s->in, &copy_bytes);
	const void *stack = sandbox_get_bytes(&s->in, &bytes);
	struct prof_stack out;
	struct stack_copy copy;
	int err = -EINVAL;

	if (!s->in.error && copy_bytes == sizeof(copy) && bytes <= STACK_COPY_BYTES) {
		memcpy(&copy, given, sizeof(copy));
		copy.stack = stack;
		copy.bytes = (uint32_t)bytes;
		err = walk_of(s) ? dwarf_walk_stack(s->walk, place, &copy, &out) : -ENOMEM;
	}
	begin(s, err);
	if (err)
		return;
	sandbox_put_u64(&s->out, out.end);
	sandbox_put_bytes(&s->out, out.ips, out.nr * sizeof(out.ips[0]));
}

static void serve(int fd)
{
	static void (*const answers[])(struct server * s) = {
		[PARSER_IDENTIFY] = identify,     [PARSER_DEBUG] = identify_debug,
		[PARSER_FUNCTIONS] = functions,   [PARSER_MAP] = perf_map,
		[PARSER_OPEN] = open_lines,       [PARSER_LINES] = lines,
		[PARSER_DEMANGLE] = write_name,   [PARSER_UNWIND] = unwind,
		[PARSER_WALK_FILE] = walk_file,   [PARSER_WALK_SPACE] = walk_space,
		[PARSER_WALK_STACK] = walk_stack,
	};
	const struct sandbox_wire wire = { .fd = fd };
	static struct server s;

	while (sandbox_msg_receive(&wire, PARSER_REQUEST_MAX, &s.in) == 0) {
		if (s.in.kind < sizeof(answers) / sizeof(answers[0]) && answers[s.in.kind])
			answers[s.in.kind](&s);
		else
			begin(&s, -ENOSYS);
		if (sandbox_msg_send(&wire, &s.out))
			break;
	}
	dwarf_walk_free(s.walk);
}

const struct sandbox_job parser_job = { .name = "symbols", .serve = serve };
SANDBOX_JOB(parser_job)
