-- Views for DuckDB over what 'schedscope export --parquet DIR FILE...' has written. In DIR:
--   duckdb -init /usr/share/schedscope/sql/duckdb.sql
-- or, from anywhere, SET VARIABLE schedscope = '/path/of/DIR/'; before. Columns: docs/parquet.md. Times are nanoseconds.
--
-- A row of a recording is found by host, capture and its number. A day or host that a recording does not tell is null, so rows are
-- joined by IS NOT DISTINCT FROM.

SET VARIABLE schedscope = coalesce(getvariable('schedscope'), '');

CREATE OR REPLACE MACRO schedscope_table(name) AS TABLE
    SELECT * FROM read_parquet(getvariable('schedscope') || name || '/**/*.parquet', union_by_name = true,
        hive_partitioning = true, hive_types = {'date': DATE, 'host': VARCHAR});

CREATE OR REPLACE VIEW trace AS FROM schedscope_table('trace');
CREATE OR REPLACE VIEW thread AS FROM schedscope_table('thread');
CREATE OR REPLACE VIEW process AS FROM schedscope_table('process');
CREATE OR REPLACE VIEW cgroup AS FROM schedscope_table('cgroup');
CREATE OR REPLACE VIEW sched_slice AS FROM schedscope_table('sched_slice');
CREATE OR REPLACE VIEW wait AS FROM schedscope_table('wait');
CREATE OR REPLACE VIEW wait_part AS FROM schedscope_table('wait_part');
CREATE OR REPLACE VIEW sleep AS FROM schedscope_table('sleep');
CREATE OR REPLACE VIEW wakeup AS FROM schedscope_table('wakeup');
CREATE OR REPLACE VIEW migration AS FROM schedscope_table('migration');
CREATE OR REPLACE VIEW throttle AS FROM schedscope_table('throttle');
CREATE OR REPLACE VIEW counter AS FROM schedscope_table('counter');
CREATE OR REPLACE VIEW pmu AS FROM schedscope_table('pmu');
CREATE OR REPLACE VIEW span AS FROM schedscope_table('span');
CREATE OR REPLACE VIEW idle AS FROM schedscope_table('idle');
CREATE OR REPLACE VIEW gap AS FROM schedscope_table('gap');
CREATE OR REPLACE VIEW sample AS FROM schedscope_table('sample');
CREATE OR REPLACE VIEW stack AS FROM schedscope_table('stack');

-- Waits that ended, with what the recording says of the machine, the path of the cgroup, and the wall clock at which the wait began.
CREATE OR REPLACE VIEW fleet_wait AS
SELECT w.*, t.kernel, t.machine, t.boot_id, c.path AS cgroup, t.unix_start_ns + (w.ts - t.start_ts) AS unix_ns
FROM wait w
JOIN trace t ON w.capture = t.capture AND w.host IS NOT DISTINCT FROM t.host AND w.date IS NOT DISTINCT FROM t.date
LEFT JOIN cgroup c ON w.capture = c.capture AND w.host IS NOT DISTINCT FROM c.host AND w.date IS NOT DISTINCT FROM c.date
    AND w.cgroup_id = c.cgroup_id
WHERE w.is_open = 0;

-- Scheduling delay: percentiles are exact, by nearest rank, as those of 'schedscope analyze'.
CREATE OR REPLACE VIEW delay_by_host AS
SELECT host, count(*) AS waits, quantile_disc(dur, 0.5) AS p50_ns, quantile_disc(dur, 0.99) AS p99_ns, max(dur) AS max_ns,
    sum(dur)::BIGINT AS total_ns
FROM fleet_wait GROUP BY host ORDER BY p99_ns DESC;

CREATE OR REPLACE VIEW delay_by_cgroup AS
SELECT cgroup, count(DISTINCT host) AS hosts, count(*) AS waits, quantile_disc(dur, 0.5) AS p50_ns, quantile_disc(dur, 0.99) AS p99_ns,
    max(dur) AS max_ns, sum(dur)::BIGINT AS total_ns
FROM fleet_wait GROUP BY cgroup ORDER BY total_ns DESC;

CREATE OR REPLACE VIEW delay_by_kernel AS
SELECT kernel, count(DISTINCT host) AS hosts, count(*) AS waits, quantile_disc(dur, 0.5) AS p50_ns, quantile_disc(dur, 0.99) AS p99_ns,
    max(dur) AS max_ns, sum(dur)::BIGINT AS total_ns
FROM fleet_wait GROUP BY kernel ORDER BY kernel;

-- The longest waits of the fleet, each with what it was for most of the time.
CREATE OR REPLACE VIEW worst_waits AS
WITH worst AS (SELECT * FROM fleet_wait ORDER BY dur DESC, host, capture, id LIMIT 100),
causes AS (
    SELECT p.host, p.date, p.capture, p.wait_id, p.kind, p.culprit, sum(p.dur)::BIGINT AS dur
    FROM wait_part p
    SEMI JOIN worst w ON p.capture = w.capture AND p.host IS NOT DISTINCT FROM w.host AND p.date IS NOT DISTINCT FROM w.date
        AND p.wait_id = w.id
    GROUP BY ALL)
SELECT w.host, w.date, w.capture, w.id, w.dur, w.ts, w.unix_ns, w.comm, w.tid, w.cpu, w.cause, w.cgroup, w.kernel,
    c.kind AS mostly, c.culprit, c.dur AS mostly_ns
FROM worst w
LEFT JOIN causes c ON c.capture = w.capture AND c.host IS NOT DISTINCT FROM w.host AND c.date IS NOT DISTINCT FROM w.date
    AND c.wait_id = w.id
QUALIFY row_number() OVER (PARTITION BY w.host, w.date, w.capture, w.id ORDER BY c.dur DESC, c.kind, c.culprit) = 1
ORDER BY w.dur DESC, w.host, w.capture, w.id;

-- A rollout: a percentile of the delay of each host before and after, and the mean of the differences over the hosts that have both, with
-- an interval: the middle 95 % of the means of as many hosts drawn again, with replacement (bootstrap; the host is the unit). The
-- draws are the same each time. An interval that holds 0 shows no difference.
--   FROM rollout(since := TIMESTAMP '2026-11-18 12:00:00'); before and after a moment, UTC
--   FROM rollout(old_kernel := '6.1.0-28-amd64', new_kernel := '6.12.9-amd64'); two kernels
CREATE OR REPLACE MACRO rollout(since := NULL, old_kernel := NULL, new_kernel := NULL, p := 0.99, draws := 1000) AS TABLE
WITH sided AS (
    SELECT host, dur, CASE
        WHEN since IS NOT NULL THEN unix_ns >= epoch_ns(since::TIMESTAMP_NS)
        WHEN kernel = new_kernel THEN true
        WHEN kernel = old_kernel THEN false END AS is_after
    FROM fleet_wait WHERE host IS NOT NULL),
hosts AS (
    SELECT host, is_after, quantile_disc(dur, p) AS delay FROM sided WHERE is_after IS NOT NULL GROUP BY host, is_after),
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
