/* trace/perfetto/tracks/schema_tracks — numbers of Perfetto's tracks and track events that only a reader needs. */
#pragma once

enum { /* TrackDescriptor and what it holds */
       TRACK_ATRACE_NAME = 13,
       PROCESS_DESC_PID = 1,
       PROCESS_DESC_CMDLINE = 2,
       PROCESS_DESC_NAME = 6,
       THREAD_DESC_REFERENCE_US = 6,
       COUNTER_UNIT_MULTIPLIER = 4,
       COUNTER_IS_INCREMENTAL = 5,
};

enum { /* TrackEvent */
       TRACK_EVENT_DELTA_US = 1,
       TRACK_EVENT_EXTRA_COUNTER_VALUES = 12,
       TRACK_EVENT_ABSOLUTE_US = 16,
       TRACK_EVENT_CATEGORIES = 22,
       TRACK_EVENT_NAME = 23,
       TRACK_EVENT_EXTRA_COUNTER_UUIDS = 31,
       TRACK_EVENT_OLD_FLOW_IDS = 36,
       TRACK_EVENT_OLD_TERMINATING = 42,
       TRACK_EVENT_DOUBLE_COUNTER_VALUE = 44,
       TRACK_EVENT_EXTRA_DOUBLE_UUIDS = 45,
       TRACK_EVENT_EXTRA_DOUBLE_VALUES = 46,
       TRACK_EVENT_CALLSTACK_IID = 56,
};

enum { /* values of TrackEvent.type */
       TRACK_TYPE_BEGIN = 1,
       TRACK_TYPE_END = 2,
       TRACK_TYPE_INSTANT = 3,
       TRACK_TYPE_COUNTER = 4,
};

enum { /* DebugAnnotation */
       ANNOTATION_BOOL = 2,
       ANNOTATION_NAME = 10,
       ANNOTATION_STRING_IID = 17,
};

enum { /* TrackEventDefaults */
       TRACK_DEFAULTS_EXTRA_UUIDS = 31,
       TRACK_DEFAULTS_EXTRA_DOUBLE_UUIDS = 45,
};

enum { PACKET_DEFAULTS_TRACK_EVENT = 11 };

enum { /* InternedData and PerfSample */
       INTERNED_ANNOTATION_STRINGS = 29,
       SAMPLE_RECORDS_LOST = 17,
       SAMPLE_SKIPPED_REASON = 18,
       SAMPLE_PRODUCER_EVENT = 19,
};

enum { /* the packets of kernels without ftrace */
       TASK_STATE_CPU = 1,
       TASK_STATE_COMM = 2,
       TASK_STATE_TID = 3,
       TASK_STATE_STATE = 4,
       TASK_STATE_PRIO = 5,
       GENERIC_FREQ_CPU = 1,
       GENERIC_FREQ_HZ = 2,
       GENERIC_RENAME_TID = 1,
       GENERIC_RENAME_COMM = 2,
       GENERIC_TREE_PROCESSES = 1,
       GENERIC_TREE_THREADS = 2,
       GENERIC_PROCESS_PID = 1,
       GENERIC_PROCESS_PPID = 2,
       GENERIC_PROCESS_CMDLINE = 3,
       GENERIC_THREAD_TID = 1,
       GENERIC_THREAD_PID = 2,
       GENERIC_THREAD_COMM = 3,
       GENERIC_THREAD_IS_IDLE = 5,
};

enum { /* values of GenericKernelTaskStateEvent.state */
       GENERIC_CREATED = 1,
       GENERIC_RUNNABLE = 2,
       GENERIC_RUNNING = 3,
       GENERIC_INTERRUPTIBLE = 4,
       GENERIC_UNINTERRUPTIBLE = 5,
       GENERIC_STOPPED = 6,
       GENERIC_DEAD = 7,
       GENERIC_DESTROYED = 8,
};
