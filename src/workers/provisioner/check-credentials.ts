/** Tries out the credentials that spaces want to store, where the driver can do that. */
import { pause } from "../../client/pause.ts";
import { DriverError, Hopeless } from "../../drivers/driver.ts";
import type { CheckResult, CredentialCheck } from "./cluster-work.ts";
import { MissingDependency } from "./credentials.ts";
import type { SweepTools } from "./lent-access.ts";

/** How often it looks whether there is a template now whose driver can do it. */
const idleMs = 2_000;
const retryMs = 15_000;

export async function checkCredentials(
  tools: SweepTools,
  signal: AbortSignal,
  retrying: (cause: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    if (!tools.archive.current.some(({ validates }) => validates)) {
      await pause(idleMs, signal).catch(() => {});
      continue;
    }
    try {
      const check = await tools.work.takeCheck(signal);
      if (check !== undefined)
        await tools.work.answerCheck(check, await tried(tools, check, signal));
    } catch (cause) {
      if (signal.aborted) return;
      retrying(cause);
      await pause(retryMs, signal).catch(() => {});
    }
  }
}

/** Only a driver that says "hopeless" refuses them: a cloud that is down says nothing about a key. */
async function tried(
  { archive, drivers, calls }: SweepTools,
  { template, values }: CredentialCheck,
  signal: AbortSignal,
): Promise<CheckResult> {
  const spec = archive.current.find(({ name }) => name === template);
  if (spec === undefined) return { verdict: "unknown", why: `there is no template ${template}` };
  try {
    const driver = await drivers.openTemplate(spec, { own: values, hub: spec.hubs?.[0] });
    await calls.run(async () => driver.validate?.(spec, { signal }));
    return { verdict: "valid", why: "" };
  } catch (error) {
    if (!(error instanceof DriverError || error instanceof MissingDependency)) throw error;
    return { verdict: error instanceof Hopeless ? "refused" : "unknown", why: error.message };
  }
}
