import type { CliCommand } from "./cli-command.ts";
import { slotsAcquire } from "./slots-acquire.ts";
import { slotsCheckCapacity } from "./slots-check-capacity.ts";
import { slotsCleanup } from "./slots-cleanup.ts";
import { slotsManifests } from "./slots-manifests.ts";
import { slotsRelease } from "./slots-release.ts";
import { slotsRenew } from "./slots-renew.ts";
import { slotsRun } from "./slots-run.ts";
import { slotsStatus } from "./slots-status.ts";

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
