/** Where a server shows its leases to those who look with `kubectl`. */
import Type from "typebox";
import { mirrorLabelsMax, mirrorPrefixLengthMax } from "./limits.ts";

export const defaultMirrorPrefix = "berth";

export const Namespace = Type.String({
  title: "namespace",
  pattern: "^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$",
});

/** Short, so that the names that it begins keep some of what they are about. */
export const MirrorPrefix = Type.String({
  title: "prefix",
  pattern: `^[a-z](?:[a-z0-9-]{0,${mirrorPrefixLengthMax - 2}}[a-z0-9])?$`,
});

export const KubeLabelKey = Type.String({
  title: "Kubernetes label key",
  pattern:
    "^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$",
});

export const KubeLabelValue = Type.String({
  title: "Kubernetes label value",
  pattern: "^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$",
});

export const FilePath = Type.String({ title: "path", pattern: "^[^\\x00]{1,4096}$" });

/** How Kubernetes is found; those of `kubectl`. */
export const clusterFields = {
  kubeconfig: Type.Optional(
    Type.String({
      ...FilePath,
      description:
        "The kubeconfig to use; a relative path is relative to this file. Without it KUBECONFIG, ~/.kube/config, or the account of the pod " +
        "that the server runs in.",
      examples: ["/etc/berth/kubeconfig"],
    }),
  ),
  context: Type.Optional(
    Type.String({
      title: "context",
      pattern: "^[^\\x00-\\x1f\\x7f]{1,253}$",
      description: "A context of the kubeconfig other than its current one.",
      examples: ["ci"],
    }),
  ),
};

export const Mirror = Type.Object(
  {
    namespace: Type.String({
      ...Namespace,
      description: "Where the Lease objects are made. Best one that is used for nothing else.",
      examples: ["berth"],
    }),
    ...clusterFields,
    prefix: Type.Optional(
      Type.String({
        ...MirrorPrefix,
        description:
          "What the names of the objects begin with. Each server that mirrors into a namespace has " +
          "its own.",
        default: defaultMirrorPrefix,
      }),
    ),
    labels: Type.Optional(
      Type.Record(KubeLabelKey, KubeLabelValue, {
        title: "map of Kubernetes labels",
        description: "Labels that every object gets beside those of Berth's own.",
        additionalProperties: false,
        maxProperties: mirrorLabelsMax,
        examples: [{ team: "ci" }],
      }),
    ),
  },
  {
    title: "mirror",
    description:
      "Shows each claim as a Lease of coordination.k8s.io/v1, for people with kubectl. Lending does " +
      "not depend on it.",
    additionalProperties: false,
    examples: [{ namespace: "berth" }],
  },
);
