/** The templates that are shipped as examples: what the tests of drivers on hubs make. */
import { fileURLToPath } from "node:url";
import { formatProblem } from "../src/config/document.ts";
import { loadConfig } from "../src/config/load.ts";
import { defaultsOf } from "../src/config/read-parameters.ts";
import type { TemplateSpec } from "../src/config/template-spec.ts";
import type { ClusterSpec, Driver } from "../src/drivers/driver.ts";
import { HubApi } from "../src/drivers/hub/hub-api.ts";
import { noMask } from "../src/drivers/secret-mask.ts";
import type { ApiServer } from "../src/kubernetes/api-server.ts";
import { openHubDriver } from "../src/workers/provisioner/hub-driver.ts";

const file = fileURLToPath(new URL("../examples/hubs/berth.yaml", import.meta.url));
const credentials = {
  ...{ "pull-secret": "{}", "aws-key-id": "AKIA", "aws-secret-key": "secret-of-the-cloud" },
};

export async function exampleTemplate(name: string): Promise<TemplateSpec> {
  const loaded = await loadConfig(file);
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join("\n"));
  const found = loaded.templates.find((each) => each.name === name);
  if (found === undefined) throw new Error(`The example has no template ${name}`);
  return found;
}

type How = Parameters<typeof openHubDriver>[1];

/** A driver as the provisioner opens it; `more` changes the template, such as its namespace. */
export async function exampleDriver(
  name: string,
  connect: () => Promise<ApiServer>,
  more: object = {},
): Promise<Driver> {
  const { how, parameters, pinned, hibernates } = await exampleTemplate(name);
  const hub = new HubApi(connect);
  const changed = { ...how, ...more } as How;
  const driver = openHubDriver(hub, changed, { hibernates, credentials, mask: noMask });
  // As the provisioner does: defaults of the parameters, and what is pinned.
  const create = (spec: ClusterSpec, options?: Parameters<Driver["create"]>[1]) => {
    const given = { ...defaultsOf(parameters), ...spec.parameters, ...pinned };
    return driver.create({ ...spec, parameters: given }, options);
  };
  return new Proxy(driver, {
    get: (target, key) => {
      if (key === "create") return create;
      const found: unknown = Reflect.get(target, key, target);
      return typeof found === "function" ? found.bind(target) : found;
    },
  });
}
