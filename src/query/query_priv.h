/* query/query_priv — what the files of a query share. */
#pragma once

#include "model/event_log.h"
#include "query/query.h"

MUST_USE int query_find(const struct source *s, const struct query *q, struct event_log_iter *it,
                        struct diag *d);
/* The next event that matches; NULL at the end. */
const struct ev_hdr *query_next(const struct source *s, const struct query *q,
                                struct event_log_iter *it);
/* Says that events are missing from every answer, if they are. */
void query_show_losses(const struct source *s, struct report *r);
MUST_USE int query_aggregate(const struct source *s, const struct query *q, struct report *r,
                             struct diag *d);
