#include "sys/rights/caps.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const names[] = {
	[CAP_DAC_OVERRIDE] = "cap_dac_override", [CAP_DAC_READ_SEARCH] = "cap_dac_read_search",
	[CAP_NET_ADMIN] = "cap_net_admin",       [CAP_SYS_PTRACE] = "cap_sys_ptrace",
	[CAP_SYS_ADMIN] = "cap_sys_admin",       [CAP_SYS_NICE] = "cap_sys_nice",
	[CAP_SYS_RESOURCE] = "cap_sys_resource", [CAP_SYSLOG] = "cap_syslog",
	[CAP_PERFMON] = "cap_perfmon",           [CAP_BPF] = "cap_bpf",
};

#define NR_NAMES (sizeof(names) / sizeof(names[0]))

/* The kernel hands 64 bits over in two halves. */
static uint64_t join(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

int caps_get(struct caps *out)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	*out = (struct caps){
		.effective = join(data[0].effective, data[1].effective),
		.permitted = join(data[0].permitted, data[1].permitted),
		.inheritable = join(data[0].inheritable, data[1].inheritable),
	};
	return 0;
}

bool caps_has(const struct caps *c, int cap)
{
	bool is_part_of_admin = cap == CAP_BPF || cap == CAP_PERFMON;

	if (c->effective & CAPS_BIT(cap))
		return true;
	return is_part_of_admin && c->effective & CAPS_BIT(CAP_SYS_ADMIN);
}

uint64_t caps_missing(const struct caps *c, uint64_t mask)
{
	uint64_t missing = 0;

	for (int cap = 0; cap < 64; cap++)
		if (mask & CAPS_BIT(cap) && !caps_has(c, cap))
			missing |= CAPS_BIT(cap);
	return missing;
}

static void append(char *buf, size_t size, const char *s)
{
	size_t len = strlen(buf);

	snprintf(buf + len, size - len, "%s", s);
}

char *caps_names(uint64_t mask, char *buf, size_t size)
{
	char number[16];

	if (!size)
		return buf;
	buf[0] = '\0';
	/* The highest first: those that tracing needs are the newest. */
	for (int cap = 63; cap >= 0; cap--) {
		const char *name = (size_t)cap < NR_NAMES ? names[cap] : NULL;

		if (!(mask & CAPS_BIT(cap)))
			continue;
		snprintf(number, sizeof(number), "cap_%d", cap);
		if (buf[0])
			append(buf, size, ",");
		append(buf, size, name ? name : number);
	}
	return buf;
}

/* As one word of a shell command; false when it does not fit. */
static bool quote(const char *s, char *buf, size_t size)
{
	static const char *const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "0123456789/._-+,:@%=";
	size_t len = 0;

	if (*s && strspn(s, plain) == strlen(s))
		return (size_t)snprintf(buf, size, "%s", s) < size;
	for (const char *p = s; *p; p++) {
		if (len + 8 > size)
			return false;
		if (p == s)
			buf[len++] = '\'';
		if (*p == '\'')
			len += (size_t)sprintf(buf + len, "'\\''");
		else
			buf[len++] = *p;
	}
	if (!len)
		return false;
	buf[len++] = '\'';
	buf[len] = '\0';
	return true;
}

int caps_setcap_line(uint64_t mask, const char *binary, char *buf, size_t size)
{
	char list[512], self[PATH_MAX], path[PATH_MAX];
	int len;

	if (!binary) {
		ssize_t nr = readlink("/proc/self/exe", self, sizeof(self) - 1);

		if (nr < 0)
			return -errno;
		self[nr] = '\0';
		binary = self;
	}
	if (!quote(binary, path, sizeof(path)))
		return -ENAMETOOLONG;
	/* The group first: to change it takes capabilities away. */
	len = snprintf(buf, size,
	               "f=%s; chgrp adm \"$f\" && chmod 750 \"$f\" && setcap %s+ep \"$f\"", path,
	               caps_names(mask, list, sizeof(list)));
	return len < 0 || (size_t)len >= size ? -ENAMETOOLONG : 0;
}

int caps_drop_to(uint64_t mask)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		uint32_t half = (uint32_t)(mask >> (32 * i));

		data[i].effective &= half;
		data[i].permitted &= half;
		data[i].inheritable &= half;
	}
	/* The ambient set follows: the kernel clears what is no longer permitted and inheritable. */
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}
