#include "tui/task_filter.h"

#include <stdio.h>
#include <string.h>

#include "base/cgroup_pattern.h"
#include "base/text.h"

static const struct {
	char letter;
	const char *name;
} states[] = {
	{ 'R', "running" }, { 'S', "sleeping" }, { 'D', "blocked" },
	{ 'T', "stopped" }, { 'Z', "zombie" },   { 'I', "idle" },
};

/* Of ASCII: names are bytes, and a locale would make this slow for tens of thousands of them. */
static char lower_of(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

void task_filter_parse(struct task_filter *f, const char *text)
{
	char *rest = NULL;

	f->nr = 0;
	f->name = f->cgroup = NULL;
	snprintf(f->text, sizeof(f->text), "%s", text);
	for (char *word = strtok_r(f->text, " ", &rest); word && f->nr < TASK_FILTER_WORDS;
	     word = strtok_r(NULL, " ", &rest)) {
		f->lower_words[f->nr] = f->lower + (word - f->text);
		f->words[f->nr++] = word;
	}
	for (size_t i = 0; i < sizeof(f->text); i++)
		f->lower[i] = lower_of(f->text[i]);
}

static bool contains(const char *text, const char *lower)
{
	for (; text && *text; text++) {
		size_t i = 0;

		while (lower[i] && lower_of(text[i]) == lower[i])
			i++;
		if (!lower[i])
			return true;
	}
	return false;
}

static bool starts_with(const char *text, const char *start)
{
	while (*start && *text == *start) {
		text++;
		start++;
	}
	return !*start;
}

static bool starts_number(uint32_t number, const char *word)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", number);
	return starts_with(digits, word);
}

static bool is_number(int32_t number, const char *word)
{
	uint64_t wanted;

	return number >= 0 && text_to_u64(word, &wanted) && wanted == (uint64_t)number;
}

static bool is_state(char state, const char *word)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (states[i].letter == state)
			return strcmp(states[i].name, word) == 0;
	return false;
}

static bool word_matches(const char *word, const char *lower, const struct machine_task *t)
{
	if (word[1] == '\0' && strchr("RSDTZI", word[0]))
		return t->state == word[0];
	if (strncmp(word, "cpu:", 4) == 0)
		return !word[4] || is_number(t->last_cpu, word + 4);
	if (strncmp(word, "class:", 6) == 0)
		return t->class_name && starts_with(t->class_name, word + 6);
	if (strncmp(word, "cgroup:", 7) == 0)
		return !word[7] || (t->cgroup && t->cgroup[0] == '/' &&
		                    cgroup_pattern_means(word + 7, t->cgroup));
	if (word[0] >= '0' && word[0] <= '9' &&
	    (starts_number(t->tid, word) || starts_number(t->tgid, word)))
		return true;
	return contains(t->comm, lower) || contains(t->cgroup, lower) || is_state(t->state, lower);
}

/* What has none is called so in tables of groups. */
static bool is_text(const char *wanted, const char *text)
{
	return !wanted || strcmp(wanted, text ? text : "?") == 0;
}

bool task_filter_match(const struct task_filter *f, const struct machine_task *t)
{
	if (f->tgid && t->tgid != f->tgid)
		return false;
	if (!is_text(f->name, t->comm) || !is_text(f->cgroup, t->cgroup))
		return false;
	for (int i = 0; i < f->nr; i++)
		if (!word_matches(f->words[i], f->lower_words[i], t))
			return false;
	return true;
}
