#include "record/labels.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define KEY_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

static bool is_printable(const char *value)
{
	char clean[LABEL_VALUE_MAX + 1];

	text_printable(clean, sizeof(clean), value, strlen(value));
	return strcmp(clean, value) == 0;
}

static bool has_key(const struct labels *l, const char *key)
{
	for (size_t i = 0; i < l->nr; i++)
		if (strcmp(l->keys[i], key) == 0)
			return true;
	return false;
}

static int add(struct labels *l, const char *word, struct diag *d)
{
	size_t len = strspn(word, KEY_CHARS);
	const char *value = word + len + 1;
	char key[sizeof(l->keys[0])];

	if (!len || word[len] != '=')
		return diag_set(d, -EINVAL, "KEY has letters, digits, and _ . -",
		                "'%.64s' is not KEY=VALUE", word);
	if (len > LABEL_KEY_MAX)
		return diag_set(d, -EINVAL, NULL, "'%.32s...' is too long for a key: %u bytes",
		                word, LABEL_KEY_MAX);
	if (strlen(value) > LABEL_VALUE_MAX || !is_printable(value))
		return diag_set(d, -EINVAL, NULL,
		                "the value of %.*s is not printable text of at most %u bytes",
		                (int)len, word, LABEL_VALUE_MAX);
	(void)snprintf(key, sizeof(key), LABEL_PREFIX "%.*s", (int)len, word);
	if (has_key(l, key))
		return diag_set(d, -EINVAL, "leave one out", "%.*s is given twice", (int)len, word);
	if (l->nr == LABELS_MAX)
		return diag_set(d, -EINVAL, NULL, "%.*s is one too many: %u at most", (int)len,
		                word, LABELS_MAX);
	memcpy(l->keys[l->nr], key, sizeof(key));
	l->attrs[l->nr] = (struct trace_attr){ .key = l->keys[l->nr], .text = value };
	l->nr++;
	return 0;
}

int labels_parse(const char *const *words, size_t nr, struct labels *out, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = add(out, words[i], d);
	return err;
}
