#include "sys/proc/proc_thread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PF_KTHREAD   0x00200000U /* include/linux/sched.h, unchanged since 2.6.27 */
#define MAX_RT_PRIO  100
#define FIELDS       39 /* those behind the state */
#define SWITCHES     "\nvoluntary_ctxt_switches:"
#define SWITCHES_NON "\nnonvoluntary_ctxt_switches:"

/* Places in the numbers behind the state; proc(5) counts from pid = 1, so field n is n - 4 here. */
enum {
	FIELD_PPID = 4 - 4,
	FIELD_FLAGS = 9 - 4,
	FIELD_UTIME = 14 - 4,
	FIELD_STIME = 15 - 4,
	FIELD_PRIORITY = 18 - 4,
	FIELD_STARTTIME = 22 - 4,
	FIELD_RSS = 24 - 4,
	FIELD_PROCESSOR = 39 - 4,
	FIELD_POLICY = 41 - 4,
};

/* Signed ones wrap, and callers that need them convert them back. Returns how many there were. */
static size_t parse_numbers(const char *text, uint64_t *out, size_t cap)
{
	size_t nr = 0;

	while (nr < cap) {
		char *end;
		bool is_negative;

		text += strspn(text, " ");
		is_negative = *text == '-';
		text += is_negative;
		if (*text < '0' || *text > '9')
			break;
		out[nr] = strtoull(text, &end, 10);
		if (is_negative)
			out[nr] = 0 - out[nr];
		nr++;
		text = end;
	}
	return nr;
}

bool proc_thread_stat_parse(const char *text, struct proc_thread_stat *out)
{
	const char *open = strchr(text, '('),
		   *close = strrchr(text, ')'); /* a name may hold both */
	uint64_t v[FIELDS];
	size_t len;

	if (!open || !close || close < open || close[1] != ' ' || close[2] == '\0')
		return false;
	if (parse_numbers(close + 3, v, FIELDS) <= FIELD_POLICY)
		return false;
	memset(out, 0, sizeof(*out));
	len = (size_t)(close - open - 1);
	memcpy(out->comm, open + 1, len < sizeof(out->comm) ? len : sizeof(out->comm) - 1);
	out->state = close[2];
	out->run_ticks = v[FIELD_UTIME] + v[FIELD_STIME];
	out->start_ticks = v[FIELD_STARTTIME];
	out->prio = (int32_t)((uint32_t)v[FIELD_PRIORITY] + MAX_RT_PRIO);
	out->policy = (int32_t)(uint32_t)v[FIELD_POLICY];
	out->cpu = (int32_t)(uint32_t)v[FIELD_PROCESSOR];
	out->parent = (uint32_t)v[FIELD_PPID];
	out->memory_pages = (int64_t)v[FIELD_RSS] > 0 ? v[FIELD_RSS] : 0;
	out->is_kthread = v[FIELD_FLAGS] & PF_KTHREAD;
	return true;
}

bool proc_thread_sched_parse(const char *text, struct proc_thread_sched *out)
{
	uint64_t v[3];

	if (parse_numbers(text, v, 3) != 3)
		return false;
	*out = (struct proc_thread_sched){ .run_ns = v[0], .wait_ns = v[1], .slices = v[2] };
	return true;
}

bool proc_thread_switches_parse(const char *text, struct proc_thread_switches *out)
{
	const char *voluntary = strstr(text, SWITCHES), *involuntary = strstr(text, SWITCHES_NON);
	char *end;

	if (!voluntary || !involuntary)
		return false;
	out->voluntary = strtoull(voluntary + strlen(SWITCHES), &end, 10);
	out->involuntary = strtoull(involuntary + strlen(SWITCHES_NON), &end, 10);
	return true;
}

/* Whether "cpu" is one of the words of a list that commas separate and a colon ends. */
static bool has_cpu(const char *list)
{
	while (strncmp(list, "cpu", 3) != 0 || (list[3] != ',' && list[3] != ':')) {
		list += strcspn(list, ",:\n");
		if (*list != ',')
			return false;
		list++;
	}
	return true;
}

/* Lines are ID:CONTROLLERS:PATH; that of v2 is 0::PATH. */
const char *proc_thread_cgroup_parse(const char *text, size_t *len)
{
	const char *found = NULL;
	bool is_v1 = false;

	while (*text && !is_v1) {
		size_t line = strcspn(text, "\n");
		const char *list = memchr(text, ':', line),
			   *path = list ? memchr(list + 1, ':', line - (size_t)(list + 1 - text))
		                        : NULL;

		is_v1 = path && path > list + 1 && has_cpu(list + 1);
		if (path && path[1] == '/' && (is_v1 || strncmp(text, "0::", 3) == 0)) {
			found = path + 1;
			*len = line - (size_t)(found - text);
		}
		text += line + (text[line] == '\n');
	}
	return found;
}

bool proc_load_parse(const char *text, struct proc_load *out)
{
	struct proc_load l;

	if (sscanf(text, "%lf %lf %lf %*u/%" SCNu64 " %" SCNu64, &l.load[0], &l.load[1], &l.load[2],
	           &l.nr_threads, &l.last_pid) != 5)
		return false;
	*out = l;
	return true;
}
