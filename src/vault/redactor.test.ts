import fc from "fast-check";
import { expect, test } from "vitest";
import { masked, Redactor } from "./redactor.ts";

const kubeconfig = `apiVersion: v1
users:
- name: admin
  user:
    token: eyJhbGciOiJSUzI1NiJ9.payload.signature
    client-key-data: ${Buffer.from("-----BEGIN KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIB\n-----END KEY-----\n").toString("base64")}
`;

test("clean() masks a value and the forms in which it appears", () => {
  const redactor = new Redactor();
  const value = 'pass/word"with\nquotes';
  redactor.register(value);
  const forms = [
    value,
    JSON.stringify({ value }),
    Buffer.from(value).toString("base64"),
    Buffer.from(value).toString("base64url"),
    `https://example/?p=${encodeURIComponent(value)}`,
  ];
  for (const form of forms) {
    expect(redactor.clean(`before ${form} after`)).toMatch(/^before .*\[hidden\].* after$/s);
    expect(redactor.clean(form)).not.toContain("quotes");
  }
  expect(redactor.clean("nothing of it")).toBe("nothing of it");
});

test("registerDocument() masks each secret of a kubeconfig, in clear and in base64", () => {
  const redactor = new Redactor();
  redactor.registerDocument(kubeconfig);
  for (const part of [
    "eyJhbGciOiJSUzI1NiJ9.payload.signature",
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIB",
  ]) {
    expect(redactor.clean(`curl -H "Bearer ${part}"`)).toBe(`curl -H "Bearer ${masked}"`);
  }
  expect(redactor.clean(`error in ${JSON.stringify(kubeconfig)}`)).not.toContain("MIGH");
  expect(redactor.clean("name: admin")).toBe("name: admin");
});

test("registerDocument() knows the fields of a kubeconfig in JSON", () => {
  const redactor = new Redactor();
  redactor.registerDocument('{"user":{"password": "hunter2-long", "token":"abcdef123456"}}');
  expect(redactor.clean("hunter2-long and abcdef123456")).toBe(`${masked} and ${masked}`);
});

test("clean() leaves none of the registered values in any text, and nothing else is lost", () => {
  const value = fc
    .string({ minLength: 4, maxLength: 20 })
    .filter((text) => text.trim().length >= 4);
  fc.assert(
    fc.property(
      fc.array(value, { maxLength: 8 }),
      fc.array(fc.string(), { maxLength: 8 }),
      (values, between) => {
        const redactor = new Redactor();
        for (const one of values) redactor.register(one);
        const text = values.flatMap((one, index) => [between[index] ?? "", one.trim()]).join("|");
        const cleaned = redactor.clean(text);
        for (const one of values) {
          if (!masked.includes(one.trim()))
            expect(cleaned.replaceAll(masked, "\u0000")).not.toContain(one.trim());
        }
      },
    ),
  );
});

test("a very short value is not masked: it would hide ordinary words", () => {
  const redactor = new Redactor();
  redactor.register("abc");
  expect(redactor.size).toBe(0);
  expect(redactor.clean("abc")).toBe("abc");
});
