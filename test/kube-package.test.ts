import { expect, test } from "vitest";
import { Process } from "./cli-processes.ts";

/** Counts the generated files that a process loads with the package. */
const countGenerated = `
  import { registerHooks } from "node:module";
  let count = 0;
  registerHooks({
    load(url, context, next) {
      if (/client-node\\/dist\\/gen\\/(models|apis)\\//.test(url)) count += 1;
      return next(url, context);
    },
  });
  await LOAD;
  console.log(count);`;

const ours = new URL("../src/kubernetes/kube-package.ts", import.meta.url).href;

async function countOf(load: string): Promise<number> {
  const args = ["--input-type=module", "-e", countGenerated.replace("LOAD", load)];
  const started = new Process(process.execPath, args, process.env);
  expect(await started.ended).toBe(0);
  return Number(started.stdout);
}

test("loadKubePackage() loads none of the hundreds of generated files", async () => {
  expect(await countOf(`(await import("${ours}")).loadKubePackage()`)).toBe(0);
  expect(await countOf('import("@kubernetes/client-node")')).toBeGreaterThan(500);
});
