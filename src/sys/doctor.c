#include "sys/doctor.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "sys/cpulist.h"
#include "sys/features.h"
#include "sys/pmu/pmu.h"

#define KERNEL(major, minor) ((uint32_t)((major) << 16 | (minor) << 8))
#define KALLSYMS_LINES       1000 /* looked at */
#define FILE_CAP             (1U << 20)
#define INIT_PID_NS          "pid:[4026531836]" /* PROC_PID_INIT_INO, the same on every kernel */

struct exam {
	const struct doctor_cfg *cfg;
	struct features features;
};

typedef void check_fn(const struct exam *e, struct doctor_row *r);

static void say(struct doctor_row *r, enum doctor_state state, const char *remedy, const char *fmt,
                ...) PRINTF_LIKE(4, 5);

static void say(struct doctor_row *r, enum doctor_state state, const char *remedy, const char *fmt,
                ...)
{
	va_list args;

	r->state = state;
	va_start(args, fmt);
	vsnprintf(r->meaning, sizeof(r->meaning), fmt, args);
	va_end(args);
	snprintf(r->remedy, sizeof(r->remedy), "%s", remedy ? remedy : "");
}

static const char *below(const struct exam *e, const char *path, char buf[PATH_MAX])
{
	snprintf(buf, PATH_MAX, "%s%s", e->cfg->root, path);
	return buf;
}

static bool exists(const struct exam *e, const char *path)
{
	char buf[PATH_MAX];

	return access(below(e, path, buf), F_OK) == 0;
}

static bool can_read(const struct exam *e, const char *path)
{
	char buf[PATH_MAX];

	return access(below(e, path, buf), R_OK) == 0;
}

/* A file without its line end, printable, as a new string; NULL when it cannot be read. */
static char *slurp(const struct exam *e, const char *path)
{
	SCOPED(scoped_free) char *text = NULL;
	char buf[PATH_MAX];
	char *clean;
	size_t len;

	if (text_read_file(below(e, path, buf), FILE_CAP, &text))
		return NULL;
	text_chomp(text);
	len = strlen(text);
	clean = malloc(len + 1);
	return clean ? text_printable(clean, len + 1, text, len) : NULL;
}

static bool has_cap(const struct exam *e, int cap)
{
	return e->cfg->caps && caps_has(e->cfg->caps, cap);
}

/* One more name in a list; what does not fit is cut. */
static void append(char *list, size_t size, const char *name)
{
	size_t len = strlen(list);

	snprintf(list + len, size - len, "%s%.64s", len ? ", " : "", name);
}

static void check_kernel(const struct exam *e, struct doctor_row *r)
{
	const struct features *f = &e->features;

	if (!f->version)
		say(r, DOCTOR_LIMITED, NULL, "the kernel's release is unknown");
	else if (f->version < KERNEL(5, 15))
		say(r, DOCTOR_MISSING, "use Linux 5.15 or later",
		    "Linux %s is too old for live data", f->release);
	else if (f->task_storage_in_tracing != TRI_YES)
		say(r, DOCTOR_OK, NULL, "Linux %s; task data can be allocated at fork only",
		    f->release);
	else
		say(r, DOCTOR_OK, NULL, "Linux %s", f->release);
}

static void check_btf(const struct exam *e, struct doctor_row *r)
{
	const struct features *f = &e->features;

	if (f->btf == TRI_NO)
		say(r, DOCTOR_MISSING, "use a kernel built with CONFIG_DEBUG_INFO_BTF=y",
		    "the kernel does not describe its types (no BTF): no live data");
	else if (f->btf != TRI_YES)
		say(r, DOCTOR_MISSING, NULL, "the kernel's BTF cannot be read: no live data");
	else if (f->switch_args == SWITCH_ARGS_UNKNOWN)
		say(r, DOCTOR_LIMITED, NULL,
		    "the tracepoint sched_switch is missing or has unknown arguments");
	else
		say(r, DOCTOR_OK, NULL, "types of the kernel are known; sched_switch %s",
		    f->switch_args == SWITCH_ARGS_NO_STATE ? "does not pass the state of the task"
		                                           : "passes the state of the task");
}

