/**
 * Builds the page when it is missing or older than what it is made from, so that `npm start` in a fresh
 * checkout shows it and nobody looks at yesterday's. An installed package brings it built.
 */
import { globSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("../", import.meta.url));
const built = new URL("dist/index.html", import.meta.url);

const sources = [
  ...["web/index.html", "web/vite.config.ts", "web/src/**/*.*", "package-lock.json"],
  ...["src/api/*.ts", "src/client/*.ts", "src/core/explain/*.ts", "src/core/model/*.ts"],
];

function modifiedMs(path: string | URL): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

const newestMs = globSync(sources, { cwd: root }).reduce(
  (newest, path) => Math.max(newest, modifiedMs(`${root}/${path}`)),
  0,
);

if (modifiedMs(built) < newestMs) {
  process.stderr.write("Building the page (npm run build:web) …\n");
  const configFile = fileURLToPath(new URL("vite.config.ts", import.meta.url));
  await build({ configFile, logLevel: "warn" });
}
