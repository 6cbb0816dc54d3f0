#include "collect/sample/unwind_maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum page_use { PAGE_FREE, PAGE_TABLE, PAGE_PROCESS, PAGE_SEEN };

/* A part of a table: the places from first on, up to that of the next. */
struct unwind_part {
	uint32_t first, root;
};

struct known_table {
	uint32_t part, nr; /* in parts */
};

struct unwind_maps {
	int pages_fd, processes_fd;
	uint32_t nr_pages, nr_used, next;
	uint8_t *uses; /* enum page_use, of each page */
	struct unwind_part *parts;
	uint32_t nr_parts, parts_room;
	struct known_table *tables;
	uint32_t nr_tables, tables_room;
	uint64_t serial, left_out;
};

int unwind_maps_new(int pages_fd, uint32_t nr_pages, int processes_fd, struct unwind_maps **out)
{
	SCOPED(scoped_unwind_maps) struct unwind_maps *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->pages_fd = pages_fd;
	m->processes_fd = processes_fd;
	m->nr_pages = nr_pages;
	m->uses = calloc(nr_pages, sizeof(*m->uses));
	if (!m->uses)
		return -ENOMEM;
	*out = TAKE_PTR(m);
	return 0;
}

void unwind_maps_free(struct unwind_maps *m)
{
	if (!m)
		return;
	free(m->uses);
	free(m->parts);
	free(m->tables);
	free(m);
}

static void mark_process(struct unwind_maps *m, const struct unwind_process *p)
{
	for (uint32_t i = 0; i < p->nr && i < UNWIND_PROCESS_PAGES; i++)
		if (p->pages[i] < m->nr_pages && m->uses[p->pages[i]] == PAGE_PROCESS)
			m->uses[p->pages[i]] = PAGE_SEEN;
}

/*
 * Pages that no entry names any more. One that a fork copies meanwhile may be missed: then its serial
 * is not that of the page, and the process is walked by frame pointers until it is set again.
 */
static void collect_pages(struct unwind_maps *m)
{
	struct unwind_process value;
	uint32_t key, next;
	bool is_first = true;

	while (!bpf_map_get_next_key(m->processes_fd, is_first ? NULL : &key, &next)) {
		key = next;
		is_first = false;
		if (!bpf_map_lookup_elem(m->processes_fd, &key, &value))
			mark_process(m, &value);
	}
	for (uint32_t i = 0; i < m->nr_pages; i++) {
		if (m->uses[i] == PAGE_PROCESS) {
			m->uses[i] = PAGE_FREE;
			m->nr_used--;
		} else if (m->uses[i] == PAGE_SEEN) {
			m->uses[i] = PAGE_PROCESS;
		}
	}
}

/* Room for so many pages. */
static int reserve(struct unwind_maps *m, uint32_t nr)
{
	if (m->nr_pages - m->nr_used < nr)
		collect_pages(m);
	return m->nr_pages - m->nr_used < nr ? -ENOSPC : 0;
}

/* One of those that were reserved. */
static uint32_t take_page(struct unwind_maps *m, enum page_use use)
{
	while (m->uses[m->next] != PAGE_FREE)
		m->next = (m->next + 1) % m->nr_pages;
	m->uses[m->next] = (uint8_t)use;
	m->nr_used++;
	return m->next;
}

static void give_back(struct unwind_maps *m, uint32_t page)
{
	m->uses[page] = PAGE_FREE;
	m->nr_used--;
}

static int write_page(const struct unwind_maps *m, uint32_t page, const void *bytes)
{
	return bpf_map_update_elem(m->pages_fd, &page, bytes, BPF_ANY) ? -errno : 0;
}

