-- Views for ClickHouse over what 'schedscope export --parquet DIR FILE...' has written. In DIR:
--   clickhouse local --path /tmp/fleet --multiquery --queries-file /usr/share/schedscope/sql/clickhouse.sql
--   clickhouse local --path /tmp/fleet --query 'SELECT * FROM delay_by_host'
-- Columns: docs/parquet.md. Times are nanoseconds. The same views as in duckdb.sql; what differs is the dialect.
--
-- Day and host come from the names of the folders. What a recording does not tell is '' here, as keys of joins are not null.

CREATE OR REPLACE VIEW fleet_trace AS
SELECT extract(_path, '/date=([0-9-]+)/') AS date,
    replaceOne(decodeURLComponent(extract(_path, '/host=([^/]+)/')), '__HIVE_DEFAULT_PARTITION__', '') AS host, *
FROM file('trace/**/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;

CREATE OR REPLACE VIEW fleet_cgroup AS
SELECT extract(_path, '/date=([0-9-]+)/') AS date,
    replaceOne(decodeURLComponent(extract(_path, '/host=([^/]+)/')), '__HIVE_DEFAULT_PARTITION__', '') AS host, *
FROM file('cgroup/**/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;

CREATE OR REPLACE VIEW fleet_wait_row AS
SELECT extract(_path, '/date=([0-9-]+)/') AS date,
    replaceOne(decodeURLComponent(extract(_path, '/host=([^/]+)/')), '__HIVE_DEFAULT_PARTITION__', '') AS host, *
FROM file('wait/**/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;

CREATE OR REPLACE VIEW fleet_wait_part AS
SELECT extract(_path, '/date=([0-9-]+)/') AS date,
    replaceOne(decodeURLComponent(extract(_path, '/host=([^/]+)/')), '__HIVE_DEFAULT_PARTITION__', '') AS host, *
FROM file('wait_part/**/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;

-- Waits that ended, with what the recording says of the machine, the path of the cgroup, and the wall clock at which the wait began.
CREATE OR REPLACE VIEW fleet_wait AS
SELECT w.date AS date, w.host AS host, w.capture AS capture, w.id AS id, w.ts AS ts, w.dur AS dur, w.cpu AS cpu, w.utid AS utid,
    w.cause AS cause, w.queue_dur AS queue_dur, w.waker AS waker, w.tid AS tid, w.comm AS comm, t.kernel AS kernel, t.machine AS machine, t.boot_id AS boot_id, c.path AS cgroup,
    t.unix_start_ns + (w.ts - t.start_ts) AS unix_ns
FROM fleet_wait_row w
JOIN fleet_trace t ON w.date = t.date AND w.host = t.host AND w.capture = t.capture
LEFT JOIN fleet_cgroup c ON w.date = c.date AND w.host = c.host AND w.capture = c.capture AND w.cgroup_id = c.cgroup_id
WHERE w.is_open = 0
SETTINGS join_use_nulls = 1;

-- Scheduling delay: percentiles are exact, by nearest rank, as those of 'schedscope analyze'; quantileExact() takes another rank.
CREATE OR REPLACE VIEW delay_by_host AS
SELECT host, length(durs) AS waits, durs[toUInt64(ceil(waits * 0.5))] AS p50_ns, durs[toUInt64(ceil(waits * 0.99))] AS p99_ns,
    durs[-1] AS max_ns, arraySum(durs) AS total_ns
FROM (SELECT host, arraySort(groupArray(assumeNotNull(dur))) AS durs FROM fleet_wait GROUP BY host)
ORDER BY p99_ns DESC;

CREATE OR REPLACE VIEW delay_by_cgroup AS
SELECT cgroup, hosts, length(durs) AS waits, durs[toUInt64(ceil(waits * 0.5))] AS p50_ns, durs[toUInt64(ceil(waits * 0.99))] AS p99_ns,
    durs[-1] AS max_ns, arraySum(durs) AS total_ns
FROM (
    SELECT cgroup, uniqExact(host) AS hosts, arraySort(groupArray(assumeNotNull(dur))) AS durs FROM fleet_wait GROUP BY cgroup)
ORDER BY total_ns DESC;

CREATE OR REPLACE VIEW delay_by_kernel AS
SELECT kernel, hosts, length(durs) AS waits, durs[toUInt64(ceil(waits * 0.5))] AS p50_ns, durs[toUInt64(ceil(waits * 0.99))] AS p99_ns,
    durs[-1] AS max_ns, arraySum(durs) AS total_ns
FROM (
    SELECT kernel, uniqExact(host) AS hosts, arraySort(groupArray(assumeNotNull(dur))) AS durs FROM fleet_wait GROUP BY kernel)
ORDER BY kernel;

-- The longest waits of the fleet, each with what it was for most of the time.
CREATE OR REPLACE VIEW worst_waits AS
WITH worst AS (SELECT * FROM fleet_wait ORDER BY dur DESC, host, capture, id LIMIT 100),
causes AS (
    SELECT date, host, capture, wait_id, kind, culprit, sum(dur) AS part_ns
    FROM fleet_wait_part WHERE (date, host, capture, wait_id) IN (SELECT date, host, capture, id FROM worst)
    GROUP BY date, host, capture, wait_id, kind, culprit
    ORDER BY part_ns DESC, kind, culprit LIMIT 1 BY date, host, capture, wait_id)
SELECT w.host AS host, w.date AS date, w.capture AS capture, w.id AS id, w.dur AS dur, w.ts AS ts, w.unix_ns AS unix_ns, w.comm AS comm,
    w.tid AS tid, w.cpu AS cpu, w.cause AS cause, w.cgroup AS cgroup, w.kernel AS kernel, c.kind AS mostly, c.culprit AS culprit,
    c.part_ns AS mostly_ns
FROM worst w LEFT JOIN causes c ON c.date = w.date AND c.host = w.host AND c.capture = w.capture AND c.wait_id = w.id
ORDER BY dur DESC, host, capture, id;

-- A rollout: as in duckdb.sql, a percentile of the delay of each host before and after, and the mean of the differences with the middle
-- 95 % of the means of hosts drawn again. Parameters: since (seconds of Unix time) or old_kernel and new_kernel; p; draws.
--   SELECT * FROM rollout(since = 1794974400, old_kernel = '', new_kernel = '', p = 0.99, draws = 1000)
CREATE OR REPLACE VIEW rollout AS
WITH hosts AS (
    SELECT host, is_after, arraySort(groupArray(assumeNotNull(dur))) AS durs, durs[toUInt64(ceil(length(durs) * {p:Float64}))] AS delay
    FROM (
        SELECT host, dur, multiIf({since:Int64} != 0, toInt8(unix_ns >= {since:Int64} * 1000000000),
            kernel = {new_kernel:String}, 1, kernel = {old_kernel:String}, 0, -1) AS is_after
        FROM fleet_wait WHERE host != '')
    WHERE is_after >= 0 GROUP BY host, is_after),
pairs AS (
    SELECT b.host AS host, b.delay AS before_ns, a.delay AS after_ns
    FROM (SELECT * FROM hosts WHERE is_after = 0) b JOIN (SELECT * FROM hosts WHERE is_after = 1) a ON a.host = b.host
    ORDER BY host),
diffs AS (SELECT groupArray(after_ns - before_ns) AS list FROM pairs),
means AS (
    SELECT arrayAvg(arrayMap(pick -> list[1 + sipHash64(draw, pick) % length(list)], range(length(list)))) AS mean
    FROM diffs CROSS JOIN (SELECT number AS draw FROM numbers({draws:UInt64})) d WHERE length(list) > 0)
SELECT count() AS hosts, avg(before_ns) AS before_ns, avg(after_ns) AS after_ns, after_ns - before_ns AS diff_ns,
    (SELECT quantileExactInclusive(0.025)(mean) FROM means) AS low_ns, (SELECT quantileExactInclusive(0.975)(mean) FROM means) AS high_ns
FROM pairs;
