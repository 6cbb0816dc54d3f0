#include "http/http_token.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "sys/rights/broker.h"
#include "sys/rights/own_dir.h"

#define TOKEN_MIN_LEN   16U
#define TOKEN_MAX_LEN   4096U
#define TOKEN_NEW_BYTES 32U

bool http_token_is_right(const char *authorization, const char *token)
{
	size_t len = strlen(token), given;
	unsigned int differs = 0;

	if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0)
		return false;
	authorization += 7;
	given = strlen(authorization);
	for (size_t i = 0; i < len; i++)
		differs |= (unsigned int)(token[i] ^ authorization[given ? i % given : 0]);
	return !differs && given == len;
}

static int check_mode(const char *path, const struct stat *st, bool is_strict, struct diag *d)
{
	bool is_open = S_ISREG(st->st_mode) && (st->st_mode & (S_IROTH | S_IWOTH | S_IWGRP));

	if (is_open && is_strict)
		return diag_set(
			d, -EINVAL, "chmod 600 it, and put a new token into it",
			"other users of this machine can read or change the token file '%s'", path);
	if (is_open)
		log_warn("other users of this machine can read or change the token file '%s'",
		         path);
	return 0;
}

int http_token_read(const char *path, bool is_strict, struct diag *d, char **out)
{
	SCOPED(scoped_fclose) FILE *file = NULL;
	int fd = broker_file_open(path), err = fd;
	char line[TOKEN_MAX_LEN + 2];
	struct stat st;
	size_t len;

	if (fd >= 0 && !(file = fdopen(fd, "r"))) {
		err = -errno;
		close(fd);
	}
	if (!file || fstat(fd, &st) < 0)
		return diag_set(d, file ? -errno : err, "check the path and its permissions",
		                "cannot read the token file '%s'", path);
	err = check_mode(path, &st, is_strict, d);
	if (err)
		return err;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	len = strcspn(line, " \t\r\n");
	if (len < TOKEN_MIN_LEN || len > TOKEN_MAX_LEN)
		return diag_set(
			d, -EINVAL, "make one: openssl rand -hex 32 >FILE",
			"the token file '%s' must begin with a line of 16 to 4096 characters",
			path);
	line[len] = '\0';
	*out = strdup(line);
	return *out ? 0 : diag_set(d, -ENOMEM, NULL, "out of memory");
}

static int make_text(char text[2 * TOKEN_NEW_BYTES + 1])
{
	unsigned char bytes[TOKEN_NEW_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* In a new directory, which no other user can enter. */
static int store(const char *text, char path[PATH_MAX])
{
	char dir[PATH_MAX];
	SCOPED(scoped_close) int fd = -1;
	int err = own_dir_make(dir);

	if (err)
		return err;
	if (snprintf(path, PATH_MAX, "%s/token", dir) >= PATH_MAX) {
		rmdir(dir);
		return -ENAMETOOLONG;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || dprintf(fd, "%s\n", text) < 0) {
		err = -errno;
		http_token_remove(path);
		return err;
	}
	return 0;
}

int http_token_make(struct diag *d, char **out, char **path)
{
	char text[2 * TOKEN_NEW_BYTES + 1], file[PATH_MAX] = "";
	int err = make_text(text);

	if (!err)
		err = store(text, file);
	if (err)
		return diag_set(d, err, "give one with --token-file", "cannot make a token");
	*out = strdup(text);
	*path = strdup(file);
	return *out && *path ? 0 : diag_set(d, -ENOMEM, NULL, "out of memory");
}

void http_token_remove(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	char dir[PATH_MAX];

	if (!slash)
		return;
	unlink(path);
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	rmdir(dir);
}
