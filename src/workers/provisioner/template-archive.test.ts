import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { TemplateSpec } from "../../config/template-spec.ts";
import { TemplateArchive } from "./template-archive.ts";

const spec = { name: "small", revision: "1" } as TemplateSpec;

test("TemplateArchive writes only what has changed, so a server starts on a full disk", async () => {
  const folder = await mkdtemp(join(tmpdir(), "berth-archive-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  new TemplateArchive(folder).configure([spec]);
  // From now on nothing can be written.
  await mkdir(join(folder, "templates.json.new"));
  const archive = new TemplateArchive(folder);
  archive.configure([spec]);
  expect(archive.find("small", "1")).toEqual(spec);
  expect(() => archive.configure([{ ...spec, revision: "2" }])).toThrow("EISDIR");
  new TemplateArchive(join(folder, "missing")).configure([]);
});
