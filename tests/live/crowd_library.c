/* One of many libraries: tests/live/crowd_target.c calls back through each of them. */
void through(void (*call)(void));

volatile unsigned long crowd_work;

__attribute__((noinline)) void through(void (*call)(void))
{
	call();
	crowd_work++; /* keeps the call from becoming a jump */
}
