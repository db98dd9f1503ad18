/** Who shows which client certificate. */
import Type from "typebox";
import { certificateRulesMax, patternLengthMax } from "./limits.ts";
import { Name } from "./schema-fields.ts";
import { RoleName } from "./schema-role.ts";

/** Short names of the attributes that a subject has, as OpenSSL prints them. */
export const subjectAttributes = [
  ...["CN", "O", "OU", "C", "ST", "L", "DC", "UID", "emailAddress", "serialNumber"],
] as const;

const attribute = `(?:${subjectAttributes.join("|")})=(?:\\\\[,\\\\]|[^,\\\\\\x00-\\x1f\\x7f])+`;

export const SubjectPatternText = Type.String({
  title: "pattern of a subject",
  pattern: `^(?=.{1,${patternLengthMax}}$)${attribute}(?:, ?${attribute})*$`,
  description:
    "Attributes that the subject of the certificate must have; * stands for any characters. A comma " +
    "in a value has a backslash before it.",
  examples: ["CN=ci-*,O=Acme"],
});

export const AltNamePattern = Type.String({
  title: "pattern of an alternative name",
  pattern: `^(?:DNS|URI|email|IP):[^\\x00-\\x1f\\x7f]{1,${patternLengthMax}}$`,
  description: "One alternative name of the certificate must match; * stands for any characters.",
  examples: ["URI:spiffe://acme/ci/*", "DNS:*.ci.example.org"],
});

export const Certificate = Type.Object(
  {
    subject: Type.Optional(SubjectPatternText),
    san: Type.Optional(AltNamePattern),
    space: Type.String({
      ...Name,
      description: "The space that the leases of the caller belong to.",
    }),
    role: RoleName,
    name: Type.Optional(
      Type.String({
        ...Name,
        description:
          "Recorded with everything that the caller does. Without it, the common name of the " +
          "certificate or its first alternative name.",
      }),
    ),
  },
  { title: "rule for certificates", additionalProperties: false },
);

export const Certificates = Type.Array(Certificate, {
  title: "list of rules for certificates",
  description:
    "Client certificates that are accepted, if the server asks for them (--tls-client-ca). Tried in " +
    "order; the first that matches says who the caller is.",
  maxItems: certificateRulesMax,
});
