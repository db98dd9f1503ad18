/** `node src/config/print-schema.ts > examples/berth.schema.json` after a change of the schema. */
import { configJsonSchema } from "./schema.ts";

process.stdout.write(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
