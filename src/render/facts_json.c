#include "render/facts_json.h"

#include "analyze/facts.h"
#include "base/json_write.h"

#define DECIMALS 3

/* Facts are as deep as the code that builds them, never as input: recursion is bounded. */
static void put(struct json_writer *w, const char *key, const struct facts *f)
{
	switch (f->type) {
	case FACTS_NULL:
		jw_null(w, key);
		break;
	case FACTS_BOOL:
		jw_bool(w, key, f->is_true);
		break;
	case FACTS_U64:
		jw_u64(w, key, f->u64);
		break;
	case FACTS_I64:
		jw_i64(w, key, f->i64);
		break;
	case FACTS_DOUBLE:
		jw_double(w, key, f->real, DECIMALS);
		break;
	case FACTS_STRING:
		jw_string(w, key, f->text);
		break;
	case FACTS_OBJECT:
		jw_begin_object(w, key);
		for (const struct facts *at = f->first; at; at = at->next)
			put(w, at->key, at);
		jw_end_object(w);
		break;
	case FACTS_LIST:
		jw_begin_array(w, key);
		for (const struct facts *at = f->first; at; at = at->next)
			put(w, NULL, at);
		jw_end_array(w);
		break;
	}
}

void facts_json_put(struct json_writer *w, const char *key, const struct facts *f)
{
	put(w, key, f);
}