static void check_tracepoints(const struct exam *e, struct doctor_row *r)
{
	static const enum features_tracepoint needed[] = {
		FEATURES_TP_sched_switch,       FEATURES_TP_sched_waking,
		FEATURES_TP_sched_wakeup,       FEATURES_TP_sched_wakeup_new,
		FEATURES_TP_sched_migrate_task, FEATURES_TP_sched_process_exit,
	};
	char missing[160] = "";

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (e->features.tracepoints[needed[i]] != TRI_YES)
			append(missing, sizeof(missing), features_tracepoint_names[needed[i]]);
	if (missing[0])
		say(r, DOCTOR_LIMITED, NULL, "not found: %s", missing);
	else
		say(r, DOCTOR_OK, NULL, "all that the live commands use exist");
}

static void check_capabilities(const struct exam *e, struct doctor_row *r)
{
	uint64_t missing;
	char names[128], line[400];

	if (!e->cfg->caps) {
		say(r, DOCTOR_LIMITED, NULL, "the capabilities are unknown");
		return;
	}
	missing = caps_missing(e->cfg->caps, CAPS_TRACE);
	if (!missing) {
		say(r, DOCTOR_OK, NULL, "can load tracing programs and count on whole CPUs");
		return;
	}
	if (caps_setcap_line(CAPS_INSTALL, e->cfg->binary, line, sizeof(line)))
		snprintf(line, sizeof(line), "run as root");
	say(r, DOCTOR_MISSING, line, "no live data without %s",
	    caps_names(missing, names, sizeof(names)));
}

static void check_bpf(const struct exam *e, struct doctor_row *r)
{
	int err = e->cfg->bpf_error;

	if (!e->cfg->has_tried_bpf)
		say(r, DOCTOR_LIMITED, NULL, "not tried");
	else if (!err)
		say(r, DOCTOR_OK, NULL, "a program was loaded");
	else if (err == -EPERM || err == -EACCES)
		say(r, DOCTOR_MISSING,
		    "run as root or with the capabilities above; containers: also allow bpf() in the "
		    "seccomp profile",
		    "the kernel refuses programs (%s): no live data", strerror(-err));
	else
		say(r, DOCTOR_MISSING, "use a kernel built with CONFIG_BPF_SYSCALL=y",
		    "no program can be loaded (%s): no live data", strerror(-err));
}

/* Refused, not: unable to. */
static bool is_refused(const struct doctor_cfg *cfg)
{
	return cfg->has_tried_bpf && (cfg->fentry_error == -EPERM || cfg->kprobe_error == -EPERM);
}

static void check_lockdown(const struct exam *e, struct doctor_row *r)
{
	enum features_lockdown lockdown = e->features.lockdown;

	if (lockdown == LOCKDOWN_CONFIDENTIALITY)
		say(r, DOCTOR_MISSING, "boot with lockdown=integrity, or without it",
		    "lockdown=confidentiality: programs may not read kernel memory, no live data");
	else if (lockdown == LOCKDOWN_UNKNOWN && is_refused(e->cfg))
		say(r, DOCTOR_LIMITED,
		    "mount -t securityfs securityfs /sys/kernel/security; doctor reads lockdown there",
		    "unknown; it may be why kernel functions cannot be traced");
	else if (lockdown == LOCKDOWN_INTEGRITY && is_refused(e->cfg))
		say(r, DOCTOR_LIMITED, NULL,
		    "lockdown=integrity; this or another security module refuses to trace kernel "
		    "functions");
	else
		say(r, DOCTOR_OK, NULL, "not active");
}

static const char *refusal(int err)
{
	return err == -ENOENT ? "this kernel has none" : strerror(-err);
}

static void check_functions(const struct exam *e, struct doctor_row *r)
{
	int fentry = e->cfg->fentry_error, kprobe = e->cfg->kprobe_error;

	if (!e->cfg->has_tried_bpf)
		say(r, DOCTOR_LIMITED, NULL, "not tried");
	else if (!fentry && !kprobe)
		say(r, DOCTOR_OK, NULL, "kernel functions can be traced, by fentry and by kprobe");
	else if (!fentry)
		say(r, DOCTOR_LIMITED, "for record --kprobes: a kernel built with CONFIG_KPROBES=y",
		    "kernel functions can be traced by fentry, not by kprobe (%s)",
		    refusal(kprobe));
	else if (!kprobe)
		say(r, DOCTOR_OK, NULL,
		    "kernel functions can be traced by kprobe, not by fentry (%s)",
		    refusal(fentry));
	else
		say(r, DOCTOR_LIMITED,
		    fentry == -EPERM
		            ? "a security module may refuse it: see /sys/kernel/security/lsm"
		            : "use a kernel built with CONFIG_KPROBES=y",
		    "kernel functions cannot be traced (fentry: %s; kprobe: %s): no queues of "
		    "sched_ext, no record --kprobes",
		    refusal(fentry), refusal(kprobe));
}

