-- Views for ClickHouse over what 'schedscope serve --parquet DIR' has written on many machines. In DIR:
--   clickhouse local --path /tmp/fleet --multiquery --queries-file /usr/share/schedscope/sql/clickhouse-serve.sql
--   clickhouse local --path /tmp/fleet --query "SELECT * FROM hist_by(what = 'host', since = 0, until = 0)"
-- Columns: docs/parquet.md. Times are nanoseconds. The same queries as in duckdb-serve.sql; what differs is the dialect: all parameters are given, since
-- and until are seconds of Unix time, 0 for none, and what is not known is '' in keys. Where machines run with --blame or --keep, clickhouse-serve-blame.sql
-- and clickhouse-serve-dumps.sql have more.

CREATE OR REPLACE VIEW fleet_latency_hist AS
SELECT extract(_path, '/date=([0-9-]+)/') AS date,
    replaceOne(decodeURLComponent(extract(_path, '/host=([^/]+)/')), '__HIVE_DEFAULT_PARTITION__', '') AS host, *
FROM file('latency_hist/**/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;

-- Scheduling delay by 'host', 'kernel', 'cgroup', 'hour', or, with anything else, of the fleet.
CREATE OR REPLACE VIEW hist_by AS
WITH asked AS (
    SELECT multiIf({what:String} = 'host', host, {what:String} = 'kernel', ifNull(kernel, ''), {what:String} = 'cgroup', ifNull(cgroup, ''),
        {what:String} = 'hour', formatDateTime(toDateTime(intDiv(from_ns, 3600000000000) * 3600, 'UTC'), '%Y-%m-%d %H:00'), 'fleet') AS key,
        host, low_ns, high_ns, `count` AS nr, sum_ns, max_ns
    FROM fleet_latency_hist
    WHERE metric = if({what:String} = 'cgroup', 'cgroup_sched_delay', 'sched_delay') AND from_ns >= {since:Int64} * 1000000000
        AND ({until:Int64} = 0 OR from_ns < {until:Int64} * 1000000000)),
totals AS (
    SELECT key, uniqExact(host) AS hosts, sum(nr) AS waits, max(max_ns) AS longest_ns, sum(sum_ns) AS total_ns FROM asked GROUP BY key),
slots AS (
    SELECT key, low_ns, any(high_ns) AS end_ns, sum(nr) AS slot_nr FROM asked WHERE nr > 0 GROUP BY key, low_ns),
ranked AS (
    SELECT key, low_ns, end_ns, slot_nr, sum(slot_nr) OVER (PARTITION BY key) AS n,
        sum(slot_nr) OVER (PARTITION BY key ORDER BY low_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - slot_nr AS before
    FROM slots),
placed AS (
    SELECT key, low_ns, end_ns, slot_nr, before, intDiv(n * 5000 + 9999, 10000) AS rank50, intDiv(n * 9900 + 9999, 10000) AS rank99 FROM ranked),
found AS (
    SELECT key,
        maxIf(ifNull(least(low_ns + intDiv((rank50 - before) * (end_ns - low_ns), slot_nr), end_ns - 1), low_ns), rank50 > before AND rank50 <= before + slot_nr) AS at50,
        maxIf(ifNull(least(low_ns + intDiv((rank99 - before) * (end_ns - low_ns), slot_nr), end_ns - 1), low_ns), rank99 > before AND rank99 <= before + slot_nr) AS at99
    FROM placed GROUP BY key)
SELECT t.key AS key, t.hosts AS hosts, t.waits AS waits, if(t.longest_ns < f.at50, t.longest_ns, f.at50) AS p50_ns,
    if(t.longest_ns < f.at99, t.longest_ns, f.at99) AS p99_ns, t.longest_ns AS max_ns, t.total_ns AS total_ns
FROM totals t LEFT JOIN found f ON f.key = t.key;

-- The longest wait of each machine and interval, by cause, longest first, with the flight recorder's dump that shows it.
--   SELECT * FROM hist_worst_waits(since = 0, until = 0) LIMIT 20
CREATE OR REPLACE VIEW hist_worst_waits AS
SELECT host, max_ns AS wait_ns, fromUnixTimestamp64Nano(assumeNotNull(max_at_ns), 'UTC') AS ended, kind AS cause, max_comm AS comm,
    max_tid AS tid, max_cpu AS cpu, kernel, dump
FROM fleet_latency_hist
WHERE metric = 'sched_delay' AND max_ns IS NOT NULL AND from_ns >= {since:Int64} * 1000000000 AND ({until:Int64} = 0 OR from_ns < {until:Int64} * 1000000000)
ORDER BY wait_ns DESC, host, ended;

-- A rollout: as in duckdb-serve.sql, p of each host before and after, and the mean of the differences with the middle 95 % of the means of hosts drawn again.
-- Parameters: since, or label with old_value and new_value, or old_kernel and new_kernel; p in hundredths of a percent; draws.
--   SELECT * FROM hist_rollout(since = 1794974400, old_kernel = '', new_kernel = '', label = '', old_value = '', new_value = '', p = 9900, draws = 1000)
CREATE OR REPLACE VIEW hist_rollout AS
WITH sided AS (
    SELECT host, low_ns, high_ns, `count` AS nr, multiIf(
        {since:Int64} != 0 AND from_ns >= {since:Int64} * 1000000000, 1,
        {since:Int64} != 0 AND to_ns <= {since:Int64} * 1000000000, 0,
        {since:Int64} != 0, -1,
        {label:String} != '' AND JSONExtractString(ifNull(labels, ''), {label:String}) = {new_value:String}, 1,
        {label:String} != '' AND JSONExtractString(ifNull(labels, ''), {label:String}) = {old_value:String}, 0,
        {label:String} != '', -1,
        ifNull(kernel, '') = {new_kernel:String}, 1,
        ifNull(kernel, '') = {old_kernel:String}, 0, -1) AS is_after
    FROM fleet_latency_hist WHERE metric = 'sched_delay' AND host != '' AND nr > 0),
slots AS (
    SELECT host, is_after, low_ns, any(high_ns) AS end_ns, sum(nr) AS slot_nr FROM sided WHERE is_after >= 0 GROUP BY host, is_after, low_ns),
ranked AS (
    SELECT host, is_after, low_ns, end_ns, slot_nr,
        intDiv(sum(slot_nr) OVER (PARTITION BY host, is_after) * {p:Int64} + 9999, 10000) AS rank,
        sum(slot_nr) OVER (PARTITION BY host, is_after ORDER BY low_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - slot_nr AS before
    FROM slots),
hosts AS (
    SELECT host, is_after, toInt64(ifNull(least(low_ns + intDiv((rank - before) * (end_ns - low_ns), slot_nr), end_ns - 1), low_ns)) AS delay
    FROM ranked WHERE rank > before AND rank <= before + slot_nr),
pairs AS (
    SELECT b.host AS host, b.delay AS old_ns, a.delay AS new_ns
    FROM (SELECT * FROM hosts WHERE is_after = 0) b JOIN (SELECT * FROM hosts WHERE is_after = 1) a ON a.host = b.host
    ORDER BY host),
diffs AS (SELECT groupArray(new_ns - old_ns) AS list FROM pairs),
means AS (
    SELECT arrayAvg(arrayMap(pick -> list[1 + sipHash64(draw, pick) % length(list)], range(length(list)))) AS mean
    FROM diffs CROSS JOIN (SELECT number AS draw FROM numbers({draws:UInt64})) d WHERE length(list) > 0)
SELECT count() AS hosts, avg(old_ns) AS before_ns, avg(new_ns) AS after_ns, after_ns - before_ns AS diff_ns,
    (SELECT quantileExactInclusive(0.025)(mean) FROM means) AS low_ns, (SELECT quantileExactInclusive(0.975)(mean) FROM means) AS high_ns
FROM pairs;
