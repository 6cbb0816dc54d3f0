/*
 * trace/perfetto/schema — numbers of Perfetto's messages that we read and write. Names are those of its protos.
 *
 * Numbers are Perfetto's and never change. Members of FtraceEvent and fields of each of its messages are
 * kept apart by prefix: FTRACE_* chooses the message, the others are its fields.
 */
#pragma once

enum { TRACE_PACKET = 1 };

enum { /* TracePacket */
       PACKET_FTRACE_EVENTS = 1,
       PACKET_PROCESS_TREE = 2,
       PACKET_CLOCK_SNAPSHOT = 6,
       PACKET_SYS_STATS = 7,
       PACKET_TIMESTAMP = 8,
       PACKET_SEQUENCE_ID = 10,
       PACKET_TRACK_EVENT = 11,
       PACKET_INTERNED_DATA = 12,
       PACKET_SEQUENCE_FLAGS = 13,
       PACKET_TRUSTED_UID = 3,
       PACKET_TRACE_CONFIG = 33,
       PACKET_FTRACE_STATS = 34,
       PACKET_TRACE_STATS = 35,
       PACKET_STATE_CLEARED = 41,
       PACKET_DROPPED = 42,
       PACKET_PROCESS_DESCRIPTOR = 43,
       PACKET_THREAD_DESCRIPTOR = 44,
       PACKET_SYSTEM_INFO = 45,
       PACKET_COMPRESSED_PACKETS = 50,
       PACKET_CLOCK_ID = 58,
       PACKET_DEFAULTS = 59,
       PACKET_TRACK_DESCRIPTOR = 60,
       PACKET_PERF_SAMPLE = 66,
       PACKET_CPU_INFO = 67,
       PACKET_SERVICE_EVENT = 69,
       PACKET_TRUSTED_PID = 79,
       PACKET_TRACE_UUID = 89,
       PACKET_MACHINE_ID = 98,
       PACKET_GENERIC_TASK_STATE = 117,
       PACKET_GENERIC_CPU_FREQ = 118,
       PACKET_GENERIC_TASK_RENAME = 120,
       PACKET_GENERIC_TREE = 122,
       PACKET_TRACE_ATTRIBUTES = 126,
       PACKET_ZSTD_PACKETS = 133,
};

enum { /* sequence_flags */
       SEQ_STATE_CLEARED = 1,
       SEQ_NEEDS_STATE = 2,
};

enum { /* TracePacketDefaults and its TrackEventDefaults */
       DEFAULTS_TRACK_EVENT = 11,
       DEFAULTS_PERF_SAMPLE = 12,
       DEFAULTS_CLOCK_ID = 58,
       TRACK_DEFAULTS_UUID = 11,
       TRACK_DEFAULTS_COUNTERS = 31,
       TRACK_DEFAULTS_DOUBLE_COUNTERS = 45,
};

/* Our own sequences: interned strings are per sequence. Samples have one for each EV_SAMPLE_*, from SEQ_SAMPLES on. */
enum { SEQ_META = 1, SEQ_FTRACE = 2, SEQ_TRACKS = 3, SEQ_SAMPLES = 4 };

enum { /* ClockSnapshot and its Clock */
       CLOCK_SNAPSHOT_CLOCKS = 1,
       CLOCK_SNAPSHOT_PRIMARY = 2,
       CLOCK_ID = 1,
       CLOCK_TIMESTAMP = 2,
};

enum { /* values of clock_id */
       CLOCK_ID_REALTIME = 1,
       CLOCK_ID_MONOTONIC = 3,
       CLOCK_ID_MONOTONIC_RAW = 5,
       CLOCK_ID_BOOTTIME = 6,
};

enum { /* SystemInfo and Utsname */
       SYSTEM_UTSNAME = 1,
       SYSTEM_HZ = 3,
       SYSTEM_SERVICE_VERSION = 4,
       SYSTEM_PAGE_SIZE = 6,
       SYSTEM_NUM_CPUS = 8,
       SYSTEM_RAM_BYTES = 16,
       SYSTEM_MACHINE_NAME = 17,
       UTSNAME_SYSNAME = 1,
       UTSNAME_VERSION = 2,
       UTSNAME_RELEASE = 3,
       UTSNAME_MACHINE = 4,
};

