#include "base/opt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/opt_table.h"

/* The state of parsing. */
struct arg_cursor {
	const struct opt_command *cmd;
	char **argv;
	int argc;
	int next;
	void *cfg;
	struct opt_result *out;
	struct diag *d;
};

const struct opt opt_help_option = {
	.type = OPT_TYPE_FLAG,
	.short_name = 'h',
	.long_name = "help",
	.help = "show this help",
	.heading = "Help",
};

static const struct opt *skip_hidden(const struct opt *o)
{
	while (o->type != OPT_TYPE_END && o->is_hidden)
		o++;
	return o->type == OPT_TYPE_END ? &opt_help_option : o;
}

const struct opt *opt_first(const struct opt *table)
{
	return table ? skip_hidden(table) : &opt_help_option;
}

const struct opt *opt_next(const struct opt *o)
{
	return o == &opt_help_option ? NULL : skip_hidden(o + 1);
}

static const struct opt_command *const *skip_hidden_commands(const struct opt_command *const *c)
{
	while (*c && (*c)->is_hidden)
		c++;
	return c;
}

const struct opt_command *const *opt_first_command(const struct opt_program *prog)
{
	return skip_hidden_commands(prog->commands);
}

const struct opt_command *const *opt_next_command(const struct opt_command *const *c)
{
	return skip_hidden_commands(c + 1);
}

void opt_list_done(struct opt_list *l)
{
	free(l->items);
	*l = (struct opt_list){ 0 };
}

void opt_result_done(struct opt_result *r)
{
	opt_list_done(&r->operands);
}

int opt_list_add(struct opt_list *l, const char *word, struct diag *d)
{
	if (GROW(l->items, l->room, l->nr))
		return diag_set(d, -ENOMEM, NULL, "cannot keep the arguments");
	l->items[l->nr++] = word;
	return 0;
}

static bool is_name(const char *name, const char *word, size_t len)
{
	return name && strlen(name) == len && memcmp(name, word, len) == 0;
}

static const struct opt *find_long(const struct opt *table, const char *word, size_t len)
{
	const struct opt *o;

	for (o = table; o && o->type != OPT_TYPE_END; o++)
		if (is_name(o->long_name, word, len) || is_name(o->alias, word, len))
			return o;
	return is_name(opt_help_option.long_name, word, len) ? &opt_help_option : NULL;
}

static const struct opt *find_short(const struct opt *table, char name)
{
	const struct opt *o;

	for (o = table; o && o->type != OPT_TYPE_END; o++)
		if (o->short_name == name || (o->old_name && o->old_name == name))
			return o;
	return name == opt_help_option.short_name ? &opt_help_option : NULL;
}

static int unknown_option(const struct arg_cursor *c, const char *shown, const char *word)
{
	struct opt_search search = { .word = word };
	const struct opt *o;
	char hint[OPT_SHOWN + 32] = "", buf[OPT_SHOWN];

	for (o = opt_first(c->cmd->options); o; o = opt_next(o))
		opt_search_offer(&search, o->long_name);
	if (search.best)
		snprintf(hint, sizeof(hint), "did you mean '--%s'?", search.best);
	return diag_set(c->d, -EINVAL, hint, "unknown option '%s'", opt_shown(buf, shown));
}

/* Takes the value from the remainder of the word, if there is one, else from the next word. */
static int take_option(struct arg_cursor *c, const struct opt *o, const char *name,
                       const char *value)
{
	int err;

	if (o == &opt_help_option) {
		c->out->wants_help = true;
		return 0;
	}
	if (!value)
		value = o->bare;
	if (o->type != OPT_TYPE_FLAG && !value) {
		if (c->next >= c->argc)
			return diag_set(c->d, -EINVAL, NULL, "option '%s' needs a value: %s %s",
			                name, name, o->arg);
		value = c->argv[c->next++];
	}
	err = opt_store(o, name, value, c->cfg, c->d);
	while (!err && o->takes_words && c->next < c->argc && c->argv[c->next][0] != '-')
		err = opt_store(o, name, c->argv[c->next++], c->cfg, c->d);
	return err;
}

