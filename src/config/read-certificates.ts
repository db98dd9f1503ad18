import { type CertificateRule, parseSubjectPattern } from "../auth/certificates.ts";
import type { ConfigDocument, Spot } from "./document.ts";
import { certificateRulesMax } from "./limits.ts";
import { readAccess, requireKeys } from "./read-access.ts";
import { textOf } from "./read-mirror.ts";
import { type Entry, listOf, readKnown, withinLimit } from "./read-values.ts";
import { Certificate } from "./schema-certificates.ts";
import { altNamePatternKind, nameKind, subjectPatternKind } from "./text-kinds.ts";

const expected = {
  title: "rule for certificates",
  hint: 'write { subject: "CN=ci-*", space: ci, role: holder }',
};

/** None where there are none, or, with the reason in the source, if they cannot be used. */
export function readCertificates(
  document: ConfigDocument,
  field: Entry | undefined,
): readonly CertificateRule[] {
  const spots = listOf(document, field?.value, "list of rules for certificates");
  const size = { count: spots.length, max: certificateRulesMax, of: "rules for certificates" };
  if (field !== undefined && !withinLimit(document, field.at, size)) return [];
  return spots.flatMap((spot) => readRule(document, spot) ?? []);
}

function readRule(document: ConfigDocument, spot: Spot): CertificateRule | undefined {
  const fields = readKnown(document, spot, Object.keys(Certificate.properties), expected);
  if (fields === undefined) return undefined;
  requireKeys(document, spot, fields, ["space", "role"], expected.hint);
  if (!fields.has("subject") && !fields.has("san")) {
    const hint = 'name whose certificates are meant; write subject: "CN=*" for all of them';
    document.source.refuse(spot, "it has neither subject nor san", hint);
  }
  const subject = textOf(document, fields, "subject", subjectPatternKind);
  const san = textOf(document, fields, "san", altNamePatternKind);
  const name = textOf(document, fields, "name", nameKind);
  const access = readAccess(document, fields);
  if (access === undefined) return undefined;
  const rule = {
    ...(subject === undefined ? undefined : { subject: parseSubjectPattern(subject) }),
    ...(san === undefined ? undefined : { san }),
    ...access,
    ...(name === undefined ? undefined : { name }),
  };
  warnOfPower(document, spot, rule);
  return rule;
}

function warnOfPower({ source }: ConfigDocument, spot: Spot, rule: CertificateRule): void {
  const { subject = [], san = "", role } = rule;
  const patterns = [...subject.map(([, pattern]) => pattern), san.replace(/^\w+:/, "")];
  const namesSomebody = patterns.some((pattern) => /[^*]/.test(pattern));
  if (namesSomebody || (role !== "operator" && role !== "admin")) return;
  const state = `everyone with a certificate of the authorities would be ${role}`;
  source.warn(spot, state, "name whose certificates are meant");
}