enum { /* TraceUuid, TraceAttributes, CpuInfo */
       UUID_MSB = 1,
       UUID_LSB = 2,
       ATTRIBUTES_ATTRIBUTE = 1,
       ATTRIBUTE_KEY = 1,
       ATTRIBUTE_LONG = 2,
       ATTRIBUTE_STRING = 3,
       CPU_INFO_CPUS = 1,
       CPU_PROCESSOR = 1,
       CPU_FREQUENCIES = 2,
       CPU_CAPACITY = 3,
};

enum { /* SysStats, its CpuTimes, and the entries of the others: a key and a value */
       STATS_MEMINFO = 1,
       STATS_VMSTAT = 2,
       STATS_CPU = 3,
       STATS_FORKS = 4,
       STATS_CPUFREQ_KHZ = 11,
       STATS_PSI = 14,
       STATS_CPU_ID = 1,
       STATS_CPU_USER_NS = 2, /* the others follow in the order of /proc/stat */
       STATS_KEY = 1,
       STATS_VALUE = 2,
};

enum { /* TraceConfig, its DataSource, DataSourceConfig and FtraceConfig */
       CONFIG_DATA_SOURCES = 2,
       DATA_SOURCE_CONFIG = 1,
       SOURCE_CONFIG_NAME = 1,
       SOURCE_CONFIG_FTRACE = 100,
       FTRACE_CONFIG_EVENTS = 1,
};

enum { /* ProcessTree, Process, Thread */
       TREE_PROCESSES = 1,
       TREE_THREADS = 2,
       PROCESS_PID = 1,
       PROCESS_PPID = 2,
       PROCESS_CMDLINE = 3,
       PROCESS_START_FROM_BOOT = 7,
       PROCESS_IS_KTHREAD = 8,
       PROCESS_CMDLINE_IS_COMM = 9,
       THREAD_TID = 1,
       THREAD_NAME = 2,
       THREAD_TGID = 3,
};

enum { /* FtraceEventBundle */
       BUNDLE_CPU = 1,
       BUNDLE_EVENT = 2,
       BUNDLE_LOST_EVENTS = 3,
       BUNDLE_COMPACT_SCHED = 4,
       BUNDLE_FTRACE_CLOCK = 5,
       BUNDLE_FTRACE_TIMESTAMP = 6,
       BUNDLE_BOOT_TIMESTAMP = 7,
       BUNDLE_LAST_READ = 9,
       BUNDLE_PREVIOUS_END = 10,
       BUNDLE_DESCRIPTORS = 11,
       FTRACE_CLOCK_GLOBAL = 2,
       FTRACE_CLOCK_LOCAL = 3,
       FTRACE_CLOCK_MONO_RAW = 4,
};

enum { /* CompactSched */
       COMPACT_SWITCH_TIMESTAMP = 1,
       COMPACT_SWITCH_PREV_STATE = 2,
       COMPACT_SWITCH_NEXT_PID = 3,
       COMPACT_SWITCH_NEXT_PRIO = 4,
       COMPACT_INTERN_TABLE = 5,
       COMPACT_SWITCH_NEXT_COMM = 6,
       COMPACT_WAKING_TIMESTAMP = 7,
       COMPACT_WAKING_PID = 8,
       COMPACT_WAKING_TARGET_CPU = 9,
       COMPACT_WAKING_PRIO = 10,
       COMPACT_WAKING_COMM = 11,
       COMPACT_WAKING_FLAGS = 12,
       COMPACT_WAKING_INTERRUPT = 1001, /* ours: ABI_BY_*; other readers skip it */
};

