/*
 * symbol_demo [--lines] [--debug-dir DIR] [--kallsyms FILE] — a symbolizer on a pipe: each line of the input is a call,
 * each answer ends with a line that says 0 or a negative errno, or how many there are.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "symbol/symbolizer.h"

#define LINE_MAX_BYTES 8192

static const char *or_dash(const char *text)
{
	return text ? text : "-";
}

static int frames(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns, uint64_t address)
{
	struct symbol_frame f[SYMBOL_FRAMES_MAX];
	uint32_t nr = symbolizer_frames(s, tgid, ts_ns, address, f);

	for (uint32_t i = 0; i < nr; i++)
		printf("%s\t%s\t%s\t%u\t%" PRIx64 "\t%d\n", or_dash(f[i].name), f[i].module,
		       or_dash(f[i].file), f[i].line, f[i].start, f[i].is_inlined);
	return (int)nr;
}

static int locate(struct symbolizer *s, uint32_t tgid, uint64_t ts_ns, uint64_t address)
{
	struct symbol_mapping m;
	uint64_t file_address;

	if (!symbolizer_locate(s, tgid, ts_ns, address, &m, &file_address))
		return 0;
	printf("%s\t%" PRIx64 "\t", m.path, file_address);
	for (int i = 0; i < m.nr_build_id; i++)
		printf("%02x", m.build_id[i]);
	printf("\n");
	return 1;
}

static int remark(struct symbolizer *s)
{
	struct diag d = { 0 };
	char text[600];

	if (!symbolizer_remark(s, &d))
		return 0;
	diag_format(&d, text, sizeof(text));
	printf("%s\n", text);
	return 1;
}

static void parse_build_id(const char *hex, struct symbol_mapping *m)
{
	unsigned int byte;

	while (m->nr_build_id < SYMBOL_BUILD_ID_MAX && sscanf(hex, "%2x", &byte) == 1) {
		m->build_id[m->nr_build_id++] = (uint8_t)byte;
		hex += 2;
	}
}

/* mapped TGID TS START END OFFSET MAJOR MINOR INODE BUILD_ID PATH */
static int mapped(struct symbolizer *s, const char *line)
{
	struct symbol_mapping m = { 0 };
	char id[64] = "", path[4096] = "";
	uint32_t tgid = 0;
	uint64_t ts_ns = 0;

	if (sscanf(line,
	           "mapped %u %" SCNu64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %u %u %" SCNu64
	           " %63s %4095[^\n]",
	           &tgid, &ts_ns, &m.start, &m.end, &m.offset, &m.dev_major, &m.dev_minor, &m.inode,
	           id, path) != 10)
		return -EINVAL;
	parse_build_id(id, &m);
	m.path = path;
	return symbolizer_mapped(s, tgid, ts_ns, &m);
}

static int answer(struct symbolizer *s, const char *line)
{
	unsigned int tgid = 0, child = 0;
	uint64_t ts_ns = 0, address = 0;

	if (sscanf(line, "frames %u %" SCNu64 " %" SCNx64, &tgid, &ts_ns, &address) == 3)
		return frames(s, tgid, ts_ns, address);
	if (sscanf(line, "locate %u %" SCNu64 " %" SCNx64, &tgid, &ts_ns, &address) == 3)
		return locate(s, tgid, ts_ns, address);
	if (sscanf(line, "meet %u %" SCNu64, &tgid, &ts_ns) == 2)
		return symbolizer_read_process(s, tgid, ts_ns);
	if (sscanf(line, "execed %u %" SCNu64, &tgid, &ts_ns) == 2)
		return symbolizer_execed(s, tgid, ts_ns);
	if (sscanf(line, "forked %u %u %" SCNu64, &tgid, &child, &ts_ns) == 3)
		return symbolizer_forked(s, tgid, child, ts_ns);
	if (sscanf(line, "exited %u %" SCNu64, &tgid, &ts_ns) == 2) {
		symbolizer_exited(s, tgid, ts_ns);
		return 0;
	}
	if (strncmp(line, "remark", 6) == 0)
		return remark(s);
	return mapped(s, line);
}

int main(int argc, char **argv)
{
	SCOPED(scoped_symbolizer) struct symbolizer *s = NULL;
	struct symbolizer_cfg cfg = { 0 };
	char line[LINE_MAX_BYTES];
	struct diag d = { 0 };

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--lines") == 0)
			cfg.wants_lines = true;
		else if (strcmp(argv[i], "--debug-dir") == 0 && i + 1 < argc)
			cfg.debug_dir = argv[++i];
		else if (strcmp(argv[i], "--kallsyms") == 0 && i + 1 < argc)
			cfg.kallsyms = argv[++i];
		else
			return 2;
	}
	if (symbolizer_new(&cfg, &d, &s))
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		printf("%d\n", answer(s, line));
		fflush(stdout);
	}
	return 0;
}
