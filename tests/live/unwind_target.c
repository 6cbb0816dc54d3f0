/*
 * unwind_target MODE [NUMBER] — stacks that are known, in code without frame pointers: tests of unwinding hold theirs against it.
 *
 * Is called u-MODE from then on, says so on stdout, and uses a CPU until it is killed:
 *   recurse   main, then recurse() NUMBER times (20), then burn()
 *   alloca    main, then with_alloca(), whose frame has a size that only it knows, then burn()
 *   leaf      main, then caller(), then leaf(), which has no frame
 *   tail      main, then next(): before_next() jumped there
 *   plt       main, then through_plt(), which calls a small function of a library, again and again
 *   clock     main, then reading_clock(), which asks the kernel's page of code for the time, again and again
 *   signal    main, then interrupted(), where a signal came, whose handler calls burn()
 *   library   main, then sorting(), qsort() of libc, compare(), burn()
 *   rbx       main, then by_rbx(), which finds its frame by rbx alone as the dynamic linker does, keeps_rbx(), burn()
 *   hand      main, then calls_hand(), by_hand(): on arm64 by hand, without a table and without a frame
 *   framed    main, then calls_framed(), framed(): on arm64 by hand, without a table; its frame has a signed address, and it has called
 *             another
 *   signed    main, then signing(), whose return address arm64 signs, then burn()
 *   thread    a thread: thread_main(), burn()
 *   jit       main, then code that was made by hand: a loop without a table, whose frame pointer leads nowhere
 * Some use it for a moment only:
 *   brief     as recurse, for 20 ms, then it ends
 *   sip       as recurse, for 1 ms in each NUMBER ms (50), so that there can be many
 *   touch     main, then twice touching(), then touch(), which writes to a new page, every 2 ms
 *   pass      uses no CPU: main, then twice passing(), then take_turn(), which sleeps in read() of a pipe; a thread, from pass_thread()
 *             through giving() and give_turn(), wakes it by write(), every 2 ms
 */
#include <alloca.h>
#include <ctype.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#if defined(__clang__)
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif
#define DEPTH    20
#define PAUSE_US 2000

volatile unsigned long work;
volatile int zero;

void burn(void);
void burn_ms(long ms);
void recurse_ms(int depth, long ms);
void recurse(int depth);
void with_alloca(size_t bytes);
void leaf(void);
void caller(void);
void next(void);
void before_next(void);
void through_plt(void);
void reading_clock(void);
void on_signal(int nr);
void interrupted(void);
int compare(const void *a, const void *b);
void sorting(void);
void by_rbx(void);
void keeps_rbx(void);
void by_hand(void);
void calls_hand(void);
void framed(void);
void calls_framed(void);
void signing(void);
void *thread_main(void *arg);
void touch(void);
void touching(int depth);
int take_turn(int fd);
int passing(int fd, int depth);
int give_turn(int fd);
int giving(int fd);
void *pass_thread(void *arg);

APART void burn(void)
{
	while (!zero)
		work++;
}

