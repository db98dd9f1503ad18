/**
 * Finds what looks like a secret by its form, for texts from outside that may contain values which
 * nobody has registered. A second protection: the redactor masks the values that are known.
 */
import { masked, type Redactor } from "./redactor.ts";

/** Each with a group around the secret part; without one, the whole match is secret. */
const patterns: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /aws_secret_access_key["']?\s*[:=]\s*["']?([A-Za-z0-9/+=]{30,})/gi,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{30,}\b/g,
  /\bberth_[A-Za-z0-9_-]{40,}/g,
  /\b(?:client-key-data|client-certificate-data)["']?\s*:\s*["']?([A-Za-z0-9+/=]{16,})/g,
  /\b(?:token|password|secret|api[_-]?key)["']?\s*[:=]\s*["']?([^\s"',;{}[\]]{8,})/gi,
  /\b(?:bearer|basic) +([A-Za-z0-9._~+/=-]{12,})/gi,
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]+:([^\s/@]+)@/gi,
];

export function maskSecretForms(text: string): string {
  let cleaned = text;
  for (const pattern of patterns) {
    cleaned = cleaned.replace(pattern, (whole: string, part: unknown) => {
      return typeof part === "string" ? whole.replace(part, masked) : masked;
    });
  }
  return cleaned;
}

/** For texts of drivers: masks the values that are known, and whatever looks like a secret. */
export function maskOf(
  redactor: Redactor,
): Pick<Redactor, "register" | "registerDocument" | "clean"> {
  return {
    register: (value) => redactor.register(value),
    registerDocument: (text) => redactor.registerDocument(text),
    clean: (text) => maskSecretForms(redactor.clean(text)),
  };
}
