import type { TString } from "typebox";
import { Compile } from "typebox/compile";
import { labelKeyLengthMax, labelValueLengthMax, nameLengthMax, stateLengthMax } from "./limits.ts";
import { LabelKey, LabelValue, Name, StateName } from "./schema.ts";
import type { Expected, TextKind } from "./written.ts";

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

function kindOf(schema: TString, expected: Expected): TextKind {
  const validator = Compile(schema);
  return { ...expected, accepts: (value) => validator.Check(value) };
}
