import type { CliCommand } from "../cli-command.ts";
import { slotsAcquire } from "./acquire.ts";
import { slotsCheckCapacity } from "./check-capacity.ts";
import { slotsCleanup } from "./cleanup.ts";
import { slotsManifests } from "./manifests.ts";
import { slotsRelease } from "./release.ts";
import { slotsRenew } from "./renew.ts";
import { slotsRun } from "./run.ts";
import { slotsStatus } from "./status.ts";

/** Slots on Kubernetes Leases: no server of ours, only rights on a namespace. */
export const slots: CliCommand = {
  subcommands: {
    run: {
      summary: "Run a command while holding a slot; give back however it ends",
      command: slotsRun,
    },
    acquire: { summary: "Wait for a slot and print its number", command: slotsAcquire },
    renew: {
      summary: "Keep a slot for another while, once or at an interval",
      command: slotsRenew,
    },
    release: {
      summary: "Give a slot back, so that the next in line can start",
      command: slotsRelease,
    },
    status: { summary: "Show who holds which slot, and who waits", command: slotsStatus },
    "check-capacity": {
      summary: "Tell whether another cluster fits; exits 75 if it does not",
      command: slotsCheckCapacity,
    },
    cleanup: {
      summary: "Remove what dead runs have left; find clusters without a slot",
      command: slotsCleanup,
    },
    manifests: {
      summary: "Print the accounts, roles and quota that all this needs",
      command: slotsManifests,
    },
  },
};