enum { COMMON_FLAG_HARDIRQ = 0x08, COMMON_FLAG_SOFTIRQ = 0x10, COMMON_FLAG_NMI = 0x40 };
/* Ours: the event was not recorded. The kernel's flags have eight bits. */
enum { COMMON_FLAG_INFERRED = 0x100 };
/* Ours, of a switch or a waking in full: the task that leaves, or the waker, is unknown; its pid is 0. */
enum { COMMON_FLAG_UNKNOWN = 0x200 };

enum { /* FtraceEvent: what every event has, then the messages */
       FTRACE_TIMESTAMP = 1,
       FTRACE_PID = 2,
       FTRACE_PRINT = 3,
       FTRACE_COMMON_FLAGS = 5,
       FTRACE_SCHED_SWITCH = 4,
       FTRACE_CPU_FREQUENCY = 11,
       FTRACE_CPU_IDLE = 13,
       FTRACE_SCHED_WAKEUP = 17,
       FTRACE_SCHED_BLOCKED_REASON = 18,
       FTRACE_SCHED_WAKING = 20,
       FTRACE_IPI_ENTRY = 21,
       FTRACE_IPI_EXIT = 22,
       FTRACE_IPI_RAISE = 23,
       FTRACE_SOFTIRQ_ENTRY = 24,
       FTRACE_SOFTIRQ_EXIT = 25,
       FTRACE_IRQ_HANDLER_ENTRY = 36,
       FTRACE_IRQ_HANDLER_EXIT = 37,
       FTRACE_EXT4_SYNC_FILE_ENTER = 43,
       FTRACE_EXT4_SYNC_FILE_EXIT = 44,
       FTRACE_BLOCK_RQ_ISSUE = 45,
       FTRACE_DIRECT_RECLAIM_BEGIN = 46,
       FTRACE_DIRECT_RECLAIM_END = 47,
       FTRACE_WORKQUEUE_EXECUTE_END = 57,
       FTRACE_WORKQUEUE_EXECUTE_START = 58,
       FTRACE_CGROUP_ATTACH_TASK = 67,
       FTRACE_CGROUP_MKDIR = 68,
       FTRACE_SUSPEND_RESUME = 113,
       FTRACE_SCHED_WAKEUP_NEW = 114,
       FTRACE_BLOCK_RQ_COMPLETE = 125,
       FTRACE_BLOCK_RQ_INSERT = 126,
       FTRACE_TASK_NEWTASK = 235,
       FTRACE_TASK_RENAME = 236,
       FTRACE_SCHED_PROCESS_EXEC = 237,
       FTRACE_SCHED_PROCESS_EXIT = 238,
       FTRACE_SCHED_PROCESS_FORK = 239,
       FTRACE_SCHED_PROCESS_FREE = 240,
       FTRACE_SCHED_PROCESS_HANG = 241,
       FTRACE_SCHED_PROCESS_WAIT = 242,
       FTRACE_MM_PAGE_ALLOC = 307,
       FTRACE_MM_PAGE_FREE = 310,
       FTRACE_GENERIC = 327,
       FTRACE_GPU_MEM_TOTAL = 340,
       FTRACE_CPUHP_EXIT = 343,
       FTRACE_CPUHP_ENTER = 345,
       FTRACE_NETIF_RECEIVE_SKB = 360,
       FTRACE_NET_DEV_XMIT = 361,
       FTRACE_SCHED_CPU_UTIL_CFS = 421,
       FTRACE_SCHED_MIGRATE_TASK = 491,
       FTRACE_KPROBE_EVENT = 542,
       /* Ours; other readers skip them. */
       FTRACE_OURS = 1000, /* all from here on */
       FTRACE_THROTTLE = 1001,
       FTRACE_REFILL = 1002,
       FTRACE_STEAL = 1003,
       FTRACE_SLEEP = 1004,
       FTRACE_THROTTLED = 1005,
       FTRACE_POLICY = 1006,
       FTRACE_LOCK = 1007,
       FTRACE_RT_LIMIT = 1008,
       FTRACE_LOSS = 1009, /* nothing but the time at which a loss ends */
};

enum { PRINT_BUF = 2 };

