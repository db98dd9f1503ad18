/** Prints demo/berth.yaml. */
import { demoConfig, demoPools } from "./shape.ts";

process.stdout.write(demoConfig(demoPools()));
