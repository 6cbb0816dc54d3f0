#include "symbol/parser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/profile.h"
#include "base/cleanup.h"
#include "symbol/parser_priv.h"
#include "symbol/symtab.h"
#include "symbol/unwind_table.h"
#include "sys/stack_copy.h"

#define SECOND_NS    1000000000ULL
#define MEMORY_BYTES ((uint64_t)4 << 30)
#define ANSWER_MAX   ((size_t)1 << 30)

struct parser {
	struct sandbox *box; /* NULL = not started, or it died */
	uint32_t generation; /* of the process; the first is 1 */
	uint32_t nr_deaths;
	struct diag trouble;
	struct sandbox_msg m; /* the request, then its answer */
};

struct parser *parser_new(void)
{
	return calloc(1, sizeof(struct parser));
}

void parser_free(struct parser *p)
{
	if (!p)
		return;
	sandbox_end(p->box);
	sandbox_msg_done(&p->m);
	free(p);
}

bool parser_trouble(const struct parser *p, struct diag *out)
{
	*out = p->trouble;
	return out->code;
}

static int note_death(struct parser *p)
{
	if (!p->trouble.code)
		diag_set(&p->trouble, -EIO, NULL,
		         "some names are missing: the process that reads programs' symbols %s",
		         sandbox_why(p->box));
	sandbox_end(p->box);
	p->box = NULL;
	p->nr_deaths++;
	return -EIO;
}

static int start(struct parser *p)
{
	struct diag d = { 0 };
	int err;

	/* What died between two requests did not die of the next one. */
	if (p->box && !sandbox_is_alive(p->box))
		(void)note_death(p);
	if (p->box)
		return 0;
	if (p->nr_deaths >= PARSER_DEATHS_MAX)
		return -EIO;
	err = sandbox_start(&parser_job, MEMORY_BYTES, &d, &p->box);
	if (err) {
		p->nr_deaths = PARSER_DEATHS_MAX;
		p->trouble = d;
		return err;
	}
	p->generation++;
	return 0;
}

/*
 * Sends what is in p->m and takes the answer there: its errno; the remainder is still to be read.
 */
static int ask(struct parser *p)
{
	const struct sandbox_limits limits = { .cpu_ns = 20 * SECOND_NS,
		                               .wall_ns = 120 * SECOND_NS,
		                               .max_bytes = ANSWER_MAX };
	uint64_t code;
	int err = p->m.error ? p->m.error : start(p);

	if (err)
		return err;
	if (sandbox_ask(p->box, &p->m, &limits) || sandbox_answer(p->box, &p->m))
		return note_death(p);
	code = sandbox_get_u64(&p->m);
	if (p->m.error || code > INT16_MAX)
		return note_death(p);
	return -(int)code;
}

static int get_facts(struct parser *p, struct parser_facts *out)
{
	struct sandbox_msg *m = &p->m;
	size_t nr_segments, nr_id;
	const void *segments = sandbox_get_bytes(m, &nr_segments);
	const void *id = sandbox_get_bytes(m, &nr_id);
	const char *link;

	*out = (struct parser_facts){ .has_symtab = sandbox_get_u64(m),
		                      .has_dwarf = sandbox_get_u64(m) };
	link = sandbox_get_text(m);
	out->crc = (uint32_t)sandbox_get_u64(m);
	if (m->error || nr_segments != sizeof(out->segments) || nr_id > ELF_BUILD_ID_MAX)
		return note_death(p);
	memcpy(&out->segments, segments, sizeof(out->segments));
	if (out->segments.nr > ELF_SEGMENTS_MAX)
		return note_death(p);
	if (nr_id)
		memcpy(out->build_id, id, nr_id);
	out->nr_build_id = nr_id;
	if (link && strlen(link) < PARSER_LINK_MAX)
		memcpy(out->link, link, strlen(link) + 1);
	return 0;
}

int parser_identify(struct parser *p, int fd, struct parser_facts *out)
{
	int err;

	sandbox_msg_begin(&p->m, PARSER_IDENTIFY);
	sandbox_put_fd(&p->m, fd);
	err = ask(p);
	return err ? err : get_facts(p, out);
}

int parser_identify_debug(struct parser *p, int fd, const struct parser_facts *of, bool is_link,
                          struct parser_facts *out)
{
	int err;

	sandbox_msg_begin(&p->m, PARSER_DEBUG);
	sandbox_put_fd(&p->m, fd);
	sandbox_put_bytes(&p->m, of->build_id, of->nr_build_id);
	sandbox_put_u64(&p->m, is_link);
	sandbox_put_u64(&p->m, of->crc);
	err = ask(p);
	return err ? err : get_facts(p, out);
}

static int get_table(struct parser *p, struct symtab **out)
{
	int err = ask(p);

	if (!err)
		err = symtab_get(&p->m, out);
	return err == -EBADMSG ? note_death(p) : err;
}