APART void burn_ms(long ms)
{
	struct timespec t;
	long long until = 0, now = 0;

	while (!zero && now <= until) {
		for (int i = 0; i < 1000; i++)
			work++;
		(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = t.tv_sec * 1000000000LL + t.tv_nsec;
		until = until ? until : now + ms * 1000000LL;
	}
}

APART void recurse_ms(int depth, long ms)
{
	if (depth > 1)
		recurse_ms(depth - 1, ms);
	else
		burn_ms(ms);
	work++;
}

static void sip(useconds_t ms)
{
	while (!zero) {
		recurse_ms(DEPTH, 1);
		usleep(ms * 1000);
	}
}

/* What follows each call keeps it from becoming a jump. */
APART void recurse(int depth)
{
	if (depth > 1)
		recurse(depth - 1);
	else
		burn();
	work++;
}

APART void with_alloca(size_t bytes)
{
	volatile char *room = alloca(bytes);

	room[0] = 1;
	burn();
	work += (unsigned long)room[0];
}

APART void leaf(void)
{
	for (unsigned long i = 0; i < 1UL << 40 && !zero; i++)
		work += i;
}

APART void caller(void)
{
	leaf();
	work++;
}

APART void next(void)
{
	leaf();
	work++;
}

APART void before_next(void)
{
	work++;
	next();
}

APART void through_plt(void)
{
	while (!zero)
		work += (unsigned long)toupper((int)(work % 128));
}

APART void reading_clock(void)
{
	struct timespec now;

	while (!zero && clock_gettime(CLOCK_MONOTONIC, &now) == 0)
		work += (unsigned long)now.tv_nsec;
}

void on_signal(int nr)
{
	(void)nr;
	burn();
	work++;
}

APART void interrupted(void)
{
	alarm(1);
	while (!zero)
		work++;
}

APART int compare(const void *a, const void *b)
{
	burn();
	return *(const int *)a - *(const int *)b;
}

APART void sorting(void)
{
	int all[] = { 3, 1, 2 };

	qsort(all, sizeof(all) / sizeof(all[0]), sizeof(all[0]), compare);
	work += (unsigned long)all[0];
}

#if defined(__x86_64__)
/* clang-format off */
__asm__(".text\n"
	".globl by_rbx\n"
	".type by_rbx, @function\n"
	"by_rbx:\n"
	".cfi_startproc\n"
	"push %rbx\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 3, -16\n"
	"mov %rsp, %rbx\n"
	".cfi_def_cfa_register 3\n"
	"and $-64, %rsp\n"
	"sub $640, %rsp\n"
	"call keeps_rbx\n"
	"mov %rbx, %rsp\n"
	".cfi_def_cfa_register 7\n"
	"pop %rbx\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size by_rbx, . - by_rbx\n");
/* clang-format on */
#define CHANGE_RBX() __asm__ volatile("" ::: "rbx")
#else
APART void by_rbx(void)
{
	keeps_rbx();
	work++;
}
#define CHANGE_RBX() ((void)0)
#endif

APART void keeps_rbx(void)
{
	CHANGE_RBX();
	burn();
	work++;
}

#if defined(__aarch64__)
/* clang-format off */
__asm__(".text\n"
	".globl by_hand\n"
	".type by_hand, %function\n"
	"by_hand:\n"
	"b by_hand\n"
	".size by_hand, . - by_hand\n"
	".globl framed\n"
	".type framed, %function\n"
	"framed:\n"
	"hint #25\n" /* paciasp */
	"stp x29, x30, [sp, #-32]!\n"
	"mov x29, sp\n"
	"bl 2f\n"
	"1: b 1b\n"
	"2: ret\n"
	".size framed, . - framed\n"
	".globl calls_framed\n" /* keeps the chain of frame pointers, as packages do */
	".type calls_framed, %function\n"
	"calls_framed:\n"
	".cfi_startproc\n"
	"stp x29, x30, [sp, #-16]!\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 29, -16\n"
	".cfi_offset 30, -8\n"
	"mov x29, sp\n"
	"bl framed\n"
	"ldp x29, x30, [sp], #16\n"
	".cfi_restore 29\n"
	".cfi_restore 30\n"
	".cfi_def_cfa_offset 0\n"
	"ret\n"
	".cfi_endproc\n"
	".size calls_framed, . - calls_framed\n");
/* clang-format on */
#define SIGNED __attribute__((target("branch-protection=pac-ret")))
#else
APART void by_hand(void)
{
	while (!zero)
		work++;
}

APART void framed(void)
{
	while (!zero)
		work++;
}

APART void calls_framed(void)
{
	framed();
	work++;
}
#define SIGNED
#endif

APART void calls_hand(void)
{
	by_hand();
	work++;
}

APART SIGNED void signing(void)
{
	burn();
	work++;
}

APART void *thread_main(void *arg)
{
	burn();
	work++;
	return arg;
}

APART void touch(void)
{
	volatile char *page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	                           0);

	if (page == MAP_FAILED)
		return;
	page[0] = 1;
	(void)munmap((void *)page, 1);
	usleep(PAUSE_US);
}

