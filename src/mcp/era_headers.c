/* Headers of HTTP in the stateless era: what proxies route by must be what the body says. */
#include <stdlib.h>
#include <string.h>

#include "mcp/era_priv.h"
#include "mcp/server.h"

#define OPENING "=?base64?"
#define CLOSING "?="

/* White space around a value does not belong to it. */
static bool is_equal(const char *header, size_t len, const char *text)
{
	return len == strlen(text) && strncmp(header, text, len) == 0;
}

static const char *trim(const char *header, size_t *len)
{
	header += strspn(header, " \t");
	*len = strlen(header);
	while (*len && (header[*len - 1] == ' ' || header[*len - 1] == '\t'))
		(*len)--;
	return header;
}

static int fail(struct rpc_error *e, const char *name, const char *header, const char *body)
{
	if (header)
		return rpc_fail(e, RPC_HEADER_MISMATCH,
		                "the header %s is %.64s, but the body says %.128s", name, header,
		                body);
	return rpc_fail(e, RPC_HEADER_MISMATCH, "the header %s is missing; the body says %.128s",
	                name, body);
}

static int check_equal(const char *name, const char *header, const char *body, struct rpc_error *e)
{
	const char *value;
	size_t len;

	if (!header || !body)
		return 0;
	value = trim(header, &len);
	return is_equal(value, len, body) ? 0 : fail(e, name, header, body);
}

int era_check_headers(const struct message *m, const struct mcp_headers *headers,
                      const char *version, struct rpc_error *e)
{
	if (check_equal("MCP-Protocol-Version", headers->version, version, e))
		return -1;
	return check_equal("Mcp-Method", headers->method, m->method, e);
}

static int value_of(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Four characters of it; how many bytes they are, 0 = broken. Padding stands at the end alone. */
static size_t decode_four(const char *in, bool is_end, char *out)
{
	size_t nr = 3;
	unsigned int bits = 0;

	if (is_end && in[3] == '=')
		nr = in[2] == '=' ? 1 : 2;
	for (size_t i = 0; i < 4; i++) {
		int value = i <= nr ? value_of(in[i]) : 0;

		if (value < 0)
			return 0;
		bits = bits << 6 | (unsigned int)value;
	}
	for (size_t i = 0; i < nr; i++)
		out[i] = (char)(bits >> (16 - 8 * i) & 0xff);
	return nr;
}

static char *decode(const char *in, size_t len)
{
	char *out = len % 4 ? NULL : malloc(len / 4 * 3 + 1);
	size_t nr = 0;

	for (size_t i = 0; out && i < len; i += 4) {
		size_t more = decode_four(in + i, i + 4 == len, out + nr);

		if (!more) {
			free(out);
			return NULL;
		}
		nr += more;
	}
	if (out)
		out[nr] = '\0';
	return out;
}

char *era_header_decode(const char *header)
{
	size_t len, edges = strlen(OPENING) + strlen(CLOSING);
	const char *value = trim(header, &len);

	if (len < edges || strncmp(value, OPENING, strlen(OPENING)) != 0 ||
	    strncmp(value + len - strlen(CLOSING), CLOSING, strlen(CLOSING)) != 0)
		return strndup(value, len);
	return decode(value + strlen(OPENING), len - edges);
}

/* What Mcp-Name repeats; NULL = this method has none, or the body lacks it. */
static const char *name_of(const struct message *m)
{
	const char *key = NULL;

	if (strcmp(m->method, "tools/call") == 0 || strcmp(m->method, "prompts/get") == 0)
		key = "name";
	else if (strcmp(m->method, "resources/read") == 0)
		key = "uri";
	return key ? json_string_value(json_object_get(m->params, key)) : NULL;
}

int era_need_headers(const struct message *m, const struct mcp_headers *headers,
                     struct rpc_error *e)
{
	const char *name = name_of(m);
	char *given;
	int err = 0;

	if (!headers->version)
		return fail(e, "MCP-Protocol-Version", NULL, ERA_STATELESS_VERSION);
	if (!headers->method)
		return fail(e, "Mcp-Method", NULL, m->method);
	if (!name)
		return 0;
	if (!headers->name)
		return fail(e, "Mcp-Name", NULL, name);
	given = era_header_decode(headers->name);
	if (!given || strcmp(given, name) != 0)
		err = fail(e, "Mcp-Name", headers->name, name);
	free(given);
	return err;
}
