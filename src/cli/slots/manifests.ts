import type { ManifestOptions } from "../../slots/manifests.ts";
import type { CliCommand } from "../cli-command.ts";
import { exitCodes } from "../exit-codes.ts";
import { CliError } from "../failure.ts";
import { flag, outputFlag } from "../flags.ts";
import { formatData } from "../show/listing.ts";
import { oneOf, wholeNumber } from "../values.ts";
import { type ClusterFlags, clusterKindOf, clusterOptions } from "./clusters.ts";
import { type SetFlags, setOptions, slotSetOf } from "./flags.ts";

interface Flags extends SetFlags, ClusterFlags {
  readonly quota?: number;
  readonly deleting?: number;
  readonly for?: Use;
  readonly output: "yaml" | "json";
}

const uses = ["slots", "mirror", "admission"] as const;
type Use = (typeof uses)[number];

const objectCount = wholeNumber(0, 100_000);

export const slotsManifests: CliCommand = {
  options: [
    ...setOptions(),
    ...clusterOptions(),
    flag("--deleting <n>", "clusters that may still be in deletion; default 2", objectCount),
    flag("--quota <n>", "maximum number of clusters; default: slots + deleting", objectCount),
    flag("--for <use>", `one of ${uses.join(", ")}; default slots`, oneOf<Use>(...uses)),
    outputFlag("yaml", "json"),
  ],
  help: `
Prints service accounts, roles and a quota: berth slots manifests --slots 6 | kubectl apply -f -
Refuses a quota smaller than the number of slots, because some holders could not create a cluster.
--for mirror prints what a server with mirror: in its configuration needs, --for admission what a
server with admission: of a pool needs.`,
  async run({ flags, print }) {
    const { output, for: use = "slots", ...rest } = flags<Flags>();
    const options = readOptions(rest);
    const made = await import("../../slots/manifests.ts");
    const objects = {
      slots: () => made.manifestsOf(options),
      mirror: () => made.mirrorManifestsOf(options.set.namespace),
      admission: () => made.admissionManifestsOf(options),
    }[use]();
    if (output === "json") {
      print(await formatData({ apiVersion: "v1", kind: "List", items: objects }, "json"));
      return undefined;
    }
    const documents = await Promise.all(objects.map((each) => formatData(each, "yaml")));
    print(documents.join("\n---\n"));
    return undefined;
  },
};

function readOptions(flags: Omit<Flags, "output" | "for">): ManifestOptions {
  const set = slotSetOf(flags);
  const { quota, deleting = 2 } = flags;
  if (quota !== undefined && quota < set.count) {
    const message = `Cannot make manifests: a quota of ${quota} clusters contradicts ${set.count} slots`;
    const hint = `Use --quota ${set.count} or more, or --slots ${quota} or fewer`;
    throw new CliError(message, hint, exitCodes.badConfiguration);
  }
  const spare = quota === undefined ? deleting : quota - set.count;
  return { set, kind: clusterKindOf(flags), deleting: spare };
}
