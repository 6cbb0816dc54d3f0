#include "base/toml_scan.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 16

int toml_scan_fail(const struct toml_scan *s, const char *what)
{
	return diag_set(s->d, -EINVAL, NULL, "line %u: %s", s->line, what);
}

static void blanks(struct toml_scan *s)
{
	while (s->at < s->len && (s->text[s->at] == ' ' || s->text[s->at] == '\t'))
		s->at++;
}

static void comment(struct toml_scan *s)
{
	blanks(s);
	if (s->at < s->len && s->text[s->at] == '#')
		while (s->at < s->len && s->text[s->at] != '\n')
			s->at++;
	if (s->at + 1 < s->len && s->text[s->at] == '\r' && s->text[s->at + 1] == '\n')
		s->at++;
}

bool toml_scan_skip(struct toml_scan *s)
{
	for (;;) {
		comment(s);
		if (s->at >= s->len || s->text[s->at] != '\n')
			return s->at < s->len;
		s->at++;
		s->line++;
	}
}

int toml_scan_line_end(struct toml_scan *s)
{
	comment(s);
	if (s->at < s->len && s->text[s->at] != '\n')
		return toml_scan_fail(s, "something follows after the end of the value");
	return 0;
}

static size_t put_utf8(char *out, uint32_t code)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

/* Digits of \uXXXX or \UXXXXXXXX; 0 where they are none, or name no character: also NUL, which no setting needs. */
static uint32_t escaped_code(const char *p, size_t left, size_t digits)
{
	uint32_t code = 0;

	if (left < digits)
		return 0;
	for (size_t i = 0; i < digits; i++) {
		if (!isxdigit((unsigned char)p[i]))
			return 0;
		code = code << 4 |
		       (uint32_t)(isdigit((unsigned char)p[i]) ? p[i] - '0'
		                                               : (p[i] | 0x20) - 'a' + 10);
	}
	return code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : code;
}

/* The escape after a backslash: bytes read, 0 = not allowed. out has room for 4. */
static size_t escape(const char *p, size_t left, char *out, size_t *nr)
{
	static const char letters[] = "btnfre\"\\", means[] = "\b\t\n\f\r\x1b\"\\";
	const char *found = left && *p ? strchr(letters, *p) : NULL;
	size_t digits = left && *p == 'u' ? 4 : left && *p == 'U' ? 8 : 0;
	uint32_t code;

	*nr = 1;
	if (found) {
		*out = means[found - letters];
		return 1;
	}
	code = digits ? escaped_code(p + 1, left - 1, digits) : 0;
	if (!code)
		return 0;
	*nr = put_utf8(out, code);
	return 1 + digits;
}

/* A string on one line. out may be NULL; it is never longer than what is written. */
static int one_line_string(struct toml_scan *s, char *out, size_t *out_len)
{
	char quote = s->text[s->at++], piece[4];
	size_t nr = 0;

	while (s->at < s->len && s->text[s->at] != quote) {
		char c = s->text[s->at++];
		size_t piece_len = 1, read;

		piece[0] = c;
		if (c == '\n' || c == '\0')
			return toml_scan_fail(s, "a string has no end");
		if (c == '\\' && quote == '"') {
			read = escape(s->text + s->at, s->len - s->at, piece, &piece_len);
			if (!read)
				return toml_scan_fail(s,
				                      "a backslash is followed by nothing known");
			s->at += read;
		}
		if (out)
			memcpy(out + nr, piece, piece_len);
		nr += piece_len;
	}
	if (s->at >= s->len)
		return toml_scan_fail(s, "a string has no end");
	s->at++;
	*out_len = nr;
	return 0;
}

static bool is_triple(const struct toml_scan *s)
{
	const char *p = s->text + s->at;

	return s->len - s->at >= 3 && p[1] == p[0] && p[2] == p[0];
}

static int long_string(struct toml_scan *s)
{
	char quote = s->text[s->at];

	for (s->at += 3; s->at < s->len; s->at++) {
		if (s->text[s->at] == '\\' && quote == '"' && s->at + 1 < s->len)
			s->at++;
		else if (s->text[s->at] == quote && is_triple(s))
			break;
		s->line += s->text[s->at] == '\n';
	}
	if (s->at >= s->len)
		return toml_scan_fail(s, "a string has no end");
	s->at += 3;
	return 0;
}

static bool is_bare_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static int name_part(struct toml_scan *s, char *out, size_t room, size_t *len)
{
	size_t from = s->at, probe_len = 0;
	int err;

	*len = 0;
	if (s->at < s->len && (s->text[s->at] == '"' || s->text[s->at] == '\'')) {
		struct toml_scan probe = *s;

		err = one_line_string(&probe, NULL, &probe_len);
		if (err)
			return err;
		if (probe_len >= room)
			return toml_scan_fail(s, "a key is too long");
		return one_line_string(s, out, len);
	}
	while (s->at < s->len && is_bare_char(s->text[s->at]))
		s->at++;
	*len = s->at - from;
	if (!*len)
		return toml_scan_fail(s, "a key was expected");
	if (*len >= room)
		return toml_scan_fail(s, "a key is too long");
	memcpy(out, s->text + from, *len);
	return 0;
}

