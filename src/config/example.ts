import { fileURLToPath } from "node:url";

/** Served when no configuration is named. The path is right from `src/config` and from `dist/config`. */
export const exampleConfigPath = fileURLToPath(
  new URL("../../examples/berth.yaml", import.meta.url),
);
