#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void die(const char *what)
{
	fprintf(stderr, "workload: %s: %s\n", what, strerror(errno));
	exit(1);
}

static const char *find(const struct work *w, const char *key)
{
	size_t length = strlen(key);

	for (int i = 0; i < w->argc; i++) {
		if (strncmp(w->argv[i], key, length) == 0 && w->argv[i][length] == '=')
			return w->argv[i] + length + 1;
	}
	return NULL;
}

long work_number(const struct work *w, const char *key, long fallback)
{
	const char *text = find(w, key);
	char *end;
	long value;

	if (!text)
		return fallback;
	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end) {
		errno = EINVAL;
		die(key);
	}
	return value;
}

const char *work_text(const struct work *w, const char *key)
{
	const char *text = find(w, key);

	if (!text) {
		errno = EINVAL;
		die(key);
	}
	return text;
}

const char *work_name(const struct work *w, const char *fallback)
{
	const char *text = find(w, "name");

	return text ? text : fallback;
}

struct truth *work_truth(struct work *w)
{
	if (w->nr_truths == MAX_TRUTHS) {
		errno = E2BIG;
		die("tasks");
	}
	return &w->truths[w->nr_truths++];
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		die("clock_gettime");
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t now_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

/* The kernel's counters of the calling thread. */
static void read_counters(struct truth *t)
{
	unsigned long long ran = 0, waited = 0, slices = 0;
	struct rusage usage;
	FILE *f = fopen("/proc/thread-self/schedstat", "re");

	if (!f || fscanf(f, "%llu %llu %llu", &ran, &waited, &slices) != 3)
		die("/proc/thread-self/schedstat");
	fclose(f);
	if (getrusage(RUSAGE_THREAD, &usage))
		die("getrusage");
	t->run_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	t->wait_ns = waited;
	t->slices = slices;
	t->voluntary = usage.ru_nvcsw;
	t->involuntary = usage.ru_nivcsw;
}

void truth_begin(struct truth *t, const char *comm)
{
	if (prctl(PR_SET_NAME, comm))
		die("prctl");
	memset(t, 0, sizeof(*t));
	snprintf(t->comm, sizeof(t->comm), "%s", comm);
	t->tid = gettid();
	read_counters(t);
	t->before_ns = t->run_ns;
	t->before_slices = t->slices;
	t->before_voluntary = t->voluntary;
}

void truth_sample(struct truth *t, uint64_t ns)
{
	if (!t->count || ns < t->min_ns)
		t->min_ns = ns;
	if (ns > t->max_ns)
		t->max_ns = ns;
	t->sum_ns += ns;
	t->count++;
}

void truth_end(struct truth *t)
{
	struct truth end;

	read_counters(&end);
	t->run_ns = end.run_ns - t->run_ns;
	t->wait_ns = end.wait_ns - t->wait_ns;
	t->slices = end.slices - t->slices;
	t->voluntary = end.voluntary - t->voluntary;
	t->involuntary = end.involuntary - t->involuntary;
}

void truth_end_all(struct truth *t)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		die("getrusage");
	t->voluntary = usage.ru_nvcsw;
	t->involuntary = usage.ru_nivcsw;
}

void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

void nap_us(long us)
{
	struct timespec ts = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	while (nanosleep(&ts, &ts)) {
		if (errno != EINTR)
			die("nanosleep");
	}
}

void spin_us(long us)
{
	uint64_t end = now_ns() + (uint64_t)us * 1000;

	while (now_ns() < end)
		;
}

void naps(struct truth *t, long nr, long us)
{
	for (long i = 0; i < nr; i++) {
		uint64_t start = now_ns();

		nap_us(us);
		truth_sample(t, now_ns() - start);
	}
}

pid_t fork_or_die(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	return pid;
}

void reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		errno = ECHILD;
		die("a child failed");
	}
}

void run_threads(thread_main body, void *first, size_t stride, int nr)
{
	pthread_t threads[MAX_TRUTHS];

	for (int i = 0; i < nr; i++) {
		errno = pthread_create(&threads[i], NULL, body, (char *)first + (size_t)i * stride);
		if (errno)
			die("pthread_create");
	}
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
}

static void read_file(const char *path)
{
	static char buffer[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && read(fd, buffer, sizeof(buffer)) > 0)
		;
	if (fd >= 0)
		close(fd);
}

/*
 * Code that is read from a slow disk when it is first run puts the task to sleep, once more than it knows of: all files
 * that are mapped are in memory before the work begins. They are not locked, which would be faults that perf leaves out.
 */
static void read_own_code(void)
{
	char line[512], *path;
	FILE *f = fopen("/proc/self/maps", "re");

	if (!f)
		die("/proc/self/maps");
	while (fgets(line, sizeof(line), f)) {
		path = strchr(line, '/');
		line[strcspn(line, "\n")] = 0;
		if (path && strstr(line, " r-xp "))
			read_file(path);
	}
	fclose(f);
}

