// cases.mjs KNOWN.json [READER...]: each table of each recording by each reader, row for row as SQL has it; then the queries that ship. Prints TAP.
import fs from "node:fs";
import { readers, whyNoChdb } from "./readers.mjs";

const known = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
let number = 0;
let failed = 0;

async function check(name, run) {
  number += 1;
  try {
    await run();
    console.log(`ok ${number} - ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`not ok ${number} - ${name}\n# ${String(error.message ?? error).split("\n").join("\n# ")}`);
  }
}

function skip(name, why) {
  number += 1;
  console.log(`ok ${number} - ${name} # SKIP ${why}`);
}

function same(what, got, wanted) {
  const a = JSON.stringify(got);
  const b = JSON.stringify(wanted);
  if (a !== b) throw new Error(`${what}: ${a?.slice(0, 300)}, not ${b?.slice(0, 300)}`);
}

function compare(got, wanted) {
  same("columns", got.columns, wanted.columns);
  same("rows", got.rows.length, wanted.rows.length);
  for (let i = 0; i < wanted.rows.length; i++) same(`row ${i}`, got.rows[i], wanted.rows[i]);
}

// What row groups say of themselves, by the reader that shows it: the range of ts, and how many are null.
function checkStatistics(metadata, wanted) {
  const at = wanted.columns.indexOf("ts");
  if (at < 0 || !wanted.rows.length) return;
  const times = wanted.rows.map((row) => BigInt(row[at]));
  const groups = metadata.row_groups.map((group) => group.columns[at].meta_data.statistics);
  const least = groups.map((s) => s.min_value).reduce((a, b) => (a < b ? a : b));
  const most = groups.map((s) => s.max_value).reduce((a, b) => (a > b ? a : b));
  same("least ts", String(least), String(times.reduce((a, b) => (a < b ? a : b))));
  same("greatest ts", String(most), String(times.reduce((a, b) => (a > b ? a : b))));
  same("nulls", groups.map((s) => Number(s.null_count)).reduce((a, b) => a + b), 0);
}

function checkNotes(metadata, recording, table) {
  if (!recording.notes) return;
  const notes = Object.fromEntries(metadata.key_value_metadata.map(({ key, value }) => [key, value]));
  same("notes", { ...notes, ...recording.notes, "schedscope.table": table }, notes);
}

async function readTables(name, reader) {
  for (const recording of known.recordings) {
    await check(`${name} reads all tables of ${recording.name} as SQL has them`, async () => {
      for (const [table, { path, truth }] of Object.entries(recording.tables)) {
        const wanted = JSON.parse(fs.readFileSync(truth, "utf8"));
        const got = await reader.read(path);
        try {
          compare(got, wanted);
          if (got.metadata) {
            checkStatistics(got.metadata, wanted);
            checkNotes(got.metadata, recording, table);
          }
        } catch (error) {
          throw new Error(`${table}: ${error.message}`);
        }
      }
    });
  }
}

// Each query of known.queries has its answer, as worked out from 'schedscope query'; numbers with decimals to a relative 1e-9.
function compareAnswer(got, wanted) {
  same("columns", got.columns, wanted.columns);
  same("rows", got.rows.length, wanted.rows.length);
  wanted.rows.forEach((row, i) => row.forEach((value, k) => {
    const it = got.rows[i][k];
    const isNear = typeof value === "number" && Math.abs(Number(it) - value) <= Math.abs(value) * 1e-9;
    if (!isNear) same(`row ${i}, ${wanted.columns[k]}`, it, value === null ? null : String(value));
  }));
}

async function askQueries(name, engine, start, dialect) {
  await check(`${name} takes the views that ship`, start);
  for (const query of known.queries.filter((q) => q[dialect]))
    await check(`${name}: ${query.name}`, async () => compareAnswer(await engine.ask(query[dialect]), query.answer));
}

// Of known.alike: both engines give the same rows. What is not known is null or '' by the dialect.
async function askBoth({ duckdb, chdb }) {
  for (const query of known.alike)
    await check(`chdb has the rows of duckdb: ${query.name}`, async () => {
      const wanted = await duckdb.ask(query.duckdb);
      const got = await chdb.ask(query.clickhouse);
      for (const row of got.rows) row.forEach((value, k) => { if (value === "" && query.keys.includes(got.columns[k])) row[k] = null; });
      if (!wanted.rows.length) throw new Error("no rows");
      compare(got, wanted);
    });
}

const made = {};
const wanted = process.argv.slice(3);
for (const name of Object.keys(readers).filter((reader) => !wanted.length || wanted.includes(reader))) {
  if (name === "chdb" && whyNoChdb()) {
    skip("chdb reads all tables", whyNoChdb());
    continue;
  }
  await check(`${name} can be loaded`, async () => { made[name] = await readers[name](); });
  if (made[name]) await readTables(name, made[name]);
}
if (made.duckdb)
  await askQueries("duckdb", made.duckdb, async () => {
    await made.duckdb.run(`SET VARIABLE schedscope = '${known.dir}/'`);
    await made.duckdb.run(fs.readFileSync(known.duckdb, "utf8"));
  }, "duckdb");
if (made.chdb) {
  process.chdir(known.dir);
  await askQueries("chdb", made.chdb, async () => {
    const text = fs.readFileSync(known.clickhouse, "utf8").replace(/^--.*$/gm, "");
    for (const statement of text.split(/;\s*\n/).filter((part) => part.trim())) made.chdb.run(statement);
  }, "clickhouse");
}
if (made.duckdb && made.chdb) await askBoth(made);
console.log(`1..${number}`);
process.exit(failed ? 1 : 0);
