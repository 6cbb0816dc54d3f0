#include "sys/proc/pid_namespace.h"

#include <errno.h>
#include <sys/stat.h>

#define PROC_PID_INIT_INO 4026531836U /* 0xEFFFFFFC, include/linux/proc_ns.h; unchanged since 3.8 */

bool pid_namespace_is_initial(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) != 0 || st.st_ino == PROC_PID_INIT_INO;
}

int pid_namespace_check(const char *what, struct diag *d)
{
	if (pid_namespace_is_initial())
		return 0;
	return diag_set(d, -ENOTSUP, PID_NAMESPACE_HINT ", or use --cgroup",
	                "inside a pid namespace, %s cannot be matched with the kernel's ids", what);
}
