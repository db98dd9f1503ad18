/** Gives back what the first step got. The runner calls it at the end of the job, however that was. */
import { readFileSync } from "node:fs";
import { berth, fail, flags, state } from "./step.js";

const command = JSON.parse(state("command") || '["berth"]');
endRenewals();
const told = renewals();
if (state("kind") === "slot") {
  const who = flags("suffix", "run-id", "slots", "namespace", "prefix", "kubeconfig");
  const { status } = berth(command, ["slots", "release", state("slot"), ...who]);
  if (status === 77) fail("The slot was lost while the job ran: somebody else has it by now");
  if (status !== 0) fail(`The slot was not given back: berth ended with ${status}`);
}
if (state("kind") === "lease") {
  const token = { BERTH_LEASE_TOKEN: state("token") };
  const { status } = berth(command, ["release", state("lease"), ...flags("server")], token);
  if (status !== 0) fail(`The lease was not given back: berth ended with ${status}`);
}
if (/Cannot (?:go on|renew|send)/.test(told)) fail(`It was lost while the job ran. ${told}`);

function endRenewals() {
  try {
    process.kill(Number(state("pid")) || Number.NaN, "SIGTERM");
  } catch {
    // It has ended by itself: then its log says why.
  }
}

function renewals() {
  try {
    return readFileSync(state("log"), "utf8").trim();
  } catch {
    return "";
  }
}
