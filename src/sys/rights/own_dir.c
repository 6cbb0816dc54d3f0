#include "sys/rights/own_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "sys/rights/privilege.h"

static int make_below(const char *base, char path[PATH_MAX])
{
	struct privilege_user user;
	int err = 0;

	if (snprintf(path, PATH_MAX, "%s/schedscope-mcp-XXXXXX", base) >= PATH_MAX)
		return -ENAMETOOLONG;
	privilege_user(&user);
	(void)setfsgid(user.gid);
	(void)setfsuid(user.uid);
	if (!mkdtemp(path))
		err = -errno;
	(void)setfsuid(geteuid());
	(void)setfsgid(getegid());
	return err;
}

int own_dir_make(char path[PATH_MAX])
{
	const char *base = getenv("TMPDIR");
	int err = make_below(base && base[0] == '/' ? base : "/tmp", path);

	/* That of root may be for root alone. */
	return err == -EACCES && geteuid() == 0 ? make_below("/tmp", path) : err;
}