static int parse_long(struct arg_cursor *c, const char *word)
{
	const char *value = strchr(word, '=');
	size_t len = value ? (size_t)(value - word) : strlen(word);
	const struct opt *o = find_long(c->cmd->options, word + 2, len - 2);
	char name[OPT_SHOWN], bare[OPT_SHOWN];

	snprintf(name, sizeof(name), "%.*s", (int)(len < OPT_SHOWN ? len : OPT_SHOWN), word);
	if (!o) {
		snprintf(bare, sizeof(bare), "%s", name + 2);
		return unknown_option(c, name, bare);
	}
	if (value && o->type == OPT_TYPE_FLAG)
		return diag_set(c->d, -EINVAL, NULL, "option '%s' takes no value", name);
	return take_option(c, o, name, value ? value + 1 : NULL);
}

static int parse_short(struct arg_cursor *c, const char *word)
{
	const char *p;

	for (p = word + 1; *p && !c->out->wants_help; p++) {
		const struct opt *o = find_short(c->cmd->options, *p);
		const char name[] = { '-', *p, '\0' };
		bool has_rest = p[1] != '\0';
		int err;

		/* A long name after one dash is a common mistake; the whole word shows it. */
		if (!o)
			return unknown_option(c, has_rest || p > word + 1 ? word : name, word + 1);
		if (o->old_name == *p && !c->out->old)
			c->out->old = o;
		if (o->type != OPT_TYPE_FLAG)
			return take_option(c, o, name, has_rest ? p + 1 : NULL);
		err = take_option(c, o, name, NULL);
		if (err)
			return err;
	}
	return 0;
}

static int take_operand(struct arg_cursor *c, const char *word)
{
	char buf[OPT_SHOWN];

	if (!c->cmd->operands)
		return diag_set(c->d, -EINVAL, NULL, "unexpected argument '%s'",
		                opt_shown(buf, word));
	return opt_list_add(&c->out->operands, word, c->d);
}

static int parse_words(struct arg_cursor *c)
{
	bool only_operands = false;
	int err = 0;

	while (!err && c->next < c->argc && !c->out->wants_help) {
		const char *word = c->argv[c->next++];

		if (only_operands || word[0] != '-' || !word[1]) {
			err = take_operand(c, word);
			only_operands |= c->cmd->stops_at_operand;
		} else if (strcmp(word, "--") == 0) {
			only_operands = true;
		} else if (word[1] == '-') {
			err = parse_long(c, word);
		} else {
			err = parse_short(c, word);
		}
	}
	return err;
}

int opt_parse(const struct opt_command *cmd, int argc, char **argv, void *cfg,
              struct opt_result *out, struct diag *d)
{
	struct opt_result result = { 0 };
	struct arg_cursor c = {
		.cmd = cmd,
		.argv = argv,
		.argc = argc,
		.next = 1,
		.cfg = cfg,
		.out = &result,
		.d = d,
	};
	int err = parse_words(&c);

	if (err) {
		opt_result_done(&result);
		return err;
	}
	*out = result;
	return 0;
}

static void unknown_command(const struct opt_program *prog, const char *word, struct diag *d)
{
	struct opt_search search = { .word = word };
	const struct opt_command *const *cmd;
	char hint[160] = "", buf[OPT_SHOWN];
	size_t len = 0;

	for (cmd = opt_first_command(prog); *cmd; cmd = opt_next_command(cmd))
		opt_search_offer(&search, (*cmd)->name);
	if (search.best)
		snprintf(hint, sizeof(hint), "did you mean '%s'?", search.best);
	for (cmd = opt_first_command(prog); !search.best && *cmd && len < sizeof(hint);
	     cmd = opt_next_command(cmd))
		len += (size_t)snprintf(hint + len, sizeof(hint) - len, "%s%s",
		                        len ? ", " : "there are ", (*cmd)->name);
	diag_set(d, -EINVAL, hint, "unknown command '%s'", opt_shown(buf, word));
}

const struct opt_command *opt_find_command(const struct opt_program *prog, const char *name,
                                           struct diag *d)
{
	const struct opt_command *const *cmd;

	for (cmd = prog->commands; *cmd; cmd++)
		if (strcmp((*cmd)->name, name) == 0 ||
		    ((*cmd)->alias && strcmp((*cmd)->alias, name) == 0))
			return *cmd;
	unknown_command(prog, name, d);
	return NULL;
}
