/** Hubs: API servers on which clusters are made. */
import Type from "typebox";
import { hubStates } from "../core/model/hub.ts";
import { templateLimits } from "./limits.ts";
import { Name } from "./schema-fields.ts";
import { clusterFields, KubeLabelKey, KubeLabelValue } from "./schema-mirror.ts";

const HubLabels = Type.Record(KubeLabelKey, KubeLabelValue, {
  title: "map of labels",
  description: "What is known about the hub. Templates choose hubs by it.",
  additionalProperties: false,
  maxProperties: 32,
  examples: [{ region: "us-east-1" }],
});

export const Hub = Type.Object(
  {
    ...clusterFields,
    limit: Type.Optional(
      Type.Integer({
        title: "whole number",
        description:
          "How many clusters of Berth there may be on it, from their planning until they are destroyed.",
        minimum: 0,
        maximum: templateLimits.clustersMax,
        examples: [900],
      }),
    ),
    labels: Type.Optional(HubLabels),
    state: Type.Optional(
      Type.Union(
        hubStates.map((state) => Type.Literal(state)),
        {
          title: "state",
          description:
            "cordoned: no new clusters. draining: those that nobody holds are also replaced elsewhere. " +
            "Operators can set the same with berth hubs.",
          default: "active",
        },
      ),
    ),
    foreign: Type.Optional({
      ...HubLabels,
      description:
        "Also shows the HostedClusters and ClusterDeployments with these labels that Berth has not " +
        "made. Without labels: all of them.",
      examples: [{ purpose: "test" }],
    }),
  },
  { title: "hub", description: "Where clusters are made.", additionalProperties: false },
);

export const Hubs = Type.Record(Name, Hub, {
  title: "map of hubs",
  description:
    "API servers on which clusters are made: each hub under its name. Templates refer to it.",
  additionalProperties: false,
  maxProperties: templateLimits.hubsMax,
});

/** The key of a template. */
export const HubChoice = Type.Union(
  [Type.Array(Name, { maxItems: templateLimits.hubsMax }), { ...HubLabels }],
  {
    title: "hubs",
    description:
      "Where the clusters may be made, instead of kubeconfig: names of hubs, or labels that they must have. " +
      "Without labels ({}): every hub.",
    examples: [["hub-east", "hub-west"], { region: "us-east-1" }],
  },
);
