/*
 * tests/live/own_syscall — a system call of the function that makes it. Through libc, which many distributions build
 * without frame pointers on x86-64, that function would be missing from its stack: see docs/profiling.md.
 */
#pragma once

static inline __attribute__((always_inline)) long own_syscall(long number, long a, long b, long c)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c)
	                 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
#else
#error "which system call?"
#endif
}
