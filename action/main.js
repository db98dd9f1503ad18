/** Waits for a slot or a lease, and starts what keeps it alive. */
import { spawn } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";
import { berth, fail, findCommand, flags, input, privateFolder, tell } from "./step.js";

const command = await findCommand();
tell("GITHUB_STATE", "command", JSON.stringify(command));
if (input("pool") === undefined) holdSlot();
else holdLease();

function holdSlot() {
  const who = flags("suffix", "run-id", "slots", "namespace", "prefix", "kubeconfig");
  const args = ["slots", "acquire", "-o", "json", ...who, ...flags("timeout", "lease-duration")];
  const { status, stdout } = berth(command, args);
  if (status !== 0) fail(`No slot: berth slots acquire ended with ${status}`);
  const { slot, fence, identity } = JSON.parse(stdout);
  tell("GITHUB_STATE", "kind", "slot");
  tell("GITHUB_STATE", "slot", slot);
  tell("GITHUB_ENV", "BERTH_SLOT_ID", slot);
  tell("GITHUB_ENV", "BERTH_SLOT_FENCE", fence);
  tell("GITHUB_ENV", "BERTH_SLOT_HOLDER", identity);
  keep(["slots", "renew", String(slot), ...who]);
}

function holdLease() {
  const pools = input("pool").split(/\s+/);
  const wanted = pools.flatMap((pool) => ["--pool", pool]);
  const where = flags("server");
  const args = ["acquire", "-o", "json", ...wanted, ...where, ...flags("timeout", "ttl")];
  const { status, stdout } = berth(command, args);
  if (status !== 0) fail(`No lease: berth acquire ended with ${status}`);
  const lease = JSON.parse(stdout);
  console.log(`::add-mask::${lease.token}`);
  tell("GITHUB_STATE", "kind", "lease");
  tell("GITHUB_STATE", "lease", lease.id);
  tell("GITHUB_STATE", "token", lease.token);
  tell("GITHUB_OUTPUT", "lease_id", lease.id);
  tell("GITHUB_OUTPUT", "resources", lease.claims.map(({ resource }) => resource).join(" "));
  for (const [pool, claims] of Map.groupBy(lease.claims, (claim) => claim.pool)) {
    const name = pool.toUpperCase().replace(/[^A-Z0-9]/g, "_");
    tell("GITHUB_ENV", `BERTH_RESOURCE_${name}`, claims.map(({ resource }) => resource).join(" "));
  }
  keep(["heartbeat", lease.id, ...where], { BERTH_LEASE_TOKEN: lease.token });
}

/** Goes on after this step; the last step, or else the runner, ends it. */
function keep(args, env = {}) {
  const log = join(privateFolder(), "renewals.log");
  const stdio = ["ignore", "ignore", openSync(log, "a")];
  const every = ["--every", input("renew-every") ?? "2m"];
  const options = { detached: true, stdio, env: { ...process.env, ...env } };
  const [file, ...words] = command;
  const child = spawn(file, [...words, ...args, ...every], options);
  child.unref();
  tell("GITHUB_STATE", "pid", child.pid);
  tell("GITHUB_STATE", "log", log);
}