static void check_tracefs(const struct exam *e, struct doctor_row *r)
{
	if (can_read(e, "/sys/kernel/tracing/events/sched") ||
	    can_read(e, "/sys/kernel/debug/tracing/events/sched"))
		say(r, DOCTOR_OK, NULL, "formats of trace events can be read");
	else if (exists(e, "/sys/kernel/tracing") && !can_read(e, "/sys/kernel/tracing"))
		say(r, DOCTOR_LIMITED, "run as root or with cap_dac_read_search",
		    "formats of trace events cannot be read");
	else
		say(r, DOCTOR_LIMITED, "mount -t tracefs tracefs /sys/kernel/tracing",
		    "not mounted: formats of trace events cannot be read");
}

static void check_pmu(const struct exam *e, struct doctor_row *r)
{
	SCOPED(pmu_events_done) struct pmu_events events = { 0 };
	char devices[PATH_MAX], cpuinfo[PATH_MAX], names[128] = "";
	struct pmu_paths paths = {
		.devices = below(e, "/sys/bus/event_source/devices", devices),
		.cpuinfo = below(e, "/proc/cpuinfo", cpuinfo),
	};

	if (pmu_resolve(&paths, "cycles", false, NULL, &events)) {
		say(r, DOCTOR_MISSING,
		    "in a virtual machine: give it a PMU (QEMU: -cpu host,pmu=on)",
		    "no hardware counters (common in virtual machines): no cycles, no IPC");
		return;
	}
	for (size_t i = 0; i < events.nr; i++)
		append(names, sizeof(names), events.items[i].pmu);
	say(r, DOCTOR_OK, NULL, "hardware counters: %s", names);
}

static void check_paranoid(const struct exam *e, struct doctor_row *r)
{
	SCOPED(scoped_free) char *text = slurp(e, "/proc/sys/kernel/perf_event_paranoid");
	long level = text ? strtol(text, NULL, 10) : 0;

	if (!text)
		say(r, DOCTOR_MISSING, "use a kernel built with CONFIG_PERF_EVENTS=y",
		    "the kernel has no performance events");
	else if (level <= 0 || has_cap(e, CAP_PERFMON))
		say(r, DOCTOR_OK, NULL, "is %ld; counting on whole CPUs is allowed", level);
	else
		say(r, DOCTOR_LIMITED,
		    "give the program cap_perfmon, or: sysctl kernel.perf_event_paranoid=0",
		    "is %ld; counting on whole CPUs is not allowed", level);
}

static void check_schedstats(const struct exam *e, struct doctor_row *r)
{
	SCOPED(scoped_free) char *on = slurp(e, "/proc/sys/kernel/sched_schedstats");

	if (!exists(e, "/proc/schedstat"))
		say(r, DOCTOR_MISSING, "use a kernel built with CONFIG_SCHEDSTATS=y",
		    "no /proc/schedstat: no load balancing statistics");
	else if (on && strcmp(on, "0") == 0)
		say(r, DOCTOR_OK, NULL,
		    "load balancing statistics are switched off; 'stat -g schedstat' switches them on meanwhile");
	else
		say(r, DOCTOR_OK, NULL, "load balancing statistics are kept");
}

static void check_sched_ext(const struct exam *e, struct doctor_row *r)
{
	SCOPED(scoped_free) char *state = slurp(e, "/sys/kernel/sched_ext/state");
	SCOPED(scoped_free) char *ops = slurp(e, "/sys/kernel/sched_ext/root/ops");

	if (!state && e->features.sched_ext == TRI_YES)
		say(r, DOCTOR_LIMITED, NULL, "built in, but its state cannot be read");
	else if (!state)
		say(r, DOCTOR_MISSING,
		    "for sched_ext: Linux 6.12 or later with CONFIG_SCHED_CLASS_EXT=y",
		    "not in this kernel; everything else works");
	else if (ops)
		say(r, DOCTOR_OK, NULL, "%s: %.64s", state, ops);
	else
		say(r, DOCTOR_OK, NULL, "%.64s: no scheduler is loaded", state);
}

