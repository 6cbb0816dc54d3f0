-- Queries for DuckDB over the dumps of 'schedscope serve --parquet DIR --keep ...'; after duckdb-serve.sql.

CREATE OR REPLACE VIEW dumps AS FROM serve_table('dumps');

-- As hist_worst_waits, with dumps that were not there yet when the interval ended: those of the task, begun within a minute of the wait.
CREATE OR REPLACE MACRO hist_worst_waits_with_dumps(since := NULL, until := NULL) AS TABLE
    SELECT w.* REPLACE (coalesce(w.dump, (
        SELECT arg_min(d.name, abs(d.begun_ns - epoch_ns(w.ended)))
        FROM dumps d WHERE d.host IS NOT DISTINCT FROM w.host AND d.tid = w.tid AND abs(d.begun_ns - epoch_ns(w.ended)) < 60000000000)) AS dump)
    FROM hist_worst_waits(since := since, until := until) w
    ORDER BY w.wait_ns DESC, w.host, w.ended;