int toml_scan_name(struct toml_scan *s, char out[TOML_MAX_NAME])
{
	size_t nr = 0;

	for (;;) {
		size_t len;
		int err;

		blanks(s);
		err = name_part(s, out + nr, TOML_MAX_NAME - 1 - nr, &len);
		if (err)
			return err;
		if (memchr(out + nr, TOML_DOT, len))
			return toml_scan_fail(s, "a key contains a control character");
		nr += len;
		blanks(s);
		if (s->at >= s->len || s->text[s->at] != '.')
			break;
		s->at++;
		if (nr + 2 >= TOML_MAX_NAME)
			return toml_scan_fail(s, "a key is too long");
		out[nr++] = TOML_DOT;
	}
	out[nr] = '\0';
	return 0;
}

/* Brackets that fit, with strings and comments inside. */
static int bracketed(struct toml_scan *s)
{
	char open[MAX_DEPTH] = { 0 };
	int depth = 0;

	do {
		char c;
		size_t len;
		int err = 0;

		if (!toml_scan_skip(s))
			return toml_scan_fail(s, "a bracket is not closed");
		c = s->text[s->at];
		if (c == '"' || c == '\'') {
			err = is_triple(s) ? long_string(s) : one_line_string(s, NULL, &len);
		} else if (c == '[' || c == '{') {
			if (depth == MAX_DEPTH)
				return toml_scan_fail(s, "too many brackets");
			open[depth++] = c;
			s->at++;
		} else if (c == ']' || c == '}') {
			if (!depth || open[--depth] != (c == ']' ? '[' : '{'))
				return toml_scan_fail(s, "brackets do not fit");
			s->at++;
		} else {
			s->at++;
		}
		if (err)
			return err;
	} while (depth);
	return 0;
}

/* 250, -1, 1_000, 0xff; overflow and anything else is not an integer. */
static bool read_integer(const char *p, size_t len, int64_t *out)
{
	char digits[32];
	size_t nr = 0;
	char *end;

	for (size_t i = 0; i < len; i++) {
		if (p[i] == '_')
			continue;
		if (nr + 1 >= sizeof(digits))
			return false;
		digits[nr++] = p[i];
	}
	digits[nr] = '\0';
	if (!nr || isspace((unsigned char)digits[0]))
		return false;
	errno = 0;
	*out = strtoll(digits, &end, strncmp(digits, "0x", 2) == 0 ? 16 : 10);
	return !*end && end != digits && !errno;
}

static int word_value(struct toml_scan *s, struct toml_value *v)
{
	size_t len;

	while (s->at < s->len && !strchr(" \t\r\n#,]}", s->text[s->at]))
		s->at++; /* also stops at a NUL */
	len = s->at - v->begin;
	if (!len)
		return toml_scan_fail(s, "a value was expected");
	if ((len == 4 && memcmp(s->text + v->begin, "true", 4) == 0) ||
	    (len == 5 && memcmp(s->text + v->begin, "false", 5) == 0)) {
		v->type = TOML_BOOLEAN;
		v->integer = len == 4;
		return 0;
	}
	if (read_integer(s->text + v->begin, len, &v->integer)) {
		v->type = TOML_INTEGER;
		return 0;
	}
	if (!isdigit((unsigned char)s->text[v->begin]) && !strchr("+-in", s->text[v->begin]))
		return toml_scan_fail(s, "a value is neither a number nor in quotes");
	v->type = TOML_OTHER;
	return 0;
}

int toml_scan_value(struct toml_scan *s, struct toml_value *out)
{
	size_t len;
	int err;

	blanks(s);
	*out = (struct toml_value){ .begin = s->at, .line = s->line, .type = TOML_OTHER };
	if (s->at >= s->len)
		return toml_scan_fail(s, "a value was expected");
	switch (s->text[s->at]) {
	case '"':
	case '\'':
		if (is_triple(s)) {
			err = long_string(s);
			break;
		}
		out->type = TOML_STRING;
		err = one_line_string(s, NULL, &len);
		break;
	case '[':
		out->type = TOML_ARRAY;
		err = bracketed(s);
		break;
	case '{':
		err = bracketed(s);
		break;
	default:
		err = word_value(s, out);
	}
	out->end = s->at;
	return err;
}

char *toml_scan_text(const char *text, const struct toml_value *v)
{
	struct toml_scan s = { .text = text, .len = v->end, .at = v->begin, .line = v->line };
	char *out = malloc(v->end - v->begin + 1);
	size_t len = v->end - v->begin;

	if (!out)
		return NULL;
	if (v->type != TOML_STRING)
		memcpy(out, text + v->begin, len);
	else if (one_line_string(&s, out, &len))
		len = 0;
	out[len] = '\0';
	return out;
}