enum { /* SchedSwitch */
       SWITCH_PREV_COMM = 1,
       SWITCH_PREV_PID = 2,
       SWITCH_PREV_PRIO = 3,
       SWITCH_PREV_STATE = 4,
       SWITCH_NEXT_COMM = 5,
       SWITCH_NEXT_PID = 6,
       SWITCH_NEXT_PRIO = 7,
};

enum { /* SchedWakeup, SchedWaking, SchedWakeupNew */
       WAKE_COMM = 1,
       WAKE_PID = 2,
       WAKE_PRIO = 3,
       WAKE_TARGET_CPU = 5,
       WAKE_INTERRUPT = 1001, /* ours, as in CompactSched */
};

enum { /* ours: quotas and steal */
       THROTTLE_PID = 1,
       THROTTLE_CGROUP = 2,
       THROTTLE_QUOTA_NS = 3,
       THROTTLE_PERIOD_NS = 4,
       THROTTLE_UNTIL_NS = 5,
       THROTTLE_LIMIT = 6,
       REFILL_CGROUP = 1,
       REFILL_NR_CPUS = 2,
       REFILL_CPUS = 3, /* two bytes each, the low one first */
       STEAL_NS = 1,
       RT_LIMIT_IS_ON = 1,
       THROTTLED_CGROUP = 1,
       THROTTLED_QUOTA_NS = 2,
       THROTTLED_PERIOD_NS = 3,
       THROTTLED_START_NS = 4,
       THROTTLED_CPU = 5,
};

enum { /* SchedMigrateTask */
       MIGRATE_COMM = 1,
       MIGRATE_PID = 2,
       MIGRATE_PRIO = 3,
       MIGRATE_ORIG_CPU = 4,
       MIGRATE_DEST_CPU = 5,
};

enum { /* TaskNewtask, TaskRename, SchedProcessFork */
       NEWTASK_PID = 1,
       NEWTASK_COMM = 2,
       NEWTASK_CLONE_FLAGS = 3,
       RENAME_PID = 1,
       RENAME_OLDCOMM = 2,
       RENAME_NEWCOMM = 3,
       FORK_PARENT_COMM = 1,
       FORK_PARENT_PID = 2,
       FORK_CHILD_COMM = 3,
       FORK_CHILD_PID = 4,
};

enum { CLONE_FLAG_THREAD = 0x10000 };

/* FTRACE_LOSS: it comes behind the events of the same time, not before them. */
enum { LOSS_IS_BEHIND = 1 };

enum { /* SchedProcessExec, SchedProcessExit; Free, Hang and Wait share theirs */
       EXEC_FILENAME = 1,
       EXEC_PID = 2,
       EXEC_OLD_PID = 3,
       EXIT_COMM = 1,
       EXIT_PID = 2,
       EXIT_TGID = 3,
       EXIT_PRIO = 4,
       TASK_COMM = 1,
       TASK_PID = 2,
       TASK_PRIO = 3, /* not of Hang */
};

enum { /* CgroupAttachTask, CgroupMkdir */
       ATTACH_DST_ID = 2,
       ATTACH_PID = 3,
       MKDIR_ID = 2,
       MKDIR_CNAME = 3,
       MKDIR_PATH = 5,
       /* Ours, of both: CGROUP_* bits; ids have 64 bits. Without it, the event is another recorder's and says too little. */
       CGROUP_OURS = 1010,
};

enum {                    /* CGROUP_OURS */
       CGROUP_TOLD = 1,   /* recorded by us */
       CGROUP_STATED = 2, /* it was so when the recording began: nothing happened */
};

enum { /* interrupts and work */
       IRQ_ENTRY_IRQ = 1,
       IRQ_ENTRY_NAME = 2,
       IRQ_EXIT_IRQ = 1,
       IRQ_EXIT_RET = 2,
       SOFTIRQ_VEC = 1,
       IPI_REASON = 1,
       IPI_RAISE_TARGET_CPUS = 1,
       IPI_RAISE_REASON = 2,
       WORK_WORK = 1,
       WORK_FUNCTION = 2,
};

