#include "render/report_json.h"

#include <inttypes.h>

#define MAX_EXACT (1ULL << 53) /* the largest integer up to which a double holds each */

static void write_u64(struct json_writer *w, const char *key, const struct report_node *node)
{
	char text[24];

	if (!node->is_id || node->u64 <= MAX_EXACT) {
		jw_u64(w, key, node->u64);
		return;
	}
	snprintf(text, sizeof(text), "%" PRIu64, node->u64);
	jw_string(w, key, text);
}

void report_json(struct json_writer *w, const char *key, const struct report_node *node)
{
	switch (node->type) {
	case REPORT_NULL:
		jw_null(w, key);
		return;
	case REPORT_BOOL:
		jw_bool(w, key, node->b);
		return;
	case REPORT_U64:
		write_u64(w, key, node);
		return;
	case REPORT_I64:
		jw_i64(w, key, node->i64);
		return;
	case REPORT_DOUBLE:
		jw_double(w, key, node->f, node->decimals);
		return;
	case REPORT_STRING:
		jw_string(w, key, node->text);
		return;
	case REPORT_ARRAY:
		jw_begin_array(w, key);
		for (const struct report_node *at = node->first; at; at = at->next)
			report_json(w, NULL, at);
		jw_end_array(w);
		return;
	case REPORT_OBJECT:
		jw_begin_object(w, key);
		for (const struct report_node *at = node->first; at; at = at->next)
			report_json(w, at->key, at);
		jw_end_object(w);
		return;
	}
}