static void print(const struct work *w, const char *name, uint64_t start_ns)
{
	printf("{\"work\":\"%s\",\"pid\":%d,\"start_ns\":%llu,\"end_ns\":%llu,\"tasks\":[", name,
	       getpid(), (unsigned long long)start_ns, (unsigned long long)now_ns());
	for (int i = 0; i < w->nr_truths; i++) {
		const struct truth *t = &w->truths[i];

		printf("%s{\"comm\":\"%s\",\"tid\":%d,\"voluntary\":%ld,\"involuntary\":%ld,",
		       i ? "," : "", t->comm, t->tid, t->voluntary, t->involuntary);
		printf("\"before_slices\":%llu,\"before_voluntary\":%ld,",
		       (unsigned long long)t->before_slices, t->before_voluntary);
		printf("\"before_ns\":%llu,\"run_ns\":%llu,\"wait_ns\":%llu,\"slices\":%llu,",
		       (unsigned long long)t->before_ns, (unsigned long long)t->run_ns,
		       (unsigned long long)t->wait_ns, (unsigned long long)t->slices);
		printf("\"count\":%llu,\"min_ns\":%llu,\"max_ns\":%llu,\"sum_ns\":%llu}",
		       (unsigned long long)t->count, (unsigned long long)t->min_ns,
		       (unsigned long long)t->max_ns, (unsigned long long)t->sum_ns);
	}
	printf("]}\n");
}

static const struct kind {
	const char *name;
	const char *help;
	void (*run)(struct work *w);
} kinds[] = {
	{ "pingpong", "rounds=N cpu=N ms=N: two processes on one CPU pass a byte through pipes",
	  work_pingpong },
	{ "futex", "rounds=N: two threads on two CPUs pass a turn through a futex", work_futex },
	{ "convoy",
	  "nr=N rounds=N us=N cpu=N: threads that queue for a lock which one of them holds for long, asleep or on a busy CPU",
	  work_convoy },
	{ "inversion",
	  "ms=N: an urgent thread that needs a lock, whose holder is kept off CPUs 0 and 1 by others",
	  work_inversion },
	{ "hogs", "nr=N ms=N cpu=N: threads that compete for one CPU", work_hogs },
	{ "yield", "rounds=N cpu=N: two threads that yield one CPU to each other", work_yield },
	{ "spin", "ms=N cpu=N fifo=0|1: one thread that does not leave its CPU", work_spin },
	{ "keep", "ms=N: an idle-class thread per CPU, so that no CPU is ever idle", work_keep },
	{ "migrate", "rounds=N: one thread that moves between CPU 0 and 1", work_migrate },
	{ "depth", "nr=N rounds=N cpu=N: a sleeper that wakes on a CPU of N hogs", work_depth },
	{ "sleep", "rounds=N us=N nr=N: threads that sleep", work_sleep },
	{ "dsleep", "rounds=N us=N: a parent that waits in vfork, uninterruptible", work_dsleep },
	{ "rename", "before=N after=N us=N: a thread that sleeps under two names", work_rename },
	{ "exec", "before=N after=N us=N link=PATH: a process that becomes another program",
	  work_exec },
	{ "thread-exec",
	  "rounds=N naps=N us=N link=PATH: processes whose second thread becomes another program",
	  work_thread_exec },
	{ "names", "rounds=N us=N: a thread that changes its name all the time", work_names },
	{ "renamed", "rounds=N us=N: a sleeping thread that another one renames all the time",
	  work_renamed },
	{ "leader", "naps=N us=N nr=N: a process with threads, whose leader changes its name",
	  work_leader },
	{ "storm", "nr=N us=N name=NAME: short processes", work_storm },
	{ "reuse", "before=N after=N us=N gap_us=N: two processes in turn with one pid",
	  work_reuse },
	{ "cgroup", "a=DIR b=DIR before=N after=N us=N: a process that moves between cgroups",
	  work_cgroup },
	{ "touch",
	  "pages=N us=N cpu=N: one task that touches new pages, with a nap after each hundred",
	  work_touch },
	{ "crowd",
	  "nr=N us=N ms=N name=NAME: very many sleeping threads; says 'ready' when all are alive",
	  work_crowd },
};

int main(int argc, char **argv)
{
	struct work w = { .argc = argc - 2, .argv = argv + 2 };
	uint64_t start_ns = now_ns();

	w.truths = mmap(NULL, MAX_TRUTHS * sizeof(*w.truths), PROT_READ | PROT_WRITE,
	                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w.truths == MAP_FAILED)
		die("mmap");
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(argv[1], kinds[i].name) != 0)
			continue;
		read_own_code();
		kinds[i].run(&w);
		print(&w, kinds[i].name, start_ns);
		return 0;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		fprintf(stderr, "workload %s %s\n", kinds[i].name, kinds[i].help);
	return 2;
}
