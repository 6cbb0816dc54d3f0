#include "record/recording_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "record/frame_names.h"
#include "trace/reader.h"

struct recording_stacks {
	struct source_stacks view;
	struct source_sample *samples;
	struct source_stack *stacks;
	struct source_frame *frames;
	struct source_count *events;
	uint64_t *counts;          /* of samples, by event of the file */
	uint32_t *kinds;           /* likewise */
	struct frame_names *names; /* NULL = none were looked up */
};

void recording_stacks_free(struct recording_stacks *s)
{
	if (!s)
		return;
	free(s->samples);
	free(s->stacks);
	free(s->frames);
	free(s->events);
	free(s->counts);
	free(s->kinds);
	frame_names_free(s->names);
	free(s);
}

DEFINE_SCOPED(recording_stacks, recording_stacks_free)

static const char *bare_name(const char *name)
{
	static const char *const marks[] = { "[K] ", "[U] ", "[Py] " };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (strncmp(name, marks[i], strlen(marks[i])) == 0)
			name += strlen(marks[i]);
	return strcmp(name, "<unknown>") == 0 ? "" : name;
}

static const char *module_name(const struct trace_frame *frame)
{
	const char *slash = strrchr(frame->mapping, '/');

	if (*frame->mapping)
		return slash && slash[1] ? slash + 1 : frame->mapping;
	return frame->is_kernel ? "kernel" : "";
}

static const char *frame_name(const struct recording_stacks *s, size_t at,
                              const struct trace_frame *frame)
{
	const char *name = frame_names_of(s->names, at);

	return name ? name : bare_name(frame->name);
}

static int copy_frames(struct recording_stacks *s, const struct trace_info *info)
{
	s->frames = calloc(info->nr_frames ? info->nr_frames : 1, sizeof(*s->frames));
	if (!s->frames)
		return -ENOMEM;
	for (size_t i = 0; i < info->nr_frames; i++) {
		const struct trace_frame *from = &info->frames[i];

		s->frames[i] = (struct source_frame){ .name = frame_name(s, i, from),
			                              .module = module_name(from),
			                              .file = from->file,
			                              .line = from->line,
			                              .address = from->rel_pc,
			                              .is_kernel = from->is_kernel,
			                              .is_inlined = from->is_inlined };
	}
	return 0;
}

static int copy_stacks(struct recording_stacks *s, const struct trace_info *info)
{
	s->stacks = calloc(info->nr_stacks ? info->nr_stacks : 1, sizeof(*s->stacks));
	if (!s->stacks)
		return -ENOMEM;
	for (size_t i = 0; i < info->nr_stacks; i++)
		s->stacks[i] = (struct source_stack){ info->stacks[i].first, info->stacks[i].nr };
	return 0;
}

static bool is_of_event(const struct trace_sample *sample)
{
	return sample->kind == TRACE_SAMPLE_CPU || sample->kind == TRACE_SAMPLE_OTHER;
}

/*
 * Samples of different events are not added up: the one with the most samples among those that
 * sample CPUs is theirs, and each other one is a separate kind.
 */
static int number_events(struct recording_stacks *s, const struct trace_info *info)
{
	size_t nr = info->nr_sample_events, cpu = nr;

	s->kinds = calloc(nr + 1, sizeof(*s->kinds));
	s->events = calloc(nr + 1, sizeof(*s->events));
	s->counts = calloc(nr + 1, sizeof(*s->counts));
	if (!s->kinds || !s->events || !s->counts)
		return -ENOMEM;
	for (size_t i = 0; i < info->nr_samples; i++) {
		const struct trace_sample *sample = &info->samples[i];

		if (!is_of_event(sample))
			continue;
		s->counts[sample->event]++;
		if (sample->kind == TRACE_SAMPLE_CPU &&
		    (cpu == nr || s->counts[sample->event] > s->counts[cpu]))
			cpu = sample->event;
	}
	for (size_t i = 0; i < nr; i++) {
		if (i == cpu || !s->counts[i])
			continue;
		s->kinds[i] = SOURCE_STACK_OTHER + (uint32_t)s->view.nr_events;
		s->events[s->view.nr_events++] = (struct source_count){
			*info->sample_events[i] ? info->sample_events[i] : "other", s->counts[i]
		};
	}
	if (cpu < nr)
		s->kinds[cpu] = SOURCE_STACK_CPU;
	s->view.events = s->events;
	s->view.event = cpu < nr ? info->sample_events[cpu] : "";
	return 0;
}

static uint32_t kind_of(const struct recording_stacks *s, const struct trace_sample *sample)
{
	if (is_of_event(sample))
		return s->kinds[sample->event];
	return sample->kind == TRACE_SAMPLE_OFFCPU ? SOURCE_STACK_OFF_CPU : SOURCE_STACK_WAKER;
}

static int copy_samples(struct recording_stacks *s, const struct trace_info *info)
{
	s->samples = calloc(info->nr_samples, sizeof(*s->samples));
	if (!s->samples)
		return -ENOMEM;
	for (size_t i = 0; i < info->nr_samples; i++) {
		const struct trace_sample *from = &info->samples[i];

		s->samples[i] = (struct source_sample){ .ts_ns = from->ts_ns,
			                                .tid = from->tid,
			                                .cpu = from->cpu,
			                                .stack = from->stack,
			                                .kind = kind_of(s, from),
			                                .end = from->end };
		if (s->samples[i].kind < SOURCE_STACK_OTHER)
			s->view.nr_of[s->samples[i].kind]++;
	}
	return 0;
}

int recording_stacks_new(const struct trace_info *info, const struct frame_namer *namer,
                         struct recording_stacks **out)
{
	SCOPED(scoped_recording_stacks) struct recording_stacks *s = NULL;
	int err;

	if (!info->nr_samples)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	err = frame_names_new(info, namer, &s->names);
	if (!err)
		err = copy_frames(s, info);
	if (!err)
		err = copy_stacks(s, info);
	if (!err)
		err = number_events(s, info);
	if (!err)
		err = copy_samples(s, info);
	if (err)
		return err;
	s->view.samples = s->samples;
	s->view.nr_samples = info->nr_samples;
	s->view.stacks = s->stacks;
	s->view.nr_stacks = info->nr_stacks;
	s->view.stack_frames = info->stack_frames;
	s->view.frames = s->frames;
	s->view.nr_frames = info->nr_frames;
	s->view.frequency = info->sampling_frequency;
	*out = TAKE_PTR(s);
	return 0;
}

const struct source_stacks *recording_stacks_get(const struct recording_stacks *s)
{
	return s ? &s->view : NULL;
}
