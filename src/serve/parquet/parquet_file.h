/*
 * serve/parquet/parquet_file — a file that is complete or absent, in folders named as Hive names partitions.
 *
 * The file is written under another name in its folder, which begins with a dot, so that engines that read the folder do not
 * see it. It reaches the disk (parquet_file_sync) and then takes its name (parquet_file_keep) in one step; files that belong together
 * are all synced before the first is kept. One that is not kept leaves nothing behind.
 *
 * A file of that name is never replaced, unless the caller says so, and then only if this program wrote it. Folders below the first are made
 * where they are missing; a link among them is refused. Blocks on the file system.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/cleanup.h"
#include "base/diag.h"

struct parquet_file;

/* "key=value", what is not a letter, digit, '.', '_' or '-' as %XX; NULL and "" as Hive's null. -ENAMETOOLONG. */
MUST_USE int parquet_partition(char *buf, size_t size, const char *key, const char *value);

/* DIR and nr folders below it, each in the one before: a descriptor, or a negative errno. */
MUST_USE int parquet_folder_open(const char *dir, const char *const *below, size_t nr,
                                 struct diag *d);

/* The folder's descriptor is lent. -EEXIST for a file that may not be replaced. */
MUST_USE int parquet_file_open(int dir_fd, const char *name, bool is_replacing, struct diag *d,
                               struct parquet_file **out);
int parquet_file_fd(const struct parquet_file *f);
MUST_USE int parquet_file_sync(struct parquet_file *f, struct diag *d);
MUST_USE int parquet_file_keep(struct parquet_file *f, struct diag *d);
/* A file that was kept and replaced none goes again: one that belongs to it could not be kept. */
void parquet_file_take_back(struct parquet_file *f);
void parquet_file_close(struct parquet_file *f); /* NULL is fine */
DEFINE_SCOPED(parquet_file, parquet_file_close)
