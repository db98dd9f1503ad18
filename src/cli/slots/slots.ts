import type { CliCommand } from "../cli-command.ts";
import { slotsAcquire } from "./acquire.ts";
import { slotsCheckCapacity } from "./check-capacity.ts";
import { slotsCleanup } from "./cleanup.ts";
import { slotsManifests } from "./manifests.ts";
import { slotsRelease } from "./release.ts";
import { slotsRenew } from "./renew.ts";
import { slotsRun } from "./run.ts";
import { slotsStatus } from "./status.ts";

/** Slots on Kubernetes Leases. They need no Berth server, only rights in a namespace. */
export const slots: CliCommand = {
  subcommands: {
    run: {
      summary: "Run a command while holding a slot; release it when the command exits",
      command: slotsRun,
    },
    acquire: { summary: "Wait for a slot and print its number", command: slotsAcquire },
    renew: {
      summary: "Renew a slot, once or at an interval",
      command: slotsRenew,
    },
    release: {
      summary: "Release a slot, so that the next in the queue can start",
      command: slotsRelease,
    },
    status: { summary: "Show slots, holders and the queue", command: slotsStatus },
    "check-capacity": {
      summary: "Check whether another cluster fits; exit 75 if it does not",
      command: slotsCheckCapacity,
    },
    cleanup: {
      summary: "Remove leftovers of dead runs; find clusters without a slot",
      command: slotsCleanup,
    },
    manifests: {
      summary: "Print the service accounts, roles and quota that slots need",
      command: slotsManifests,
    },
  },
};
