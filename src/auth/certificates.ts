/** Client certificates, and the rules of `auth.certificates` that say who shows them. */
import type { SpaceName } from "../core/model/ids.ts";
import { matchesPattern } from "./issuers/claims.ts";
import type { Principal } from "./principal.ts";
import type { Role } from "./roles.ts";

/** A certificate of a trusted authority. */
export interface ClientCertificate {
  /** Values by the short name of their attribute: `CN`, `O`, `OU`. */
  readonly subject: Readonly<Record<string, readonly string[]>>;
  /** Alternative names: `DNS:ci.example.org`, `URI:spiffe://acme/ci`. */
  readonly san: readonly string[];
  readonly expiresAtMs: number;
}

/** What a client has shown; a certificate that cannot be trusted proves nothing. */
export type ShownCertificate = ClientCertificate | { readonly refusal: string };

/** One entry of `auth.certificates`. All that it names must match. */
export interface CertificateRule {
  /** Patterns by the short name of an attribute; absent: any subject. */
  readonly subject?: SubjectPattern;
  /** A pattern that one of the alternative names must match. */
  readonly san?: string;
  readonly space: SpaceName;
  readonly role: Role;
  /** Absent: the common name of the certificate, or its first alternative name. */
  readonly name?: string;
}

export type SubjectPattern = readonly (readonly [attribute: string, pattern: string])[];

/** Parses `CN=ci-*,O=Acme`. A comma in a value has a backslash before it. */
export function parseSubjectPattern(text: string): SubjectPattern {
  const parts = text.match(/(?:\\.|[^,\\])+/gs) ?? [];
  return parts.map((part) => {
    const [attribute = "", pattern = ""] = part.trim().split(/=(.*)/s);
    return [attribute, pattern.replaceAll(/\\(.)/gs, "$1")] as const;
  });
}

/** The principal of the first rule that matches; undefined if none does. */
export function principalOfCertificate(
  rules: readonly CertificateRule[],
  certificate: ClientCertificate,
): Principal | undefined {
  const rule = rules.find((one) => matches(one, certificate));
  if (rule === undefined) return undefined;
  const { space, role } = rule;
  return { name: rule.name ?? nameOf(certificate), space, role, proof: "certificate" };
}

function matches({ subject = [], san }: CertificateRule, shown: ClientCertificate): boolean {
  const hasSubject = subject.every(([attribute, pattern]) => {
    return shown.subject[attribute]?.some((value) => matchesPattern(pattern, value));
  });
  return hasSubject && (san === undefined || shown.san.some((one) => matchesPattern(san, one)));
}

/** One line of visible text, for records. */
const usableName = /^(?! )[^\p{C}\p{Zl}\p{Zp}]{1,253}$/u;

function nameOf({ subject, san }: ClientCertificate): string {
  const names = [...(subject["CN"] ?? []), ...san];
  return names.find((name) => usableName.test(name)) ?? "a client with a certificate";
}
