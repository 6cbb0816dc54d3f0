/*
 * base/cleanup — scoped ownership: SCOPED(fn) calls fn(&variable) when the variable leaves scope.
 *
 * TAKE_PTR and TAKE_FD hand the value on and leave nothing behind to clean up. The functions named
 * scoped_* take a pointer to the variable, accept an empty one, and are never called by hand.
 */
#pragma once

#define SCOPED(fn) __attribute__((cleanup(fn)))

/* scoped_NAME() for pointers to a struct NAME, closed by a function that takes NULL, too. */
#define DEFINE_SCOPED(name, close)                                    \
	static inline void scoped_##name(struct name *const *pointer) \
	{                                                             \
		close(*pointer);                                      \
	}

#define TAKE_PTR(p)                         \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})

#define TAKE_FD(fd)                \
	({                         \
		int taken_ = (fd); \
		(fd) = -1;         \
		taken_;            \
	})

#include <stdio.h>

void scoped_close(const int *fd);   /* closes fd >= 0 */
void scoped_free(void *ptr_to_ptr); /* free(*ptr) */
void scoped_fclose(FILE *const *file);
