#include "record/flight_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define MS_NS     1000000ULL
#define SECOND_NS (1000 * MS_NS)

/* As short as can be read: 6.2ms, 12ms, 1.5s. */
static char *value_text(char *buf, size_t size, const struct trigger_hit *hit)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = { { SECOND_NS, "s" }, { MS_NS, "ms" }, { 1000, "us" }, { 1, "ns" } };
	size_t i = 0;

	if (hit->kind == TRIGGER_QUEUE_DEPTH || hit->kind == TRIGGER_LOST) {
		(void)snprintf(buf, size, "%" PRIu64, hit->value);
		return buf;
	}
	while (i < 3 && hit->value < units[i].ns)
		i++;
	if (hit->value < 10 * units[i].ns && units[i].ns > 1)
		(void)snprintf(buf, size, "%" PRIu64 ".%" PRIu64 "%s", hit->value / units[i].ns,
		               hit->value / (units[i].ns / 10) % 10, units[i].name);
	else
		(void)snprintf(buf, size, "%" PRIu64 "%s", hit->value / units[i].ns, units[i].name);
	return buf;
}

static void copy_safe(char to[EV_COMM_LEN], const char comm[EV_COMM_LEN])
{
	static const char *const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "0123456789._+-";
	size_t i = 0;

	for (; i < EV_COMM_LEN - 1 && comm[i]; i++)
		to[i] = strchr(plain, comm[i]) ? comm[i] : '_';
	to[i] = '\0';
}

char *flight_name(char *buf, size_t size, const char *prefix, const struct tm *when,
                  const struct trigger_hit *hit)
{
	char date[32], value[32] = "", comm[EV_COMM_LEN], task[EV_COMM_LEN + 16] = "";

	if (!strftime(date, sizeof(date), "%Y%m%dT%H%M%S", when))
		date[0] = '\0';
	copy_safe(comm, hit->comm);
	if (hit->kind == TRIGGER_SCX_EJECT) {
		(void)snprintf(task, sizeof(task), "%s%s", comm[0] ? "-" : "", comm);
	} else if (hit->kind != TRIGGER_USER) {
		value[0] = '-';
		(void)value_text(value + 1, sizeof(value) - 1, hit);
	}
	if (hit->tid)
		(void)snprintf(task, sizeof(task), "%s%s-%u", comm[0] ? "-" : "", comm, hit->tid);
	(void)snprintf(buf, size, "%s-%s-%s%s%s", prefix, date, trigger_kind_names[hit->kind],
	               value, task);
	return buf;
}

char *flight_reason(char *buf, size_t size, const struct trigger_hit *hit)
{
	char value[32], comm[2 * EV_COMM_LEN];

	if (hit->kind == TRIGGER_USER) {
		(void)snprintf(buf, size, "on request");
		return buf;
	}
	text_printable(comm, sizeof(comm), hit->comm, EV_COMM_LEN);
	if (hit->kind == TRIGGER_SCX_EJECT)
		(void)snprintf(buf, size, "the scheduler %s was ejected", comm);
	else if (hit->kind == TRIGGER_LOST)
		(void)snprintf(buf, size, "%" PRIu64 " events were lost", hit->value);
	else
		(void)snprintf(buf, size, "%s %s of %s (%u)", trigger_kind_names[hit->kind],
		               value_text(value, sizeof(value), hit), comm[0] ? comm : "a task",
		               hit->tid);
	return buf;
}