int parser_functions(struct parser *p, int fd, int debug_fd, struct symtab **out)
{
	sandbox_msg_begin(&p->m, PARSER_FUNCTIONS);
	sandbox_put_fd(&p->m, fd);
	if (debug_fd >= 0)
		sandbox_put_fd(&p->m, debug_fd);
	return get_table(p, out);
}

int parser_unwind(struct parser *p, int fd, int debug_fd, struct unwind_table **out)
{
	int err;

	sandbox_msg_begin(&p->m, PARSER_UNWIND);
	sandbox_put_fd(&p->m, fd);
	if (debug_fd >= 0)
		sandbox_put_fd(&p->m, debug_fd);
	err = ask(p);
	if (!err)
		err = unwind_table_get(&p->m, out);
	return err == -EBADMSG ? note_death(p) : err;
}

uint32_t parser_generation(struct parser *p)
{
	return start(p) ? 0 : p->generation;
}

int parser_walk_file(struct parser *p, uint64_t number, int fd)
{
	sandbox_msg_begin(&p->m, PARSER_WALK_FILE);
	sandbox_put_u64(&p->m, number);
	sandbox_put_fd(&p->m, fd);
	return ask(p);
}

int parser_walk_space(struct parser *p, uint64_t place, const struct dwarf_part *parts, size_t nr)
{
	sandbox_msg_begin(&p->m, PARSER_WALK_SPACE);
	sandbox_put_u64(&p->m, place);
	sandbox_put_bytes(&p->m, parts, nr * sizeof(*parts));
	return ask(p);
}

int parser_walk_stack(struct parser *p, uint64_t place, const struct stack_copy *copy,
                      struct prof_stack *out)
{
	const void *ips;
	size_t bytes;
	int err;

	sandbox_msg_begin(&p->m, PARSER_WALK_STACK);
	sandbox_put_u64(&p->m, place);
	sandbox_put_bytes(&p->m, copy, sizeof(*copy));
	sandbox_put_bytes(&p->m, copy->stack, copy->bytes);
	err = ask(p);
	if (err)
		return err;
	out->end = (uint32_t)sandbox_get_u64(&p->m);
	ips = sandbox_get_bytes(&p->m, &bytes);
	if (p->m.error || out->end >= PROF_NR_ENDS || !bytes || bytes > sizeof(out->ips) ||
	    bytes % sizeof(out->ips[0]))
		return note_death(p);
	memcpy(out->ips, ips, bytes);
	out->nr = (uint32_t)(bytes / sizeof(out->ips[0]));
	return 0;
}

int parser_perf_map(struct parser *p, int fd, struct symtab **out)
{
	sandbox_msg_begin(&p->m, PARSER_MAP);
	sandbox_put_fd(&p->m, fd);
	return get_table(p, out);
}

/* A new process knows no files. */
static int open_lines(struct parser *p, struct parser_lines *l)
{
	int err = start(p);

	if (err || l->opened_in == p->generation)
		return err;
	sandbox_msg_begin(&p->m, PARSER_OPEN);
	sandbox_put_u64(&p->m, l->number);
	sandbox_put_fd(&p->m, l->fd);
	err = ask(p);
	if (!err)
		l->opened_in = p->generation;
	return err;
}

static size_t get_lines(struct parser *p, struct dwarf_frame *out, size_t max)
{
	uint64_t nr = sandbox_get_u64(&p->m);

	for (uint64_t i = 0; i < nr && i < max; i++) {
		out[i].name = sandbox_get_text(&p->m);
		out[i].file = sandbox_get_text(&p->m);
		out[i].line = (uint32_t)sandbox_get_u64(&p->m);
	}
	if (p->m.error || nr > max) {
		(void)note_death(p);
		return 0;
	}
	return (size_t)nr;
}

size_t parser_lines_at(struct parser *p, struct parser_lines *l, uint64_t address,
                       struct dwarf_frame *out, size_t max)
{
	if (l->is_bad || l->fd < 0)
		return 0;
	if (open_lines(p, l)) {
		l->is_bad = true;
		return 0;
	}
	sandbox_msg_begin(&p->m, PARSER_LINES);
	sandbox_put_u64(&p->m, l->number);
	sandbox_put_u64(&p->m, address);
	sandbox_put_u64(&p->m, max);
	if (ask(p)) {
		l->is_bad = true;
		return 0;
	}
	return get_lines(p, out, max);
}

const char *parser_demangle(struct parser *p, const char *name)
{
	const char *text;

	sandbox_msg_begin(&p->m, PARSER_DEMANGLE);
	sandbox_put_text(&p->m, name);
	if (ask(p))
		return name;
	text = sandbox_get_text(&p->m);
	return text ? text : name;
}
