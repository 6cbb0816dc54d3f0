/*
 * tui/view — a view: one entry of one table, drawing a machine into a grid.
 *
 * draw() is a pure function of the machine and the screen's state; it keeps nothing. It settles what of the screen
 * depends on the rows: selected, scroll and selected_tid. To move, the app changes selected and sets selected_tid to 0;
 * the next draw() puts there the thread (or process) of that row, keeps it in sight and follows it from then on. Row 0
 * is the top, whichever task is there. To add a view: a file with a `const struct view`, a line in views.c.
 */
#pragma once

#include "machine/event_word.h"
#include "machine/machine.h"
#include "tui/grid.h"
#include "tui/keys.h"

struct event_menu;

enum view_shape { SHAPE_BARS, SHAPE_SPARKS, SHAPE_TABLE, SHAPES };
enum view_sort {
	SORT_RUN,
	SORT_WAIT,
	SORT_P50,
	SORT_P99,
	SORT_MAX,
	SORT_SWITCHES,
	SORT_MIGRATIONS,
	SORT_TID,
	SORT_NAME,
	SORT_STATE,
	SORT_CLASS,
	SORT_CPU,
	SORT_LLC,
	SORT_NODE,
	SORT_PREEMPTED_P50,
	SORT_PREEMPTED_P99,
	SORT_PREEMPTED_MAX,
	SORT_SLICE,
	SORT_SLICES,
	SORT_SLEEP,
	SORT_VOLUNTARY,
	SORT_INVOLUNTARY,
	SORT_LLC_MIGRATIONS,
	SORT_NODE_MIGRATIONS,
	SORT_THREADS,
	SORT_LAYER,
	SORT_DSQ,
	SORT_CGROUP,
	SORT_COMMAND,
	SORTS,
	SORT_OWN = SORTS, /* of a metric that no other table has: tui/task_metrics numbers them */
};
/* What a row of a table of processes is. */
enum task_by { TASKS_BY_PROCESS, TASKS_BY_NAME, TASKS_BY_CGROUP, TASKS_AS_TREE, TASKS_BYS };
enum view_group { GROUP_CPU, GROUP_LLC, GROUP_NODE, GROUPS };

struct task_groups;
struct task_matches;
struct task_metrics;

/* What the user has chosen; shared by all views. */
struct screen {
	enum view_shape shape;
	enum view_sort sort;
	bool is_ascending;
	enum view_group group;
	char filter[64]; /* comm, pid, cgroup or state; "" = all */
	bool is_typing;  /* the filter is being typed */
	bool is_frozen;
	bool has_freq;
	bool has_uncore;
	bool has_pressure;
	bool is_localized; /* thousands are separated */
	int selected;      /* row, of those that the filter leaves */
	int scroll;
	uint32_t selected_tid; /* that row, so that it stays selected when the order changes; 0 = none */
	enum task_by by;
	char members_of[256]; /* the name or cgroup, as by says, whose processes are shown; "" = all */
	uint32_t process;     /* whose threads are shown; 0 = all processes */
	bool is_following; /* draw() says whether selected_tid is followed; else row 0 is selected */
	bool is_unselected; /* no row is: Enter is about something else */
	uint32_t tick_ms;
	bool has_spare; /* lines for the pressure of the machine; at the last draw that was not frozen */
	bool has_memory; /* summaries in the default view */
	bool has_network;
	uint8_t scheduler_page;       /* of the scheduler view */
	char message[160];            /* for the user, from an act(); "" = none */
	char event[EVENT_WORD_BYTES]; /* what is shown of CPUs; "" = how busy they are */
	struct event_menu *events;    /* lent; NULL = the usual ones */
	char search[64];              /* what is typed in a view with is_search */
	bool is_leaving;              /* act() is done with the view */
	struct task_matches
		*matches; /* lent, to remember what the filter leaves; NULL = it is recomputed */
	struct task_groups *groups; /* lent; NULL = by does not count */
	const struct task_metrics
		*metrics;              /* that tables of tasks show; lent; NULL = the usual ones */
	double profile_hz, program_hz; /* of samples; 0 = the usual */
	uint32_t nr_clears;            /* of samples */
	uint32_t program;              /* BPF program that was selected last; 0 = none */
	bool is_program_hot;           /* it is sampled */
	int program_scroll;            /* of its lines */
	uint32_t nr_columns;           /* of lanes, for which there was room; 0 = unknown yet */
};

struct view {
	const char *id; /* default, llc, ... */
	const char *title;
	const char *state; /* scxtop's AppState name */
	const char *what;  /* one line for the help */
	uint32_t needs;    /* bits of enum machine_need */
	bool is_search;    /* every letter is searched for; never the view to go back to */
	void (*draw)(const struct machine *m, struct screen *s, struct grid *g, struct area a);
	/* What it wants to see beyond needs, as the screen says; NULL = nothing. */
	void (*request)(const struct screen *s, struct machine_request *w);
	/* An action that means something of its own here: true = done. s->message is shown. NULL = none. */
	bool (*act)(const struct machine *m, struct screen *s, enum action action);
	/* The state of the view that Enter opens for the selected row; NULL = as app.c says. */
	const char *into;
	/* How many rows can be selected, for the arrows; NULL = none. */
	int (*rows)(const struct machine *m, const struct screen *s);
};

extern const struct view *const views[];
extern const size_t nr_views;
const struct view *view_find(const char *id); /* by id or state */
