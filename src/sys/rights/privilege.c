#include "sys/rights/privilege.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <linux/bpf.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"
#include "sys/proc/proc_tasks.h"
#include "sys/rights/broker.h"
#include "sys/rights/caps.h"
#include "sys/rights/sandbox.h"

#define NOBODY 65534U /* of uids and gids that overflow, on every Linux */

/* These say nothing about files: they may be effective while a user's file is opened. */
#define HARMLESS_TO_FILES                                                                       \
	(CAPS_TRACE | CAPS_BIT(CAP_SYS_ADMIN) | CAPS_BIT(CAP_SYSLOG) | CAPS_BIT(CAP_SYS_NICE) | \
	 CAPS_BIT(CAP_SYS_RESOURCE))

/* AddressSanitizer searches for leaks by tracing the process. */
#if defined(__SANITIZE_ADDRESS__)
#define MAY_BE_TRACED 1
#elif defined(__has_feature)
#define MAY_BE_TRACED __has_feature(address_sanitizer)
#else
#define MAY_BE_TRACED 0
#endif

/* An id from the environment; root and nonsense are none. */
static bool id_from(const char *name, unsigned int *out)
{
	const char *text = getenv(name);
	uint64_t id;

	if (!text || !text_to_u64(text, &id) || id == 0 || id >= UINT32_MAX)
		return false;
	*out = (unsigned int)id;
	return true;
}

void privilege_user(struct privilege_user *out)
{
	*out = (struct privilege_user){ getuid(), getgid() };
	if (out->uid != 0)
		return;
	if (!id_from("SUDO_UID", &out->uid) || !id_from("SUDO_GID", &out->gid))
		*out = (struct privilege_user){ NOBODY, NOBODY };
}

/* Whether this is the only thread; if /proc does not say, it is not known to be. */
static bool is_alone(void)
{
	DIR *dir = opendir("/proc/self/task");
	size_t nr = 0;

	if (!dir)
		return false;
	for (const struct dirent *e; (e = readdir(dir));)
		nr += e->d_name[0] != '.';
	closedir(dir);
	return nr == 1;
}

static int set_all_caps(uint64_t effective, uint64_t permitted, uint64_t inheritable)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].effective = (uint32_t)(effective >> (32 * i));
		data[i].permitted = (uint32_t)(permitted >> (32 * i));
		data[i].inheritable = (uint32_t)(inheritable >> (32 * i));
	}
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

static int set_caps(uint64_t effective, uint64_t permitted)
{
	return set_all_caps(effective, permitted, 0);
}

int privilege_show(uint64_t caps)
{
	struct caps own;
	int err = caps_get(&own);

	return err ? err : set_caps(own.permitted & caps, own.permitted);
}

int privilege_hide(void)
{
	struct caps own;
	int err = caps_get(&own);

	if (err || getuid() == 0)
		return err;
	if (!own.permitted && geteuid() == getuid() && getegid() == getgid())
		return 0;
	if (!is_alone())
		return -EBUSY;
	/* A set-user-id or set-group-id bit: files are opened as the user, what the bit gave stays as capabilities. */
	if (setegid(getgid()) || seteuid(getuid()))
		return -errno;
	return privilege_show(HARMLESS_TO_FILES);
}

int privilege_hand_down(void)
{
	struct caps own;
	int err = caps_get(&own);

	if (err || getuid() == 0 || getauxval(AT_SECURE))
		return err;
	err = set_all_caps(own.effective, own.permitted, own.permitted);
	for (int cap = 0; cap < 64 && !err; cap++)
		if (own.permitted & CAPS_BIT(cap) &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0))
			err = -errno;
	return err;
}

/* Without CAP_SETPCAP, as with capabilities of a file, it stays: no_new_privs makes it meaningless. */
static void empty_bounding_set(void)
{
	for (int cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
			(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

/* Before Linux 5.19 kernel.unprivileged_bpf_disabled forbids every call of bpf(), reading included. */
static bool may_read_maps(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (__u32)-1;
	return syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)) == 0 || errno != EPERM;
}

/* Root of a container may have been left without the right to become another user, or there may be no other user. */
static bool must_stay_root(int err)
{
	struct caps own;

	if (err == EINVAL) /* the user namespace has no such id */
		return true;
	return caps_get(&own) || caps_missing(&own, CAPS_BIT(CAP_SETUID) | CAPS_BIT(CAP_SETGID));
}

static int become(const struct privilege_user *user)
{
	if (getuid() == 0 && setgroups(0, NULL))
		return must_stay_root(errno) ? 0 : -errno;
	if (setresgid(user->gid, user->gid, user->gid) ||
	    setresuid(user->uid, user->uid, user->uid))
		return getuid() == 0 && must_stay_root(errno) ? 0 : -errno;
	/* A process that can become root again has not dropped its rights. */
	return setresuid(0, 0, 0) == 0 || setresgid(0, 0, 0) == 0 ? -EPERM : 0;
}

static int limit_caps(uint64_t keep)
{
	struct caps own;
	int err = caps_get(&own);
	uint64_t bpf = CAPS_BIT(CAP_BPF) & own.permitted;

	if (!err)
		err = set_caps(own.permitted & keep, own.permitted & (keep | bpf));
	if (!err && !may_read_maps())
		return set_caps(own.permitted & (keep | bpf), own.permitted & (keep | bpf));
	return err ? err : set_caps(own.permitted & keep, own.permitted & keep);
}

/* The signal for the death of the parent, which a change of credentials takes away. */
static int keep_parent_signal(int sig, pid_t parent)
{
	if (!sig)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, sig, 0, 0, 0))
		return -errno;
	return getppid() == parent ? 0 : -raise(sig);
}

static int drop(uint64_t keep)
{
	struct privilege_user user;
	pid_t parent = getppid();
	int err, sig = 0;

	privilege_user(&user);
	if (!is_alone())
		return -EBUSY;
	err = broker_seal();
	if (err)
		return err;
	sandbox_keep_program();
	empty_bounding_set();
	if (prctl(PR_GET_PDEATHSIG, &sig, 0, 0, 0) || prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
		return -errno;
	err = become(&user);
	if (!err)
		err = limit_caps(keep);
	if (!err && (prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)))
		err = -errno;
	if (!err && prctl(PR_SET_DUMPABLE, MAY_BE_TRACED, 0, 0, 0))
		err = -errno;
	return err ? err : keep_parent_signal(sig, parent);
}

int privilege_drop(uint64_t keep, struct diag *d)
{
	int err = drop(keep);

	return err ? diag_set(d, err, NULL, "cannot give up privileges (%s)", strerror(-err)) : 0;
}

/* Before Linux 5.8 the option belongs to all mounts of /proc: it would be changed for everyone. */
static bool has_options_per_mount(void)
{
	struct utsname name;
	unsigned int major, minor;

	return uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 5 || (major == 5 && minor >= 8));
}

/* A /proc of our own, in which all processes are; what others mount is still seen. */
static bool mount_open_proc(void)
{
	return has_options_per_mount() && is_alone() && unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) == 0 &&
	       mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=0") == 0;
}

int privilege_drop_but_seeing(struct diag *d)
{
	bool is_hidden = proc_hides_processes("/proc/self/mounts") && !mount_open_proc();

	return privilege_drop(is_hidden ? CAPS_BIT(CAP_SYS_PTRACE) : 0, d);
}
