#include "symbol/demangle.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <string.h>

/* libiberty itself gives up somewhat above 1,000 bytes, so as to keep its recursion within the stack. */
#define MANGLED_MAX 4096

struct sink {
	char *buf;
	size_t len;
	bool is_cut;
};

static void take(const char *text, size_t len, void *opaque)
{
	struct sink *s = opaque;
	size_t left = DEMANGLE_NAME_MAX - 1 - s->len;

	if (len > left) {
		len = left;
		s->is_cut = true;
	}
	memcpy(s->buf + s->len, text, len);
	s->len += len;
}

static const char *finish(struct sink *s)
{
	static const char dots[] = "...";

	s->buf[s->len] = '\0';
	if (s->is_cut)
		memcpy(s->buf + DEMANGLE_NAME_MAX - sizeof(dots), dots, sizeof(dots));
	return s->buf;
}

bool demangle_is_needed(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0 ||
	       strncmp(name, "__Z", 3) == 0 || strncmp(name, "___Z", 4) == 0;
}

const char *demangle(const char *name, char buf[DEMANGLE_NAME_MAX])
{
	struct sink s = { .buf = buf };

	if (demangle_is_needed(name) && strlen(name) <= MANGLED_MAX) {
		/* Rust's older mangling is similar to C++, so it is tried first. */
		if (rust_demangle_callback(name, DMGL_NO_OPTS, take, &s) && s.len)
			return finish(&s);
		s = (struct sink){ .buf = buf };
		if (cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI, take, &s) && s.len)
			return finish(&s);
		s = (struct sink){ .buf = buf };
	}
	take(name, strlen(name), &s);
	return finish(&s);
}
