import type { TString } from "typebox";
import { Compile } from "typebox/compile";
import { Dimension } from "./capacity-schema.ts";
import {
  janitorTextLengthMax,
  labelKeyLengthMax,
  labelValueLengthMax,
  mirrorPrefixLengthMax,
  nameLengthMax,
  stateLengthMax,
} from "./limits.ts";
import { LabelKey, LabelValue } from "./schema.ts";
import { KindText, TaintText } from "./schema-admission.ts";
import { Name, StateName } from "./schema-fields.ts";
import { UserDataKey, VariableName, Word } from "./schema-janitor.ts";
import {
  clusterFields,
  FilePath,
  KubeLabelKey,
  KubeLabelValue,
  MirrorPrefix,
  Namespace,
} from "./schema-mirror.ts";
import type { Expected, TextKind } from "./yaml-scalars.ts";

const start = "start with a letter or digit, then letters, digits";

export const nameKind = kindOf(Name, {
  title: "name",
  hint: `${start}, . _ or -; at most ${nameLengthMax}`,
});

export const stateKind = kindOf(StateName, {
  title: "state",
  hint: `${start}, . _ or -; at most ${stateLengthMax}`,
});

export const labelKeyKind = kindOf(LabelKey, {
  title: "label key",
  hint: `${start}, . _ / or -; at most ${labelKeyLengthMax}`,
});

export const labelValueKind = kindOf(LabelValue, {
  title: "label value",
  hint: `write text on one line, at most ${labelValueLengthMax} characters`,
});

export const wordKind = kindOf(Word, {
  title: "text",
  hint: `write text of at most ${janitorTextLengthMax} characters`,
});

export const variableNameKind = kindOf(VariableName, {
  title: "variable name",
  hint: "use letters, digits and _; names that begin with BERTH_ are Berth's own",
});

export const userDataKeyKind = kindOf(UserDataKey, {
  title: "user data key",
  hint: "write the key on one line, at most 253 characters",
});

export const dimensionKind = kindOf(Dimension, {
  title: "dimension",
  hint: "start with a letter, then letters, digits, . _ or -; at most 63",
});

export const namespaceKind = kindOf(Namespace, {
  title: "namespace",
  hint: "use small letters, digits and -, at most 63",
});

export const prefixKind = kindOf(MirrorPrefix, {
  title: "prefix",
  hint: `start with a small letter, then small letters, digits and -; at most ${mirrorPrefixLengthMax}`,
});

export const kubeLabelKeyKind = kindOf(KubeLabelKey, {
  title: "Kubernetes label key",
  hint: "write team or example.com/team; the name has at most 63 characters",
});

export const kubeLabelValueKind = kindOf(KubeLabelValue, {
  title: "Kubernetes label value",
  hint: `${start}, . _ or -; at most 63`,
});

export const taintKind = kindOf(TaintText, {
  title: "taint",
  hint: "write it like dedicated=ci:NoSchedule",
});

export const kindTextKind = kindOf(KindText, {
  title: "kind",
  hint: "write PLURAL.VERSION.GROUP, such as hostedclusters.v1beta1.hypershift.openshift.io",
});

export const pathKind = kindOf(FilePath, { title: "path", hint: "write the path of a file" });

export const contextKind = kindOf(clusterFields.context, {
  title: "context",
  hint: "name one that the kubeconfig has: kubectl config get-contexts",
});

function kindOf(schema: TString, expected: Expected): TextKind {
  const validator = Compile(schema);
  return { ...expected, accepts: (value) => validator.Check(value) };
}
