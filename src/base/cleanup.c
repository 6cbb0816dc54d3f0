#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void scoped_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

void scoped_free(void *ptr_to_ptr)
{
	void *p;

	memcpy(&p, ptr_to_ptr, sizeof(p)); /* the variable may point to any type */
	free(p);
}

void scoped_fclose(FILE *const *file)
{
	if (*file)
		fclose(*file);
}
