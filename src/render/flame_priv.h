/* render/flame_priv — what the SVG and the page around it share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/profile_tree.h"
#include "render/flame.h"

#define FLAME_WIDTH  1200U /* pixels, until a script knows better */
#define FLAME_MARGIN 10U
#define FLAME_ROW    18U
#define FLAME_TOP    94U /* of the graph: title, words, search and legend lie above */
#define FLAME_BOTTOM 44U /* for notes below it */
#define FLAME_STEPS  8   /* of red, and of blue */

/* A frame that is wide enough to be seen. */
struct flame_box {
	uint32_t node;
	uint64_t x; /* in the profile's unit */
};

struct flame {
	const struct profile *p;
	const struct flame_cfg *cfg;
	struct profile_tree *tree;
	struct flame_box *boxes; /* callers before callees */
	uint32_t nr;
	uint32_t depth;    /* of the deepest box */
	uint32_t nr_thin;  /* frames left out */
	uint32_t nr_gone;  /* calls that only the older profile has */
	double gone_share; /* of the older profile, in them */
	double most;       /* the largest change of a box, as a share */
};

MUST_USE int flame_init(struct flame *f, const struct profile *p, const struct flame_cfg *cfg);
void scoped_flame(struct flame *f);

/* Of the newer whole minus of the older. */
double flame_change(const struct flame *f, const struct profile_weight w[PROFILE_SIDES],
                    bool is_self);
/* -FLAME_STEPS (blue) to FLAME_STEPS (red). */
int flame_step(const struct flame *f, double change);
/* "nginx (1234)", "cc1 (12 processes)", or the function. */
#define FLAME_LABEL_BYTES 4096
char *flame_label(const struct profile_node *n, char buf[static FLAME_LABEL_BYTES]);
/* "file.c:12", or "" */
char *flame_place(const struct profile_frame *frame, char buf[static FLAME_LABEL_BYTES]);

/* Text and values of attributes, in XML and HTML: untrusted. */
void flame_put_text(const char *text, FILE *out);
/* The svg element, with its style and script; page-wide ones are the caller's. */
void flame_put_svg(const struct flame *f, bool is_alone, FILE *out);
extern const char *const flame_kind_names[];
