#include "render/profiler_json.h"

#define NS_PER_MS 1000000ULL
#define NS_PER_S  1000000000ULL

static const char *const states[] = {
	[PROFILER_IDLE] = "Idle",
	[PROFILER_RUNNING] = "Running",
	[PROFILER_STOPPED] = "Stopped",
};

static const char *const ends[] = {
	[PROFILER_END_NONE] = NULL,
	[PROFILER_END_STOPPED] = "stopped",
	[PROFILER_END_DURATION] = "duration",
	[PROFILER_END_FULL] = "max_samples",
	[PROFILER_END_TARGET] = "process_ended",
};

static void number_or_null(struct json_writer *w, const char *key, uint64_t value)
{
	jw_u64_if(w, key, value, value);
}

static void show_config(struct json_writer *w, const struct profiler_status *s)
{
	if (s->state == PROFILER_IDLE) {
		jw_null(w, "config");
		return;
	}
	jw_begin_object(w, "config");
	jw_string(w, "event", s->event);
	number_or_null(w, "freq", s->frequency);
	number_or_null(w, "period", s->period);
	jw_i64(w, "cpu", s->cpu);
	jw_i64(w, "pid", s->pid);
	jw_u64(w, "max_samples", s->max_samples);
	jw_u64(w, "duration_secs", s->duration_wanted_ns / NS_PER_S);
	jw_end_object(w);
}

void profiler_status_json(struct json_writer *w, const char *key, const struct profiler_status *s)
{
	jw_begin_object(w, key);
	profiler_status_members(w, s);
	jw_end_object(w);
}

void profiler_status_members(struct json_writer *w, const struct profiler_status *s)
{
	jw_string(w, "status", states[s->state]);
	jw_string(w, "mode", "sampling");
	jw_u64(w, "samples_collected", s->samples);
	jw_u64(w, "duration_ms", s->duration_ns / NS_PER_MS);
	show_config(w, s);
	jw_string(w, "ended_by", ends[s->end]);
	jw_u64(w, "lost", s->lost);
	jw_u64(w, "idle_samples", s->idle);
	jw_u64(w, "throttled", s->throttled);
	jw_u64(w, "num_cpus", s->nr_cpus);
	jw_u64(w, "skipped_cpus", s->nr_skipped);
	jw_string(w, "event_note", s->why_default);
}
