-- Queries for DuckDB over what 'schedscope serve --parquet DIR' has written on many machines. In DIR:
--   duckdb -init /usr/share/schedscope/sql/duckdb-serve.sql
-- or, from anywhere, SET VARIABLE schedscope = '/path/of/DIR/'; before. Columns: docs/parquet.md. Times are nanoseconds. Where machines run with --blame or
-- --keep, .read duckdb-serve-blame.sql and duckdb-serve-dumps.sql as well: DuckDB wants the files of a table to be there.
--
-- All take since and until, in UTC: FROM hist_by_host(since := TIMESTAMP '2026-11-18 12:00:00'); intervals that begin then or later, and before
-- until, are counted. Percentiles are by nearest rank, within a slot of the histogram by proportion, as those of 'schedscope stat'.

SET VARIABLE schedscope = coalesce(getvariable('schedscope'), '');

-- Not union_by_name: that keeps the footers of all files in memory, some 30 kB each. Where versions of schedscope with more columns are mixed, put
-- them into one file per hour with it (docs/fleet.md).
CREATE OR REPLACE MACRO serve_table(name) AS TABLE
    SELECT * REPLACE (date::DATE AS date)
    FROM read_parquet(getvariable('schedscope') || name || '/**/*.parquet', hive_partitioning = true, hive_types_autocast = false);

CREATE OR REPLACE VIEW latency_hist AS FROM serve_table('latency_hist');

-- Whether an interval that begins at from_ns is asked for.
CREATE OR REPLACE MACRO is_asked(from_ns, since, until) AS
    (since IS NULL OR from_ns >= epoch_ns(since::TIMESTAMP_NS)) AND (until IS NULL OR from_ns < epoch_ns(until::TIMESTAMP_NS));

