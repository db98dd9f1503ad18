import { fileURLToPath } from "node:url";

/** Served when no configuration is named. `dist/config` is as far from it as `src/config` is. */
export const exampleConfigPath = fileURLToPath(
  new URL("../../examples/berth.yaml", import.meta.url),
);
