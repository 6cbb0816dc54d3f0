// Readers of Parquet that are not ours. Each has read(path): names of columns, and rows of texts or null; numbers as decimal texts.
import fs from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const text = (value) => (value === null || value === undefined ? null : String(value));

async function duckdb() {
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const db = await (await DuckDBInstance.create(":memory:")).connect();
  const ask = async (sql) => {
    const got = await db.runAndReadAll(sql);
    return { columns: got.columnNames(), rows: got.getRows().map((row) => row.map(text)) };
  };
  return {
    read: (path) => ask(`SELECT * FROM read_parquet('${path.replaceAll("'", "''")}', hive_partitioning = false)`),
    ask,
    run: (sql) => db.run(sql),
  };
}

async function hyparquet() {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import("hyparquet");
  const { compressors } = await import("hyparquet-compressors");
  return {
    async read(path) {
      const file = await asyncBufferFromFile(path);
      const metadata = await parquetMetadataAsync(file);
      const columns = metadata.schema.slice(1).map((element) => element.name);
      const rows = metadata.num_rows ? await parquetReadObjects({ file, metadata, compressors }) : [];
      return { columns, rows: rows.map((row) => columns.map((name) => text(row[name]))), metadata };
    },
  };
}

async function parquetWasm() {
  const wasm = require("parquet-wasm");
  const { tableFromIPC } = require("apache-arrow");
  return {
    async read(path) {
      const table = tableFromIPC(wasm.readParquet(new Uint8Array(fs.readFileSync(path))).intoIPCStream());
      const columns = table.schema.fields.map((field) => field.name);
      const vectors = columns.map((name) => table.getChild(name));
      const rows = Array.from({ length: table.numRows }, (_, i) => vectors.map((vector) => text(vector.get(i))));
      return { columns, rows };
    },
  };
}

async function chdb() {
  const { Session } = require("chdb");
  const session = new Session();
  const ask = (sql) => {
    const lines = session.query(sql, "JSONCompactStringsEachRowWithNames").split("\n").filter(Boolean).map((line) => JSON.parse(line));
    return { columns: lines[0] ?? [], rows: lines.slice(1).map((row) => row.map((value) => (value === "ᴺᵁᴸᴸ" ? null : value))) };
  };
  return {
    read: async (path) => ask(`SELECT * FROM file('${path.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}', Parquet) SETTINGS use_hive_partitioning = 0, max_threads = 1, input_format_parquet_preserve_order = 1`),
    ask,
    run: (sql) => session.query(sql),
  };
}

export const readers = { duckdb, hyparquet, "parquet-wasm": parquetWasm, chdb };

// Why chdb cannot run here; null if it can. packages.py installs it only where it can be loaded.
export function whyNoChdb() {
  try {
    require.resolve("chdb/package.json");
  } catch {
    return "chdb is published for x86-64 only, and wants the C++ library of GCC 13";
  }
  return null;
}