enum { /* ours: policies of tasks */
       POLICY_PID = 1,
       POLICY_POLICY = 2, /* ABI_POLICY_* */
       POLICY_PRIO = 3,
       POLICY_COOKIE = 4,
};

enum { /* disks, files, network, memory, suspend */
       BLOCK_DEV = 1,
       BLOCK_SECTOR = 2,
       BLOCK_NR_SECTOR = 3,
       BLOCK_BYTES = 4, /* not of Complete */
       BLOCK_RWBS = 5,
       SYNC_FILE_DEV = 1,
       SYNC_FILE_INO = 2,
       NET_LEN = 1,
       NET_NAME = 2,
       PAGE_ALLOC_ORDER = 3,
       PAGE_FREE_ORDER = 1,
       RECLAIM_BEGIN_ORDER = 1,
       SUSPEND_ACTION = 1,
       SUSPEND_VAL = 2,
       SUSPEND_START = 3,
       BLOCKED_PID = 1,
       BLOCKED_CALLER = 2,
       BLOCKED_IO_WAIT = 3,
       SLEEP_PID = 1,  /* ours */
       SLEEP_CALL = 2, /* ABI_CALL_* */
       SLEEP_NR = 3,
       SLEEP_ARG0 = 4,
       SLEEP_ARG1 = 5,
       LOCK_ADDRESS = 1, /* ours */
       LOCK_START_NS = 2,
       LOCK_END_NS = 3,
       LOCK_PID = 4,
       LOCK_TYPE = 5, /* EV_LOCK_* */
};

enum { /* power, hotplug, GPU, probes */
       CPU_FREQUENCY_STATE = 1,
       CPU_FREQUENCY_CPU = 2,
       CPU_IDLE_STATE = 1,
       CPU_IDLE_CPU = 2,
       CPUHP_ENTER_CPU = 1,
       CPUHP_ENTER_IDX = 3,
       CPUHP_ENTER_TARGET = 4,
       CPUHP_EXIT_CPU = 1,
       CPUHP_EXIT_IDX = 2,
       CPUHP_EXIT_RET = 3,
       CPUHP_EXIT_STATE = 4,
       GPU_MEM_GPU_ID = 1,
       GPU_MEM_PID = 2,
       GPU_MEM_SIZE = 3,
       CPU_UTIL_CAPACITY = 2,
       CPU_UTIL_CPU = 4,
       CPU_UTIL_UTIL = 6,
       CPU_UTIL_NR_RUNNING = 11,
       KPROBE_NAME = 1,
       KPROBE_TYPE = 2,
       KPROBE_TYPE_BEGIN = 1,
       KPROBE_TYPE_END = 2,
       KPROBE_TYPE_INSTANT = 3,
};

enum { /* TrackDescriptor, its ThreadDescriptor and CounterDescriptor */
       TRACK_UUID = 1,
       TRACK_NAME = 2,
       TRACK_PROCESS = 3,
       TRACK_THREAD = 4,
       TRACK_PARENT_UUID = 5,
       TRACK_COUNTER = 8,
       TRACK_STATIC_NAME = 10,
       TRACK_CHILD_ORDERING = 11,
       TRACK_CHILDREN_BY_RANK = 3,
       TRACK_RANK = 12,
       TRACK_SIBLING_MERGE = 15,
       TRACK_OWN_TID = 1001, /* ours: the thread, where its process is unknown */
       TRACK_SIBLING_MERGE_NONE = 2,
       THREAD_DESC_PID = 1,
       THREAD_DESC_TID = 2,
       THREAD_DESC_NAME = 5,
       COUNTER_UNIT = 3,
       COUNTER_UNIT_TIME_NS = 1,
       COUNTER_UNIT_COUNT = 2,
       COUNTER_UNIT_NAME = 6,
};

