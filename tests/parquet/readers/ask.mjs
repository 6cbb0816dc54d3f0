// ask.mjs ENGINE <WORK.json: the answers of an engine to queries, as JSON. WORK: dir, where the files are; sql, files of statements to begin with; queries.
import fs from "node:fs";
import { readers } from "./readers.mjs";

const work = JSON.parse(fs.readFileSync(0, "utf8"));
const engine = await readers[process.argv[2]]();
process.chdir(work.dir);
for (const path of work.sql ?? []) {
  const text = fs.readFileSync(path, "utf8");
  if (process.argv[2] === "duckdb") await engine.run(text);
  else for (const statement of text.replace(/^--.*$/gm, "").split(/;\s*\n/).filter((part) => part.trim())) engine.run(statement);
}
const answers = [];
for (const query of work.queries) {
  const begin = process.hrtime.bigint();
  try {
    const answer = await engine.ask(query);
    answers.push({ ...answer, ms: Number(process.hrtime.bigint() - begin) / 1e6 });
  } catch (error) {
    answers.push({ error: String(error.message ?? error) });
  }
}
// What is handed over stays in one process: its peak is that of the engine.
const text = JSON.stringify({ answers, peak_mb: process.resourceUsage().maxRSS / 1024 });
// Engines keep threads, so it is ended by hand: not before a pipe has taken all.
process.stdout.write(`${text}\n`, () => process.exit(0));