/* Whether a task tells the run queue that it is in. */
static bool has_queue(const struct exam *e)
{
	return e->features.fields[FEATURES_CFS_RQ_RQ] == TRI_YES &&
	       e->features.fields[FEATURES_SE_CFS_RQ] == TRI_YES;
}

static void check_quota(const struct exam *e, struct doctor_row *r)
{
	if (e->features.fields[FEATURES_TASK_THROTTLED] == TRI_YES)
		say(r, DOCTOR_OK, NULL,
		    "recordings say when the quota of a cgroup throttled a task, by task");
	else if (has_queue(e) && e->features.fields[FEATURES_CFS_RQ_THROTTLED] == TRI_YES)
		say(r, DOCTOR_OK, NULL,
		    "recordings say when the quota of a cgroup throttled a task, by cgroup and CPU");
	else
		say(r, DOCTOR_LIMITED, "use a kernel with CONFIG_CFS_BANDWIDTH=y and BTF",
		    "recordings do not show whether the quota of a cgroup throttled a task");
}

static void check_steal(const struct exam *e, struct doctor_row *r)
{
	if (has_queue(e) && e->features.fields[FEATURES_RQ_STEAL] == TRI_YES)
		say(r, DOCTOR_OK, NULL, "recordings say what a hypervisor stole from each slice");
	else
		say(r, DOCTOR_LIMITED,
		    "in a virtual machine: a kernel with CONFIG_PARAVIRT_TIME_ACCOUNTING=y tells",
		    "recordings do not show what a hypervisor steals; /proc/stat has its sums");
}

/* The mount point of the first cgroup2 in mountinfo: "... 4:/root /mount opts - cgroup2 ...". */
static bool find_cgroup2(char *mountinfo, char *out, size_t size)
{
	char *next = NULL;

	for (char *line = strtok_r(mountinfo, "\n", &next); line;
	     line = strtok_r(NULL, "\n", &next)) {
		char point[256];

		if (!strstr(line, " - cgroup2 "))
			continue;
		if (sscanf(line, "%*s %*s %*s %*s %255s", point) != 1)
			continue;
		text_printable(out, size, point, strlen(point));
		return true;
	}
	return false;
}

static void check_cgroups(const struct exam *e, struct doctor_row *r)
{
	SCOPED(scoped_free) char *mountinfo = NULL;
	char path[PATH_MAX], point[128];

	if (text_read_file(below(e, "/proc/self/mountinfo", path), FILE_CAP, &mountinfo))
		say(r, DOCTOR_LIMITED, NULL,
		    "mounts cannot be read: cgroups have numbers, not names");
	else if (find_cgroup2(mountinfo, point, sizeof(point)))
		say(r, DOCTOR_OK, NULL, "cgroup2 at %s", point);
	else
		say(r, DOCTOR_LIMITED, "mount -t cgroup2 none /sys/fs/cgroup",
		    "no cgroup2 mounted: cgroups have numbers, not names");
}

/* Hidden addresses are 0; on x86-64 so are the first ones that are not, of variables of CPUs. */
static bool has_address(FILE *kallsyms)
{
	char line[256];

	for (int i = 0; i < KALLSYMS_LINES && fgets(line, sizeof(line), kallsyms); i++)
		if (strtoull(line, NULL, 16))
			return true;
	return false;
}

static void check_kallsyms(const struct exam *e, struct doctor_row *r)
{
	SCOPED(scoped_free) char *restricted = slurp(e, "/proc/sys/kernel/kptr_restrict");
	SCOPED(scoped_fclose) FILE *f = NULL;
	char path[PATH_MAX];

	f = fopen(below(e, "/proc/kallsyms", path), "re");
	if (!f)
		say(r, DOCTOR_LIMITED, NULL,
		    "no /proc/kallsyms: functions of the kernel have no names");
	else if (has_address(f))
		say(r, DOCTOR_OK, NULL, "functions of the kernel have names");
	else
		say(r, DOCTOR_LIMITED,
		    "run as root or with cap_syslog, or: sysctl kernel.kptr_restrict=0 "
		    "kernel.perf_event_paranoid=1",
		    "addresses are hidden (kptr_restrict is %.8s): functions of the kernel have no names",
		    restricted ? restricted : "unknown");
}

