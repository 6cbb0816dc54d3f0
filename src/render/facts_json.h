/*
 * render/facts_json — analyze/facts as JSON, name by name. Fractions have up to three decimals.
 */
#pragma once

struct facts;
struct json_writer;

/* One value, under key (NULL at the top or in an array). */
void facts_json_put(struct json_writer *w, const char *key, const struct facts *f);
