/* fuzz/fuzz_trace_writer — any stream of valid records becomes whole packets, within the bounds. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/event_check.h"
#include "fuzz.h"
#include "trace/perfetto/write/writer.h"

#define LONG_TEXT 2000U

/* Whether the bytes are packets, the last one whole. */
static void check_framing(const uint8_t *bytes, size_t size)
{
	size_t at = 0, len;

	while (at < size) {
		fuzz_check(bytes[at++] == 0x0a);
		len = 0;
		for (unsigned int shift = 0;; shift += 7) {
			fuzz_check(at < size && shift < 28);
			len |= (size_t)(bytes[at] & 0x7f) << shift;
			if (bytes[at++] < 0x80)
				break;
		}
		fuzz_check(len <= size - at && len <= 128U << 10);
		at += len;
	}
}

static void check_file(int fd)
{
	struct stat st;
	uint8_t *bytes;

	fuzz_check(fstat(fd, &st) == 0);
	bytes = malloc((size_t)st.st_size + 1);
	fuzz_check(bytes && pread(fd, bytes, (size_t)st.st_size, 0) == st.st_size);
	check_framing(bytes, (size_t)st.st_size);
	free(bytes);
}

/* Of every sort: nothing known, inlined calls, the longest texts, bytes that are no text. */
static bool place(void *ctx, uint32_t tgid, uint64_t ts_ns, uint64_t address,
                  struct trace_place *out)
{
	static const char *const names[] = { NULL,         "", "f", "\xff\xfe", "__bpf_trace_x",
		                             "f (inlined)" };
	char *text = ctx;

	(void)ts_ns;
	if (address % 7 == 0)
		return false;
	memset(text, 'x', LONG_TEXT - 1);
	text[LONG_TEXT - 1] = '\0';
	*out = (struct trace_place){ .rel_pc = address,
		                     .nr_code = (uint32_t)(address % (TRACE_CODE_MAX + 2)),
		                     .nr_build_id = (uint32_t)(address >> 8) % 40,
		                     .path = names[(address >> 4) % 6],
		                     .start = tgid,
		                     .end = address };
	for (uint32_t i = 0; i < out->nr_code && i < TRACE_CODE_MAX; i++)
		out->code[i] = (struct trace_code){ .name = i == 3 ? text
			                                           : names[(address + i) % 6],
			                            .file = i == 5 ? text : names[i % 6],
			                            .line = i };
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[LONG_TEXT];
	const struct trace_writer_cfg cfg = { .tool = "fuzz",
		                              .tasks_max = 16,
		                              .calls = { .ctx = text, .place = place } };
	char *copy = malloc(size ? size : 1);
	struct trace_writer *w = NULL;
	struct ev_sink sink;
	int fd = memfd_create("trace", MFD_CLOEXEC);
	const struct ev_hdr *rec;

	fuzz_check(copy && fd >= 0);
	if (size)
		memcpy(copy, data, size);
	fuzz_check(trace_writer_open(fcntl(fd, F_DUPFD_CLOEXEC, 3), &cfg, NULL, &w) == 0);
	sink = trace_writer_sink(w);
	for (size_t at = 0; ev_check(copy + at, size - at); at += rec->size) {
		rec = (const struct ev_hdr *)(copy + at);
		fuzz_check(sink.push(sink.ctx, rec) == 0);
	}
	fuzz_check(trace_writer_close(w, NULL) == 0);
	check_file(fd);
	close(fd);
	free(copy);
	return 0;
}
