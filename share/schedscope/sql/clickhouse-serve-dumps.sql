-- Queries for ClickHouse over the dumps of 'schedscope serve --parquet DIR --keep ...'; after clickhouse-serve.sql, as duckdb-serve-dumps.sql.

CREATE OR REPLACE VIEW fleet_dumps AS
SELECT extract(_path, '/date=([0-9-]+)/') AS date,
    replaceOne(decodeURLComponent(extract(_path, '/host=([^/]+)/')), '__HIVE_DEFAULT_PARTITION__', '') AS host, *
FROM file('dumps/**/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;

-- As hist_worst_waits, with dumps that were not there yet when the interval ended: those of the task, begun within a minute of the wait.
--   SELECT * FROM hist_worst_waits_with_dumps(since = 0, until = 0)
CREATE OR REPLACE VIEW hist_worst_waits_with_dumps AS
WITH waits AS (
    SELECT *, toUnixTimestamp64Nano(ended) AS ended_ns FROM hist_worst_waits(since = {since:Int64}, until = {until:Int64})),
near AS (
    SELECT w.host AS host, w.tid AS tid, w.ended_ns AS ended_ns, argMin(d.name, abs(d.begun_ns - w.ended_ns)) AS name
    FROM (SELECT DISTINCT host, tid, ended_ns FROM waits) w JOIN fleet_dumps d ON d.host = w.host AND d.tid = w.tid
    WHERE abs(d.begun_ns - w.ended_ns) < 60000000000 GROUP BY host, tid, ended_ns)
SELECT w.host AS host, w.wait_ns AS wait_ns, w.ended AS ended, w.cause AS cause, w.comm AS comm, w.tid AS tid, w.cpu AS cpu, w.kernel AS kernel,
    coalesce(w.dump, nullIf(n.name, '')) AS dump
FROM waits w LEFT JOIN near n ON n.host = w.host AND n.tid = w.tid AND n.ended_ns = w.ended_ns
ORDER BY wait_ns DESC, host, ended;