/* The processes that read other users' files and traces (sys/rights/sandbox). */
static void check_seccomp(const struct exam *e, struct doctor_row *r)
{
	if (exists(e, "/proc/sys/kernel/seccomp/actions_avail"))
		say(r, DOCTOR_OK, NULL,
		    "files of other users are read by sandboxed processes that can make few system calls");
	else
		say(r, DOCTOR_LIMITED, "use a kernel with CONFIG_SECCOMP_FILTER",
		    "the kernel cannot filter system calls: files of other users are read by "
		    "processes without rights and with little memory, but these can make any "
		    "system call");
}

static void check_container(const struct exam *e, struct doctor_row *r)
{
	char path[PATH_MAX], ns[64];
	ssize_t len = readlink(below(e, "/proc/self/ns/pid", path), ns, sizeof(ns) - 1);
	bool is_marked = exists(e, "/.dockerenv") || exists(e, "/run/.containerenv");

	ns[len > 0 ? len : 0] = '\0';
	if (len > 0 && strcmp(ns, INIT_PID_NS) != 0)
		say(r, DOCTOR_LIMITED, "run on the host, or in its pid namespace (--pid=host)",
		    "in a pid namespace: live data shows the pids of the host, /proc those of the "
		    "container");
	else if (is_marked)
		say(r, DOCTOR_OK, NULL, "in a container that shares the pid namespace of the host");
	else if (len > 0)
		say(r, DOCTOR_OK, NULL, "in the first pid namespace");
	else if (exists(e, "/proc/self/ns"))
		say(r, DOCTOR_OK, NULL, "the kernel has no pid namespaces");
	else
		say(r, DOCTOR_LIMITED, "mount /proc", "the pid namespace is unknown");
}

static void check_cpus(const struct exam *e, struct doctor_row *r)
{
	SCOPED(scoped_free) char *online = slurp(e, "/sys/devices/system/cpu/online");
	SCOPED(cpulist_done) struct cpulist cpus = { 0 };
	char path[128];
	int first;

	if (!online || cpulist_parse(online, &cpus) || !cpus.nr) {
		say(r, DOCTOR_LIMITED, "mount sysfs at /sys", "the online CPUs are unknown");
		return;
	}
	first = cpulist_next(&cpus, 0);
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cache/index3", first);
	if (exists(e, path)) {
		say(r, DOCTOR_OK, NULL, "%u online (%.64s), caches are known", cpus.nr, online);
		return;
	}
	say(r, DOCTOR_LIMITED, NULL,
	    "%u online (%.64s); no shared level 3 cache is shown, so migrations between caches "
	    "cannot be distinguished",
	    cpus.nr, online);
}

/* In the order of the report: what everything needs first. */
static const struct {
	const char *name;
	check_fn *run;
} checks[] = {
	{ "kernel", check_kernel },
	{ "btf", check_btf },
	{ "capabilities", check_capabilities },
	{ "bpf", check_bpf },
	{ "functions", check_functions },
	{ "lockdown", check_lockdown },
	{ "tracepoints", check_tracepoints },
	{ "tracefs", check_tracefs },
	{ "pmu", check_pmu },
	{ "perf_event_paranoid", check_paranoid },
	{ "schedstats", check_schedstats },
	{ "sched_ext", check_sched_ext },
	{ "cgroups", check_cgroups },
	{ "quota", check_quota },
	{ "steal", check_steal },
	{ "kallsyms", check_kallsyms },
	{ "seccomp", check_seccomp },
	{ "container", check_container },
	{ "cpus", check_cpus },
};

#define NR_CHECKS (sizeof(checks) / sizeof(checks[0]))
_Static_assert(NR_CHECKS <= DOCTOR_MAX_ROWS, "the report holds every check");

void doctor_run(const struct doctor_cfg *cfg, struct doctor_report *out)
{
	struct features_cfg features_cfg = { .root = cfg->root, .caps = cfg->caps };
	struct exam e = { .cfg = cfg };

	features_probe(&features_cfg, &e.features);
	*out = (struct doctor_report){ 0 };
	snprintf(out->release, sizeof(out->release), "%s", e.features.release);
	for (size_t i = 0; i < NR_CHECKS; i++) {
		struct doctor_row *r = &out->rows[out->nr++];

		r->check = checks[i].name;
		checks[i].run(&e, r);
	}
}

const char *doctor_state_name(enum doctor_state state)
{
	static const char *const names[] = { "ok", "limited", "missing" };

	return names[state];
}
