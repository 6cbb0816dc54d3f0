#include "sys/sensors/sensor_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/rights/broker.h"

static int read_line(const struct sensor_files *f, const char *path, char out[SENSOR_TEXT])
{
	SCOPED(scoped_close) int fd = -1;
	char whole[2 * SENSOR_PATH];
	ssize_t n;

	if (f->may_read && !f->may_read(f->ctx, path))
		return -ETIMEDOUT;
	(void)snprintf(whole, sizeof(whole), "%s%s", f->root, path);
	fd = broker_open(whole);
	if (fd < 0)
		return fd;
	n = read(fd, out, SENSOR_TEXT - 1);
	if (n < 0)
		return -errno;
	out[n] = '\0';
	out[strcspn(out, "\n")] = '\0';
	text_chomp(out);
	return out[0] ? 0 : -ENODATA;
}

static int PRINTF_LIKE(3, 0) read_words(const struct sensor_files *f, char out[SENSOR_TEXT],
                                        const char *fmt, va_list args)
{
	char path[SENSOR_PATH];
	int len = vsnprintf(path, sizeof(path), fmt, args);

	return len < 0 || (size_t)len >= sizeof(path) ? -ENAMETOOLONG : read_line(f, path, out);
}

int sensor_text(const struct sensor_files *f, char out[SENSOR_TEXT], const char *fmt, ...)
{
	va_list args;
	int err;

	va_start(args, fmt);
	err = read_words(f, out, fmt, args);
	va_end(args);
	return err;
}

int sensor_u64(const struct sensor_files *f, uint64_t *out, const char *fmt, ...)
{
	char text[SENSOR_TEXT] = "";
	va_list args;
	int err;

	va_start(args, fmt);
	err = read_words(f, text, fmt, args);
	va_end(args);
	if (err)
		return err;
	return text_to_u64(text, out) ? 0 : -EINVAL;
}

int sensor_i64(const struct sensor_files *f, int64_t *out, const char *fmt, ...)
{
	char text[SENSOR_TEXT] = "";
	uint64_t size;
	va_list args;
	bool is_below;
	int err;

	va_start(args, fmt);
	err = read_words(f, text, fmt, args);
	va_end(args);
	if (err)
		return err;
	is_below = text[0] == '-';
	if (!text_to_u64(text + is_below, &size) || size > INT64_MAX)
		return -EINVAL;
	*out = is_below ? -(int64_t)size : (int64_t)size;
	return 0;
}

static void take_name(const char *name, const char *prefix, struct sensor_names *out)
{
	if (strncmp(name, prefix, strlen(prefix)) != 0 || strlen(name) >= SENSOR_TEXT ||
	    out->nr == SENSOR_LIST)
		return;
	memcpy(out->names[out->nr++], name, strlen(name) + 1);
}

void sensor_list(const struct sensor_files *f, const char *folder, const char *prefix,
                 struct sensor_names *out)
{
	struct dirent **entries = NULL;
	char whole[2 * SENSOR_PATH];
	int nr;

	*out = (struct sensor_names){ 0 };
	(void)snprintf(whole, sizeof(whole), "%s%s", f->root, folder);
	nr = scandir(whole, &entries, NULL, versionsort);
	if (nr < 0)
		return;
	out->names = calloc((size_t)nr + 1, sizeof(*out->names));
	for (int i = 0; i < nr; i++) {
		if (out->names)
			take_name(entries[i]->d_name, prefix, out);
		free(entries[i]);
	}
	free(entries);
}

void scoped_sensor_names(struct sensor_names *n)
{
	free(n->names);
}

int32_t sensor_number(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);
	uint64_t number;

	if (strncmp(text, prefix, len) != 0 || !text_to_u64(text + len, &number) ||
	    number > INT32_MAX)
		return -1;
	return (int32_t)number;
}
