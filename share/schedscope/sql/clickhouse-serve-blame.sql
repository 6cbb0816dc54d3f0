-- Queries for ClickHouse over the blame of 'schedscope serve --parquet DIR --blame'; as duckdb-serve-blame.sql.

CREATE OR REPLACE VIEW fleet_blame AS
SELECT extract(_path, '/date=([0-9-]+)/') AS date,
    replaceOne(decodeURLComponent(extract(_path, '/host=([^/]+)/')), '__HIVE_DEFAULT_PARTITION__', '') AS host, *
FROM file('blame/**/*.parquet', Parquet) SETTINGS use_hive_partitioning = 0;

-- Who kept whom waiting: seconds of waiting per second that was looked at, on the hosts that have both.
--   SELECT * FROM blame_by_cgroup(since = 0, until = 0)
CREATE OR REPLACE VIEW blame_by_cgroup AS
WITH asked AS (
    SELECT host, victim, culprit, wait_ns, covered_ns FROM fleet_blame
    WHERE from_ns >= {since:Int64} * 1000000000 AND ({until:Int64} = 0 OR from_ns < {until:Int64} * 1000000000))
SELECT victim, culprit, uniqExactIf(host, host != '') AS hosts, sum(asked.wait_ns) AS wait_ns,
    wait_ns / (SELECT nullIf(sum(covered_ns), 0) FROM asked) AS waiting
FROM asked WHERE victim IS NOT NULL GROUP BY victim, culprit ORDER BY wait_ns DESC, victim, culprit;
