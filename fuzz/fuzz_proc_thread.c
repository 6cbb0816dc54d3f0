/* fuzz/fuzz_proc_thread — any text as each of the files about a thread. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "sys/proc/proc_thread.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct proc_thread_switches switches;
	struct proc_thread_sched sched;
	struct proc_thread_stat st;
	struct proc_load load;
	const char *path;
	size_t len = 0;

	fuzz_check(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (proc_thread_stat_parse(text, &st)) {
		fuzz_check(strnlen(st.comm, sizeof(st.comm)) < sizeof(st.comm));
		fuzz_check(st.state != '\0');
	}
	(void)!proc_thread_sched_parse(text, &sched);
	(void)!proc_thread_switches_parse(text, &switches);
	(void)!proc_load_parse(text, &load);
	path = proc_thread_cgroup_parse(text, &len);
	if (path) {
		fuzz_check(path >= text && path + len <= text + strlen(text));
		fuzz_check(len >= 1 && path[0] == '/' && !memchr(path, '\n', len));
	}
	free(text);
	return 0;
}