APART void touching(int depth)
{
	if (depth > 1)
		touching(depth - 1);
	else
		touch();
	work++;
}

static void run_touch(void)
{
	while (!zero)
		touching(2);
}

static void run_jit(void)
{
#if defined(__x86_64__)
	static const unsigned char code[] = {
		0xbd, 1, 0, 0, 0, 0xeb, 0xfe
	}; /* mov $1, %ebp; jmp . */
#else
	static const unsigned int code[] = { 0xd280003d, 0x14000000 }; /* mov x29, #1; b . */
#endif
	char *page = mmap(NULL, sizeof(code), PROT_READ | PROT_WRITE | PROT_EXEC,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	memcpy(page, code, sizeof(code));
	__builtin___clear_cache(page, page + sizeof(code));
	((void (*)(void))page)();
}

APART int take_turn(int fd)
{
	char byte = 0;
	ssize_t got = read(fd, &byte, 1);

	work++;
	return got == 1;
}

/* Between two of them the same frame: a wrong rule does not find the second one. */
APART int passing(int fd, int depth)
{
	int is_right = depth > 1 ? passing(fd, depth - 1) : take_turn(fd);

	work++;
	return is_right;
}

APART int give_turn(int fd)
{
	ssize_t done = write(fd, "x", 1);

	work++;
	return done == 1;
}

APART int giving(int fd)
{
	int is_right = give_turn(fd);

	work++;
	return is_right;
}

APART void *pass_thread(void *arg)
{
	const struct timespec nap = { .tv_nsec = 2000000 };

	while (giving(((const int *)arg)[1]))
		(void)nanosleep(&nap, NULL);
	return arg;
}

static void run_pass(void)
{
	pthread_t thread;
	int ends[2];

	if (pipe(ends) || pthread_create(&thread, NULL, pass_thread, ends))
		return;
	while (passing(ends[0], 2))
		work++;
}

static void run_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_main, NULL) == 0)
		pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "", *prefix = getenv("UNWIND_NAME");
	char name[16];

	(void)snprintf(name, sizeof(name), "%s-%s", prefix ? prefix : "u", mode);
	(void)prctl(PR_SET_NAME, name);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGALRM, on_signal);
	puts(name);
	fflush(stdout);
	if (strcmp(mode, "recurse") == 0)
		recurse(argc > 2 ? atoi(argv[2]) : DEPTH);
	else if (strcmp(mode, "alloca") == 0)
		with_alloca((size_t)argc * 100);
	else if (strcmp(mode, "leaf") == 0)
		caller();
	else if (strcmp(mode, "tail") == 0)
		before_next();
	else if (strcmp(mode, "plt") == 0)
		through_plt();
	else if (strcmp(mode, "clock") == 0)
		reading_clock();
	else if (strcmp(mode, "rbx") == 0)
		by_rbx();
	else if (strcmp(mode, "hand") == 0)
		calls_hand();
	else if (strcmp(mode, "framed") == 0)
		calls_framed();
	else if (strcmp(mode, "signed") == 0)
		signing();
	else if (strcmp(mode, "signal") == 0)
		interrupted();
	else if (strcmp(mode, "library") == 0)
		sorting();
	else if (strcmp(mode, "thread") == 0)
		run_thread();
	else if (strcmp(mode, "brief") == 0)
		recurse_ms(DEPTH, 20);
	else if (strcmp(mode, "sip") == 0)
		sip(argc > 2 ? (useconds_t)atoi(argv[2]) : 50);
	else if (strcmp(mode, "jit") == 0)
		run_jit();
	else if (strcmp(mode, "touch") == 0)
		run_touch();
	else if (strcmp(mode, "pass") == 0)
		run_pass();
	else
		return 2;
	work++;
	return 0;
}
