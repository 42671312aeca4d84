// Runs the inspector's command line once for every line of standard input, which has its arguments as a JSON list. What it
// prints for each ends with a line of one zero byte. One process does it all, since most of the time is its start.
import { createInterface } from "node:readline";
import { handleError, runCli } from "@modelcontextprotocol/inspector/clients/cli/build/index.js";

for await (const line of createInterface({ input: process.stdin })) {
  try {
    await runCli(["node", "mcp-inspector", ...JSON.parse(line)]);
  } catch (error) {
    await handleError(error); // ends the process
  }
  process.stdout.write("\n\0\n");
}
