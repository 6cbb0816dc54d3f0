#include "sys/proc/irq_names.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

int irq_name_read(const char *root, uint32_t irq, char *buf, size_t size)
{
	SCOPED(scoped_fclose) FILE *file = NULL;
	char path[256], line[256];

	(void)snprintf(path, sizeof(path), "%s/sys/kernel/irq/%" PRIu32 "/actions", root, irq);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	if (!fgets(line, sizeof(line), file))
		return -ENOENT;
	line[strcspn(line, "\n")] = '\0';
	if (!line[0])
		return -ENOENT; /* nothing handles it */
	(void)snprintf(buf, size, "%s", line);
	return 0;
}

static void scoped_closedir(DIR *const *dir)
{
	if (*dir)
		(void)closedir(*dir);
}

int irq_name_find(const char *root, const char *name, uint32_t *out)
{
	SCOPED(scoped_closedir) DIR *dir = NULL;
	char path[256], found[256];
	const struct dirent *entry;

	(void)snprintf(path, sizeof(path), "%s/sys/kernel/irq", root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		uint32_t irq;
		char end;

		if (sscanf(entry->d_name, "%" SCNu32 "%c", &irq, &end) != 1 ||
		    irq_name_read(root, irq, found, sizeof(found)) || strcmp(found, name) != 0)
			continue;
		*out = irq;
		return 0;
	}
	return -ENOENT;
}