enum { /* TrackEvent */
       TRACK_EVENT_CATEGORY_IIDS = 3,
       TRACK_EVENT_ANNOTATIONS = 4,
       TRACK_EVENT_TYPE = 9,
       TRACK_EVENT_NAME_IID = 10,
       TRACK_EVENT_TRACK_UUID = 11,
       TRACK_EVENT_COUNTER_VALUE = 30,
       TRACK_EVENT_FLOW_IDS = 47,
       TRACK_EVENT_TERMINATING_FLOW_IDS = 48,
};

enum { /* DebugAnnotation */
       ANNOTATION_NAME_IID = 1,
       ANNOTATION_UINT = 3,
       ANNOTATION_INT = 4,
       ANNOTATION_DOUBLE = 5,
       ANNOTATION_STRING = 6,
       ANNOTATION_POINTER = 7,
};

enum { /* InternedData, and what it holds */
       INTERNED_EVENT_CATEGORIES = 1,
       INTERNED_EVENT_NAMES = 2,
       INTERNED_ANNOTATION_NAMES = 3,
       INTERNED_FUNCTION_NAMES = 5,
       INTERNED_FRAMES = 6,
       INTERNED_CALLSTACKS = 7,
       INTERNED_BUILD_IDS = 16,
       INTERNED_MAPPING_PATHS = 17,
       INTERNED_SOURCE_PATHS = 18,
       INTERNED_MAPPINGS = 19,
       INTERNED_KERNEL_SYMBOLS = 26,
       INTERNED_VALUE_TYPES = 27,
       INTERNED_STRING_VALUES = 29,
       INTERNED_CORRELATION_IDS = 43,
       ENTRY_IID = 1,
       ENTRY_STRING = 2,
       FRAME_FUNCTION_NAME_ID = 2,
       FRAME_MAPPING_ID = 3,
       FRAME_REL_PC = 4,
       FRAME_SOURCE_PATH_IID = 5,
       FRAME_LINE_NUMBER = 6,
       FRAME_KIND = 7,
       FRAME_KIND_NATIVE = 1,
       FRAME_KIND_KERNEL = 2,
       CALLSTACK_FRAME_IDS = 2,
       MAPPING_BUILD_ID = 2,
       MAPPING_START_OFFSET = 3,
       MAPPING_START = 4,
       MAPPING_END = 5,
       MAPPING_PATH_IDS = 7,
       MAPPING_EXACT_OFFSET = 8,
};

enum { /* PerfSample */
       SAMPLE_CPU = 1,
       SAMPLE_PID = 2,
       SAMPLE_TID = 3,
       SAMPLE_CALLSTACK_IID = 4,
       SAMPLE_CPU_MODE = 5,
       SAMPLE_TIMEBASE_COUNT = 6,
       SAMPLE_UNWIND_ERROR =
	       16, /* StackUnwindError; none where the stack is whole, or that is not known */
       SAMPLE_WEIGHT = 1001, /* ours: of a sample that another recorder took; 1 if absent */
       SAMPLE_MODE_KERNEL = 1,
       SAMPLE_MODE_USER = 2,
};

enum { /* StackUnwindError */
       UNWIND_ERROR_NONE = 1,
       UNWIND_ERROR_MEMORY_INVALID = 2,
       UNWIND_ERROR_UNWIND_INFO = 3,
       UNWIND_ERROR_UNSUPPORTED = 4,
       UNWIND_ERROR_MAX_FRAMES = 6,
};

enum { /* PerfSampleDefaults, its Timebase, and the Tracepoint of that */
       SAMPLE_DEFAULTS_TIMEBASE = 1,
       TIMEBASE_PERIOD = 1,
       TIMEBASE_FREQUENCY = 2,
       TIMEBASE_TRACEPOINT = 3,
       TIMEBASE_COUNTER = 4,
       TIMEBASE_NAME = 10,
       TIMEBASE_KIND = 1001, /* ours: 1 + enum trace_sample_kind, whatever the event is called */
       TRACEPOINT_NAME = 1,
       COUNTER_SW_CPU_CLOCK = 1,
       COUNTER_HW_CPU_CYCLES = 10,
};
