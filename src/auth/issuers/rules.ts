/** From the claims of a verified token to who the caller is here. */
import type { Problem } from "../../api/problem.ts";
import type { SpaceName } from "../../core/model/ids.ts";
import type { IssuerSpec, RuleSpec } from "../issuer-spec.ts";
import type { Principal } from "../principal.ts";
import { noRule, unusableClaim } from "../refusals.ts";
import { type Claims, claimAt, matchesClaim, textAt } from "./claims.ts";

/** Throws a Problem with status 403 if no rule matches, or the rule cannot name a space. */
export function principalFrom({ issuer, rules }: IssuerSpec, claims: Claims): Principal {
  const rule = rules.find((one) => matchesRule(one, claims));
  if (rule === undefined) throw noRule(subjectOf(claims), issuer);
  const spaceOf = { issuer, claims, key: "space", form: spaceForm };
  const nameOf = { issuer, claims, key: "name", form: nameForm };
  return {
    name: fill(rule.name ?? "{sub}", nameOf),
    space: fill(rule.space, spaceOf) as SpaceName,
    role: rule.role,
    proof: "issuer",
  };
}

function matchesRule(rule: RuleSpec, claims: Claims): boolean {
  const patterns = Object.entries(rule.claims);
  return patterns.every(([path, pattern]) => matchesClaim(pattern, claimAt(claims, path)));
}

interface Form {
  readonly pattern: RegExp;
  readonly lengthMax: number;
}

/** As in the configuration: a space is part of other names. */
const spaceForm: Form = { pattern: /^[A-Za-z0-9][A-Za-z0-9._-]*$/, lengthMax: 253 };
/** One line of visible text: `repo:acme/shop:environment:Staging 2`. */
const nameForm: Form = { pattern: /^(?! )[^\p{C}\p{Zl}\p{Zp}]+$/u, lengthMax: 253 };

interface Filling {
  readonly issuer: string;
  readonly claims: Claims;
  readonly key: string;
  readonly form: Form;
}

function fill(template: string, { issuer, claims, key, form }: Filling): string {
  const refuse = (state: string): Problem => {
    const facts = { name: subjectOf(claims), issuer, key, template };
    return unusableClaim(facts, state);
  };
  const text = template.replaceAll(/\{([^{}]+)\}/g, (_, path: string) => {
    const value = textAt(claims, path);
    if (value === undefined) throw refuse(`the token has no text in the claim "${path}"`);
    return value;
  });
  if (text.length > form.lengthMax) throw refuse(`it gives more than ${form.lengthMax} characters`);
  if (!form.pattern.test(text)) throw refuse(`it gives ${JSON.stringify(text)}, which is no name`);
  return text;
}

const unnamed = "a token without a usable sub";

/** For messages. */
function subjectOf(claims: Claims): string {
  const text = textAt(claims, "sub");
  const fits = text !== undefined && text.length <= nameForm.lengthMax;
  return fits && nameForm.pattern.test(text) ? text : unnamed;
}
