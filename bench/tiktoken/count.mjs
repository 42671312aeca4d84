// Counts the texts of a JSON file with npm tiktoken: node count.mjs ENCODING FILE
//
// Prints the milliseconds of one pass over all of them, after one that warms up, and for each text
// the number of its tokens and a checksum over them.
import { readFileSync } from "node:fs";
import { get_encoding } from "tiktoken";

const [name, file] = process.argv.slice(2);
const texts = JSON.parse(readFileSync(file, "utf8"));
const encoding = get_encoding(name);

const results = texts.map((text) => {
  const tokens = encoding.encode_ordinary(text);
  return { count: tokens.length, sum: tokens.reduce((sum, token) => (Math.imul(sum, 31) + token) >>> 0, 0) };
});

const start = performance.now();
let total = 0;
for (const text of texts) {
  total += encoding.encode_ordinary(text).length;
}
const ms = performance.now() - start;

console.log(JSON.stringify({ ms, total, results }));