static int write_rows(struct unwind_maps *m, const struct unwind_row *rows, uint32_t nr,
                      uint32_t *page)
{
	struct unwind_page p;

	for (uint32_t i = nr; i < UNWIND_PAGE_ROWS; i++)
		p.rows[i] = (struct unwind_row){ UNWIND_NOWHERE, 0 };
	memcpy(p.rows, rows, nr * sizeof(*rows));
	*page = take_page(m, PAGE_TABLE);
	return write_page(m, *page, &p);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* As many leaves as a root can name; returns how many rows that were, in *nr_done. */
static int write_part(struct unwind_maps *m, const struct unwind_row *rows, uint32_t nr,
                      uint32_t *nr_done)
{
	struct unwind_row root[UNWIND_PAGE_ROWS];
	struct unwind_part *part;
	uint32_t nr_leaves = 0;
	int err = GROW(m->parts, m->parts_room, m->nr_parts);

	*nr_done = 0;
	while (!err && *nr_done < nr && nr_leaves < UNWIND_PAGE_ROWS) {
		uint32_t take = smaller(nr - *nr_done, UNWIND_PAGE_ROWS);

		root[nr_leaves].at = rows[*nr_done].at;
		err = write_rows(m, rows + *nr_done, take, &root[nr_leaves].rule);
		*nr_done += take;
		nr_leaves++;
	}
	if (err)
		return err;
	part = &m->parts[m->nr_parts++];
	part->first = rows[0].at;
	return write_rows(m, root, nr_leaves, &part->root);
}

static uint32_t pages_for(uint32_t nr_rows)
{
	uint32_t nr_leaves = (nr_rows + UNWIND_PAGE_ROWS - 1) / UNWIND_PAGE_ROWS;

	return nr_leaves + (nr_leaves + UNWIND_PAGE_ROWS - 1) / UNWIND_PAGE_ROWS;
}

int unwind_maps_add_table(struct unwind_maps *m, const struct unwind_row *rows, uint32_t nr,
                          uint32_t *out)
{
	struct known_table t = { .part = m->nr_parts };
	int err = GROW(m->tables, m->tables_room, m->nr_tables);

	if (!err)
		err = reserve(m, pages_for(nr));
	if (err) {
		m->left_out++;
		return err;
	}
	for (uint32_t done = 0, one; !err && done < nr; done += one, t.nr++)
		err = write_part(m, rows + done, nr - done, &one);
	if (err)
		return err;
	*out = m->nr_tables;
	m->tables[m->nr_tables++] = t;
	return 0;
}

/* Ranges of a process that are being put into pages. */
struct writer {
	struct unwind_process entry;
	struct unwind_range_page pages[UNWIND_PROCESS_PAGES];
	uint32_t nr; /* ranges */
};

static void put_range(struct unwind_maps *m, struct writer *w, const struct unwind_range *r)
{
	uint32_t page = w->nr / (UNWIND_PAGE_RANGES - 1), at = w->nr % (UNWIND_PAGE_RANGES - 1);

	if (page == UNWIND_PROCESS_PAGES) {
		m->left_out++;
		return;
	}
	if (at == 0) {
		w->entry.firsts[page] = r->start;
		w->entry.nr = page + 1;
		w->pages[page].ranges[0] = (struct unwind_range){ .bias = w->entry.serial };
	}
	w->pages[page].ranges[at + 1] = *r;
	w->nr++;
}

/* One range for each part of the table that the mapping shows. */
static void put_mapping(struct unwind_maps *m, struct writer *w, const struct unwind_mapping *one)
{
	const struct known_table *t = &m->tables[one->table];

	for (uint32_t i = 0; i < t->nr; i++) {
		const struct unwind_part *p = &m->parts[t->part + i];
		uint64_t from = i ? one->base + p->first : one->start;
		uint64_t to = i + 1 < t->nr ? one->base + p[1].first : one->end;
		struct unwind_range r = { .start = from > one->start ? from : one->start,
			                  .end = to < one->end ? to : one->end,
			                  .bias = one->base,
			                  .root = p->root };

		if (r.start < r.end)
			put_range(m, w, &r);
	}
}

static void pad(struct writer *w)
{
	uint32_t room = UNWIND_PROCESS_PAGES * (UNWIND_PAGE_RANGES - 1);

	for (uint32_t i = w->nr; i < room; i++) {
		uint32_t page = i / (UNWIND_PAGE_RANGES - 1), at = i % (UNWIND_PAGE_RANGES - 1);

		w->pages[page].ranges[at + 1].start = UNWIND_NO_ADDRESS;
	}
	for (uint32_t i = w->entry.nr; i < UNWIND_PROCESS_PAGES; i++)
		w->entry.firsts[i] = UNWIND_NO_ADDRESS;
}

static int write_process(struct unwind_maps *m, uint32_t tgid, struct writer *w)
{
	uint32_t nr = w->entry.nr;
	int err = reserve(m, nr);

	if (err)
		return err;
	for (uint32_t i = 0; i < nr; i++)
		w->entry.pages[i] = take_page(m, PAGE_PROCESS);
	for (uint32_t i = 0; !err && i < nr; i++)
		err = write_page(m, w->entry.pages[i], &w->pages[i]);
	if (!err && bpf_map_update_elem(m->processes_fd, &tgid, &w->entry, BPF_ANY))
		err = errno == E2BIG ? -ENOSPC : -errno;
	for (uint32_t i = 0; err && i < nr; i++)
		give_back(m, w->entry.pages[i]);
	return err;
}

int unwind_maps_set_process(struct unwind_maps *m, uint32_t tgid, uint64_t as_of_ns,
                            const struct unwind_mapping *all, uint32_t nr)
{
	SCOPED(scoped_free) struct writer *w = calloc(1, sizeof(*w));
	struct unwind_process now;
	int err;

	if (!w)
		return -ENOMEM;
	if (!bpf_map_lookup_elem(m->processes_fd, &tgid, &now) && now.since_ns > as_of_ns)
		return 0;
	w->entry.since_ns = as_of_ns;
	w->entry.serial = ++m->serial;
	for (uint32_t i = 0; i < nr; i++)
		put_mapping(m, w, &all[i]);
	pad(w);
	err = write_process(m, tgid, w);
	m->left_out += err == -ENOSPC;
	return err;
}

void unwind_maps_use(const struct unwind_maps *m, struct unwind_maps_use *out)
{
	*out = (struct unwind_maps_use){ .nr_pages = m->nr_used,
		                         .max_pages = m->nr_pages,
		                         .nr_tables = m->nr_tables,
		                         .left_out = m->left_out };
}
