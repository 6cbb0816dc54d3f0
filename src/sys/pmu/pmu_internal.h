/* sys/pmu/pmu_internal — what the pmu*.c files share: the PMUs of sysfs and the tables of known names. */
#pragma once

#include "sys/pmu/pmu.h"

struct dirent;

struct pmu_dev {
	char name[PMU_NAME_MAX];
	uint32_t type;
	bool is_core; /* counts what a CPU executes, so its counts belong to the running task */
	struct cpulist cpus; /* empty = all */
};

struct pmu_sys {
	int fd; /* of the devices folder; -1 when the kernel has none */
	struct pmu_dev *devs;
	size_t nr;
	size_t nr_core;
};

MUST_USE int pmu_sys_open(const char *devices, struct diag *d, struct pmu_sys *out);
void pmu_sys_close(struct pmu_sys *s);
const struct pmu_dev *pmu_sys_find(const struct pmu_sys *s, const char *name); /* or NULL */

/* Text of events/NAME as a new string; -ENOENT when the PMU has no such event. */
MUST_USE int pmu_dev_event(const struct pmu_sys *s, const struct pmu_dev *dev, const char *name,
                           char **out);
/* Fills the config words of ev from "event=0x64,umask=0x9" or "NAME,umask=0x1". */
MUST_USE int pmu_dev_terms(const struct pmu_sys *s, const struct pmu_dev *dev, const char *terms,
                           struct diag *d, struct pmu_event *ev);
/* Entries of events/, sorted, without the .scale and .unit beside them: how many, or -errno. */
MUST_USE int pmu_dev_names(const struct pmu_sys *s, const struct pmu_dev *dev,
                           struct dirent ***out);
void pmu_names_free(struct dirent **names, int nr);

struct pmu_query {
	const char *cpuinfo;
	const char *name;
	bool allows_raw;
};

/* pmu_resolve() with the PMUs read beforehand, for many names in a row. */
MUST_USE int pmu_resolve_in(const struct pmu_sys *sys, const struct pmu_query *what, struct diag *d,
                            struct pmu_events *out);

/* An event that every kernel knows by number. */
struct pmu_generic {
	const char *name;
	const char *other; /* a second name, or NULL */
	const char *kind;
	const char *description;
	uint32_t type;
	uint64_t config;
};

extern const struct pmu_generic pmu_generics[]; /* ends with .name == NULL */
const struct pmu_generic *pmu_generic_find(const char *name);

/* A name for something that each vendor counts differently. */
struct pmu_alias {
	const char *name;
	const char *title;
	const char *description;
	uint64_t amd_config;     /* 0 = none */
	uint32_t amd_family;     /* the first one whose code this is */
	const char *sysfs;       /* the PMU's own event with that meaning, or NULL */
	uint64_t cache_config;   /* of the kernel's generic cache event that comes close */
	const char *cache_title; /* NULL = there is none */
};

extern const struct pmu_alias pmu_aliases[]; /* ends with .name == NULL */
const struct pmu_alias *pmu_alias_find(const char *name);

struct pmu_vendor {
	char name[64]; /* "AMD", "Intel", "Arm", as the CPU calls itself, or "unknown" */
	bool is_amd;
	uint64_t family; /* 0 = unknown */
};

void pmu_vendor_read(const char *cpuinfo, struct pmu_vendor *out);
