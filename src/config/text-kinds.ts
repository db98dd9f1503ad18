import type { TString } from "typebox";
import { Compile } from "typebox/compile";
import { hasRealDate } from "../core/model/time.ts";
import { Dimension } from "./capacity-schema.ts";
import type { TextKind } from "./document.ts";
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
import { ExpiryTime, Sha256 } from "./schema-auth.ts";
import { AltNamePattern, SubjectPatternText, subjectAttributes } from "./schema-certificates.ts";
import { Name, StateName } from "./schema-fields.ts";
import {
  Audience,
  ClaimPath,
  ClaimPattern,
  IssuerUrl,
  NameTemplate,
  SpaceTemplate,
} from "./schema-issuers.ts";
import { UserDataKey, VariableName, Word } from "./schema-janitor.ts";
import {
  clusterFields,
  FilePath,
  KubeLabelKey,
  KubeLabelValue,
  MirrorPrefix,
  Namespace,
} from "./schema-mirror.ts";
import { ClassName } from "./schema-priorities.ts";
import { ClientId, Scope, SecretVariable, SignInTitle } from "./schema-sign-in.ts";
import { PoolPattern } from "./schema-spaces.ts";
import { KubeSecret, ParameterName, QuotaKey, QuotaText, SecretKey } from "./schema-templates.ts";

const start = "start with a letter or digit, then letters, digits";

export const nameKind = kindOf(Name, `${start}, . _ or -; at most ${nameLengthMax}`);

export const classKind = kindOf(
  ClassName,
  "write a letter, then letters, digits, . _ or -; at most 63",
);

export const stateKind = kindOf(StateName, `${start}, . _ or -; at most ${stateLengthMax}`);

export const labelKeyKind = kindOf(LabelKey, `${start}, . _ / or -; at most ${labelKeyLengthMax}`);

export const labelValueKind = kindOf(
  LabelValue,
  `write text on one line, at most ${labelValueLengthMax} characters`,
);

export const wordKind = kindOf(Word, `write text of at most ${janitorTextLengthMax} characters`);

export const variableNameKind = kindOf(
  VariableName,
  "use letters, digits and _; names that begin with BERTH_ are Berth's own",
);

export const userDataKeyKind = kindOf(
  UserDataKey,
  "write the key on one line, at most 253 characters",
);

const dimensionForm = kindOf(
  Dimension,
  "start with a letter, then letters, digits, . _ or -; at most 63",
);

/** A dimension is the key of an object, so it must not be called like what every object has. */
export const dimensionKind: TextKind = {
  ...dimensionForm,
  accepts: (value): value is string => dimensionForm.accepts(value) && !(value in {}),
};

export const namespaceKind = kindOf(Namespace, "use small letters, digits and -, at most 63");

export const prefixKind = kindOf(
  MirrorPrefix,
  `start with a small letter, then small letters, digits and -; at most ${mirrorPrefixLengthMax}`,
);

export const kubeLabelKeyKind = kindOf(
  KubeLabelKey,
  "write team or example.com/team; the name has at most 63 characters",
);

export const kubeLabelValueKind = kindOf(KubeLabelValue, `${start}, . _ or -; at most 63`);

export const taintKind = kindOf(TaintText, "write it like dedicated=ci:NoSchedule");

export const kindTextKind = kindOf(
  KindText,
  "write PLURAL.VERSION.GROUP, such as hostedclusters.v1beta1.hypershift.openshift.io",
);

export const pathKind = kindOf(FilePath, "write the path of a file");

export const contextKind = kindOf(
  clusterFields.context,
  "name one that the kubeconfig has: kubectl config get-contexts",
);

export const poolPatternKind = kindOf(
  PoolPattern,
  "write the name of a pool, with * for any characters",
);

export const sha256Kind = kindOf(
  Sha256,
  "write the 64 digits, 0-9 and small a-f, that berth token new prints",
);

const expiryForm = kindOf(ExpiryTime, "write it like 2027-01-31 or 2027-01-31T12:00:00Z");

export const expiryKind: TextKind = {
  ...expiryForm,
  accepts: (value): value is string => {
    return expiryForm.accepts(value) && hasRealDate(value) && !Number.isNaN(Date.parse(value));
  },
};

export const issuerUrlKind = kindOf(
  IssuerUrl,
  "write it as the tokens have it in the claim iss, such as https://gitlab.com",
);

export const audienceKind = kindOf(Audience, "write the address of this server");

export const clientIdKind = kindOf(ClientId, "write the client id that the issuer has given you");

export const scopeKind = kindOf(Scope, "write it as the issuer has it, such as email");

export const signInTitleKind = kindOf(SignInTitle, "write at most 60 characters on one line");

export const secretVariableKind = kindOf(
  SecretVariable,
  "write the name of the variable, such as BERTH_SIGN_IN_SECRET, and not the secret",
);

export const claimPathKind = kindOf(ClaimPath, "write a claim of the tokens, such as sub");

export const claimPatternKind = kindOf(
  ClaimPattern,
  "write the value of the claim; * stands for any characters",
);

const templateHint = 'claims stand in braces, in quotes: "{repository_owner}"';

export const spaceTemplateKind = kindOf(
  SpaceTemplate,
  `${start}, . _ or -; ${templateHint}; at most ${nameLengthMax}`,
);

export const nameTemplateKind = kindOf(NameTemplate, `write text on one line; ${templateHint}`);

export const subjectPatternKind = kindOf(
  SubjectPatternText,
  `write it like "CN=ci-*,O=Acme"; the attributes are ${subjectAttributes.join(", ")}`,
);

export const altNamePatternKind = kindOf(
  AltNamePattern,
  'write it like "DNS:*.ci.example.org", "URI:spiffe://acme/ci/*", "email:..." or "IP:..."',
);

export const parameterNameKind = kindOf(
  ParameterName,
  "start with a letter, then letters, digits, . _ / or -; at most 63",
);

export const kubeSecretKind = kindOf(KubeSecret, "write NAMESPACE/NAME, such as berth/aws");

export const secretKeyKind = kindOf(SecretKey, "write a key of the Secret");

export const quotaKeyKind = kindOf(QuotaKey, "write it like pods, requests.cpu or count/secrets");

export const quotaTextKind = kindOf(QuotaText, 'write a quantity, such as 20, "500m" or 8Gi');

/** The title of a schema is the noun of its messages. */
function kindOf(schema: TString, hint: string): TextKind {
  const validator = Compile(schema);
  const title = "title" in schema ? String(schema.title) : "text";
  return { title, hint, accepts: (value) => validator.Check(value) };
}
