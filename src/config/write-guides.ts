/** `node src/config/write-guides.ts` after a change of the fields of a policy. */
import { readFileSync, writeFileSync } from "node:fs";
import { withFieldTables } from "./guide-tables.ts";

for (const guide of ["configuration.md", "install-leases.md"]) {
  const file = new URL(`../../docs/guides/${guide}`, import.meta.url);
  writeFileSync(file, withFieldTables(readFileSync(file, "utf8"), guide));
}
