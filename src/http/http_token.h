/*
 * http/http_token — the secret that clients over HTTP have to send as "Authorization: Bearer TOKEN".
 *
 * It comes from a file of the user's, or is made at random and put into a new file that only its user can read.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/diag.h"

/* "Bearer TOKEN". Takes as long for any wrong token. */
bool http_token_is_right(const char *authorization, const char *token);
/*
 * The first line of a file, at least 16 characters: a new text. A file that every user can read, or that others can write, is
 * refused with is_strict, else there is a warning. Opened by sys/rights/broker where our own rights do not suffice any more.
 */
MUST_USE int http_token_read(const char *path, bool is_strict, struct diag *d, char **out);
/* A new one, and the path of its file: two new texts. */
MUST_USE int http_token_make(struct diag *d, char **out, char **path);
/* Removes a file that http_token_make() has made, and its directory; NULL is fine. */
void http_token_remove(const char *path);