-- A percentile that lies in a slot: p in hundredths of a percent, of n in all, of which before are in lower slots.
CREATE OR REPLACE MACRO is_in_slot(p, n, before, count) AS (n * p + 9999) // 10000 > before AND (n * p + 9999) // 10000 <= before + count;
CREATE OR REPLACE MACRO slot_value(p, n, before, count, low_ns, high_ns) AS
    CASE WHEN high_ns IS NULL THEN low_ns
    ELSE least(low_ns + ((n * p + 9999) // 10000 - before) * (high_ns - low_ns) // count, high_ns - 1) END::BIGINT;

-- Scheduling delay by 'host', 'kernel', 'cgroup', 'hour' or, with anything else, of the fleet. The maximum is that of whole machines.
CREATE OR REPLACE MACRO hist_by(what, since := NULL, until := NULL) AS TABLE
WITH asked AS NOT MATERIALIZED (
    SELECT CASE what WHEN 'host' THEN host WHEN 'kernel' THEN kernel WHEN 'cgroup' THEN cgroup
        WHEN 'hour' THEN strftime(make_timestamp(from_ns // 3600000000000 * 3600000000), '%Y-%m-%d %H:00') ELSE 'fleet' END AS key,
        host, low_ns, high_ns, count, sum_ns, max_ns
    FROM latency_hist
    WHERE metric = CASE what WHEN 'cgroup' THEN 'cgroup_sched_delay' ELSE 'sched_delay' END
        AND (since IS NULL OR date >= since::DATE - 1) AND (until IS NULL OR date <= until::DATE) AND is_asked(from_ns, since, until)),
totals AS (
    SELECT key, count(DISTINCT host) AS hosts, sum(count)::BIGINT AS waits, max(max_ns) AS max_ns, sum(sum_ns)::BIGINT AS total_ns
    FROM asked GROUP BY key),
slots AS (
    SELECT key, low_ns, any_value(high_ns) AS high_ns, sum(count)::BIGINT AS count FROM asked WHERE count > 0 GROUP BY key, low_ns),
ranked AS (
    SELECT *, (sum(count) OVER (PARTITION BY key))::BIGINT AS n, (sum(count) OVER (PARTITION BY key ORDER BY low_ns))::BIGINT - count AS before
    FROM slots),
found AS (
    SELECT key, max(slot_value(5000, n, before, count, low_ns, high_ns)) FILTER (is_in_slot(5000, n, before, count)) AS p50_ns,
        max(slot_value(9900, n, before, count, low_ns, high_ns)) FILTER (is_in_slot(9900, n, before, count)) AS p99_ns
    FROM ranked GROUP BY key)
SELECT t.key, t.hosts, t.waits, least(f.p50_ns, t.max_ns) AS p50_ns, least(f.p99_ns, t.max_ns) AS p99_ns, t.max_ns, t.total_ns
FROM totals t LEFT JOIN found f ON f.key IS NOT DISTINCT FROM t.key;

CREATE OR REPLACE MACRO hist_fleet(since := NULL, until := NULL) AS TABLE
    SELECT * EXCLUDE (key) FROM hist_by('fleet', since := since, until := until);
CREATE OR REPLACE MACRO hist_by_host(since := NULL, until := NULL) AS TABLE
    SELECT key AS host, * EXCLUDE (key, hosts) FROM hist_by('host', since := since, until := until) ORDER BY p99_ns DESC, host;
CREATE OR REPLACE MACRO hist_by_kernel(since := NULL, until := NULL) AS TABLE
    SELECT key AS kernel, * EXCLUDE (key) FROM hist_by('kernel', since := since, until := until) ORDER BY kernel;
CREATE OR REPLACE MACRO hist_by_cgroup(since := NULL, until := NULL) AS TABLE
    SELECT key AS cgroup, * EXCLUDE (key, max_ns) FROM hist_by('cgroup', since := since, until := until) ORDER BY total_ns DESC, cgroup;
CREATE OR REPLACE MACRO hist_by_hour(since := NULL, until := NULL) AS TABLE
    SELECT key AS hour, * EXCLUDE (key) FROM hist_by('hour', since := since, until := until) ORDER BY hour;

-- The longest wait of each machine and interval, by cause, longest first, with the flight recorder's dump that shows it.
CREATE OR REPLACE MACRO hist_worst_waits(since := NULL, until := NULL) AS TABLE
    SELECT host, max_ns AS wait_ns, make_timestamp(max_at_ns // 1000) AS ended, kind AS cause, max_comm AS comm, max_tid AS tid, max_cpu AS cpu, kernel,
        dump
    FROM latency_hist WHERE metric = 'sched_delay' AND max_ns IS NOT NULL AND is_asked(from_ns, since, until)
    ORDER BY wait_ns DESC, host, ended;

-- A rollout: a percentile (p in hundredths of a percent) of each host before and after, and the mean of the differences over the hosts that have both,
-- with an interval: the middle 95 % of the means of as many hosts drawn again, with replacement (bootstrap; the host is the unit). The draws are the
-- same each time. An interval that holds 0 shows no difference. What is before and what after:
--   FROM hist_rollout(since := TIMESTAMP '2026-11-18 12:00:00'); a moment, UTC; intervals in which it lies are left out
--   FROM hist_rollout(old_kernel := '6.1.0-28-amd64', new_kernel := '6.12.9-amd64'); two kernels
--   FROM hist_rollout(label := 'build', old_value := '41', new_value := '42'); two values of 'serve --metadata build=...'
CREATE OR REPLACE MACRO hist_rollout(since := NULL, old_kernel := NULL, new_kernel := NULL, label := NULL, old_value := NULL, new_value := NULL,
    p := 9900, draws := 1000) AS TABLE
WITH sided AS (
    SELECT host, low_ns, high_ns, count, CASE
        WHEN since IS NOT NULL THEN CASE WHEN from_ns >= epoch_ns(since::TIMESTAMP_NS) THEN true WHEN to_ns <= epoch_ns(since::TIMESTAMP_NS) THEN false END
        WHEN label IS NOT NULL THEN CASE json_extract_string(labels, '$."' || label || '"') WHEN new_value THEN true WHEN old_value THEN false END
        WHEN kernel = new_kernel THEN true
        WHEN kernel = old_kernel THEN false END AS is_after
    FROM latency_hist WHERE metric = 'sched_delay' AND host IS NOT NULL AND count > 0),
slots AS (
    SELECT host, is_after, low_ns, any_value(high_ns) AS high_ns, sum(count)::BIGINT AS count FROM sided WHERE is_after IS NOT NULL
    GROUP BY host, is_after, low_ns),
ranked AS (
    SELECT *, (sum(count) OVER (PARTITION BY host, is_after))::BIGINT AS n,
        (sum(count) OVER (PARTITION BY host, is_after ORDER BY low_ns))::BIGINT - count AS before
    FROM slots),
hosts AS (SELECT host, is_after, slot_value(p, n, before, count, low_ns, high_ns) AS delay FROM ranked WHERE is_in_slot(p, n, before, count)),
pairs AS (
    SELECT row_number() OVER (ORDER BY b.host) - 1 AS number, b.delay AS before_ns, a.delay AS after_ns
    FROM hosts b JOIN hosts a ON a.host = b.host AND a.is_after AND NOT b.is_after),
picks AS (
    SELECT draw, unnest(range((SELECT count(*) FROM pairs))) AS pick FROM (SELECT unnest(range(draws)) AS draw)),
means AS (
    SELECT k.draw, avg(r.after_ns - r.before_ns) AS diff
    FROM picks k JOIN pairs r ON r.number = hash(k.draw, k.pick) % (SELECT count(*) FROM pairs)
    GROUP BY k.draw)
SELECT count(*) AS hosts, avg(before_ns) AS before_ns, avg(after_ns) AS after_ns, avg(after_ns - before_ns) AS diff_ns,
    (SELECT quantile_cont(diff, 0.025) FROM means) AS low_ns, (SELECT quantile_cont(diff, 0.975) FROM means) AS high_ns
FROM pairs;
