import { expect, test } from "vitest";
import { versionIn } from "../../core/model/version.ts";
import { mustBeSupported, mustFit } from "./versions.ts";

const image = (tag: string) => `quay.io/openshift-release-dev/ocp-release${tag}`;
const version = (text: string) => {
  const found = versionIn(text);
  if (found === undefined) throw new Error(`${text} is no version`);
  return found;
};

test.each([
  ["4.20", { major: 4, minor: 20, patch: undefined }],
  [image(":4.20.10-x86_64"), { major: 4, minor: 20, patch: 10 }],
  [image(":4.21.0-ec.2"), { major: 4, minor: 21, patch: 0 }],
  [image("@sha256:4.1"), undefined],
  ["registry:5000/release", undefined],
  ["stable", undefined],
])("versionIn() %s", (text, want) => {
  expect(versionIn(text)).toEqual(want);
});

test("mustBeSupported() refuses what is out of the window, with the nearest by number", () => {
  const supported = ["5.1", "5.0", "4.20", "4.9"];
  mustBeSupported(version("4.20.3"), supported);
  mustBeSupported(version("4.20.3"), []);
  expect(() => mustBeSupported(version("4.10.1"), supported)).toThrow(
    "4.10.1: the hub makes OpenShift 4.9, 4.20, 5.0, 5.1; the nearest is 4.9",
  );
});

test.each([
  ["4.20.1", "4.20.1", undefined],
  ["4.17.9", "4.20.1", undefined],
  ["4.20", "4.20.1", undefined],
  ["4.20.2", "4.20.1", "its control plane has the older 4.20.1"],
  ["4.21.0", "4.20.1", "its control plane has the older 4.20.1"],
  ["4.16.9", "4.20.1", "they are more than 3 minor versions behind 4.20.1"],
])("mustFit() nodes %s, control plane %s", (nodes, controlPlane, want) => {
  const check = () => mustFit(version(nodes), version(controlPlane));
  if (want === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(want);
});
