#include "analyses/bottlenecks/bottlenecks_share.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

struct bottlenecks_share {
	pthread_mutex_t lock;
	struct pass_args args; /* of which they are */
	struct report *found;  /* NULL = not yet */
};

struct bottlenecks_share *bottlenecks_share_new(void)
{
	struct bottlenecks_share *share = calloc(1, sizeof(*share));

	if (share)
		pthread_mutex_init(&share->lock, NULL);
	return share;
}

void bottlenecks_share_free(struct bottlenecks_share *share)
{
	if (!share)
		return;
	report_free(share->found);
	pthread_mutex_destroy(&share->lock);
	free(share);
}

/* Whether they ask for the same ones, but for how many are shown. */
static bool is_same(const struct pass_args *a, const struct pass_args *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->comm == b->comm &&
	       a->comm_match == b->comm_match && a->cgroup == b->cgroup && a->cpu == b->cpu &&
	       a->from_ns == b->from_ns && a->to_ns == b->to_ns;
}

static int find_first(struct bottlenecks_share *share, const struct source *s,
                      const struct pass_args *args, bottlenecks_find_fn find, struct diag *d)
{
	SCOPED(scoped_report) struct report *r = report_new(0);
	int err = r ? 0 : diag_set(d, -ENOMEM, NULL, "out of memory");

	if (err)
		return err;
	report_begin_object(r, NULL);
	err = find(s, args, r, d);
	report_end_object(r);
	if (!err && report_error(r))
		err = diag_set(d, report_error(r), NULL, "out of memory");
	if (err)
		return err;
	share->args = *args;
	share->found = TAKE_PTR(r);
	return 0;
}

static int find_once(struct bottlenecks_share *share, const struct source *s,
                     const struct pass_args *args, bottlenecks_find_fn find, struct diag *d)
{
	int err;

	pthread_mutex_lock(&share->lock);
	err = share->found ? 0 : find_first(share, s, args, find, d);
	pthread_mutex_unlock(&share->lock);
	return err;
}

static void copy_first(struct report *r, const struct report_node *list, uint32_t limit)
{
	const struct report_node *at = list->first;

	report_begin_array(r, "bottlenecks");
	for (uint32_t i = 0; at && i < limit; i++, at = at->next)
		report_copy(r, NULL, at);
	report_end_array(r);
}

int bottlenecks_share_run(const struct source *s, const struct pass_args *args, uint32_t most,
                          bottlenecks_find_fn find, struct report *r, struct diag *d)
{
	struct bottlenecks_share *share = s->bottlenecks;
	struct pass_args all = *args;
	int err;

	all.limit = most;
	err = find_once(share, s, &all, find, d);
	if (err)
		return err;
	if (!is_same(&share->args, args) || share->args.limit != most)
		return find(s, args, r, d);
	for (const struct report_node *at = report_root(share->found)->first; at; at = at->next)
		if (strcmp(at->key, "bottlenecks") == 0)
			copy_first(r, at, args->limit);
		else
			report_copy(r, at->key, at);
	return 0;
}
