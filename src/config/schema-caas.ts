/** API servers on which Berth serves the objects of others: instances of cluster templates, and spaces. */
import Type from "typebox";
import { frontsMax, servedNamesMax } from "./limits.ts";
import { Name } from "./schema-fields.ts";
import { clusterFields, Namespace } from "./schema-mirror.ts";

export const Front = Type.Object(
  {
    ...clusterFields,
    clusterTemplates: Type.Optional(
      Type.Record(Name, Name, {
        title: "map of cluster templates to pools",
        description:
          "The ClusterTemplates that are published, and the pool of each. A ClusterTemplateInstance becomes a request in its pool.",
        additionalProperties: false,
        maxProperties: servedNamesMax,
        examples: [{ "hypershift-aws-cluster": "ocp-4.20" }],
      }),
    ),
    spaceRequests: Type.Optional(
      Type.Record(Name, Name, {
        title: "map of tiers to pools",
        description: "The tiers of SpaceRequests, and the pool of each.",
        additionalProperties: false,
        maxProperties: servedNamesMax,
        examples: [{ "appstudio-env": "namespaces" }],
      }),
    ),
    namespaceClaims: Type.Optional({
      ...Name,
      description: "The pool of the claims Namespace of eaas.konflux-ci.dev.",
      examples: ["namespaces"],
    }),
    namespaces: Type.Optional(
      Type.Array(Namespace, {
        description: "Only objects in these namespaces are served. Without it: in all.",
        minItems: 1,
        maxItems: servedNamesMax,
        examples: [["team-a", "team-b"]],
      }),
    ),
  },
  {
    title: "API server to serve",
    description: "An API server whose objects are requests of Berth.",
    additionalProperties: false,
  },
);

export const Caas = Type.Record(Name, Front, {
  title: "map of API servers to serve",
  description:
    "Serves ClusterTemplateInstances, SpaceRequests and claims for namespaces: each is a request in the space of " +
    "its namespace. The name of an API server must not change while it has objects. Two installations of Berth " +
    "that serve the same API server need two names.",
  additionalProperties: false,
  maxProperties: frontsMax,
  examples: [{ tenants: { clusterTemplates: { "hypershift-aws-cluster": "ocp-4.20" } } }],
});
