-- Queries for DuckDB over the blame of 'schedscope serve --parquet DIR --blame'; after duckdb-serve.sql.

CREATE OR REPLACE VIEW blame AS FROM serve_table('blame');

-- Who kept whom waiting: seconds of waiting per second that was looked at, on the hosts that have both.
CREATE OR REPLACE MACRO blame_by_cgroup(since := NULL, until := NULL) AS TABLE
WITH asked AS (SELECT * FROM blame WHERE is_asked(from_ns, since, until))
SELECT victim, culprit, count(DISTINCT host) AS hosts, sum(wait_ns)::BIGINT AS wait_ns,
    sum(wait_ns) / (SELECT nullif(sum(covered_ns), 0) FROM asked) AS waiting
FROM asked WHERE victim IS NOT NULL GROUP BY victim, culprit ORDER BY wait_ns DESC, victim, culprit;
