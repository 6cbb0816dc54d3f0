/* Whether bytes are the text of a trace: other text must not be mistaken for one. */
#include "trace/formats.h"
#include "trace/text/text.h"

#define LINES_MAX 64U          /* that are looked at */
#define BYTES_MAX (64U << 10)  /* of them, comments included */
#define HEAD      "# tracer: " /* what the file of tracefs begins with, even an empty one */

/* Between these is text: <script class="trace-data" type="application/text"> */
#define DATA_MARK "class=\"trace-data\""

bool text_is_trace(struct span in)
{
	struct text_columns columns = { .irq_flag = 2 };
	uint32_t nr_good = 0, nr_bad = 0;
	struct text_line event;
	struct span line, raw;
	uint64_t cpu, count;
	bool is_cut = span_len(in) > BYTES_MAX;

	if (is_cut)
		in.end = in.at + BYTES_MAX;
	if (memchr(in.at, '\0', span_len(in)))
		return false;
	/* The first line and the last may be cut. */
	while (nr_good + nr_bad < LINES_MAX && span_line(&in, &raw)) {
		line = raw;
		if (is_cut && in.at == in.end)
			break;
		if (!nr_bad && SPAN_BEGINS(raw, HEAD))
			return true;
		if (text_line_split(&columns, raw, &event)) {
			/* Without a CPU, only what no other program prints. */
			if (event.has_cpu || event.has_system)
				nr_good++;
			else
				nr_bad++;
			continue;
		}
		span_skip_spaces(&line);
		if (line.at == line.end || *line.at == '#' || text_is_remark(NULL, line) ||
		    text_is_loss(line, &cpu, &count) || (nr_good && text_stacks_is_frame(raw)))
			continue;
		nr_bad++;
	}
	return nr_good && nr_good >= nr_bad;
}

bool text_is_html(struct span in)
{
	while (in.at < in.end && strchr(" \t\r\n", *in.at) && *in.at)
		in.at++;
	return (SPAN_BEGINS(in, "<!DOCTYPE ") || SPAN_BEGINS(in, "<!doctype ") ||
	        SPAN_BEGINS(in, "<html")) &&
	       span_find(in, DATA_MARK, sizeof(DATA_MARK) - 1);
}

bool text_next_block(struct span *rest, struct span *block)
{
	static const char end_mark[] = "</script>";
	const char *at = span_find(*rest, DATA_MARK, sizeof(DATA_MARK) - 1);
	const char *end;

	if (!at)
		return false;
	rest->at = at;
	at = memchr(at, '>', span_len(*rest));
	if (!at)
		return false;
	rest->at = at + 1;
	end = span_find(*rest, end_mark, sizeof(end_mark) - 1);
	*block = (struct span){ rest->at, end ? end : rest->end };
	rest->at = block->end;
	return true;
}

bool text_is_format(const uint8_t *bytes, size_t len)
{
	struct span in = { (const char *)bytes, (const char *)bytes + len }, block;

	if (!len)
		return false;
	if (!text_is_html(in))
		return text_is_trace(in);
	while (text_next_block(&in, &block))
		if (text_is_trace(block))
			return true;
	return false;
}
