/** Traces of a real server, as a collector gets them. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { berthPath, Process } from "./cli-processes.ts";
import { attributeOf, TraceReceiver } from "./trace-receiver.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

async function served(env: NodeJS.ProcessEnv, use: (url: string) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), "berth-traces-test-"));
  const args = ["serve", "--data", folder, "--listen", "127.0.0.1:0"];
  const server = new Process(berthPath, args, { ...process.env, ...env });
  try {
    const [, url = ""] = await server.says(/Berth lends .* at (\S+)/);
    await use(url);
  } finally {
    server.signal("SIGTERM");
    await server.ended;
    await rm(folder, { recursive: true, force: true });
  }
  return server;
}

/** Its body comes in two parts, as it may over a slow network. */
async function ask(url: string): Promise<string> {
  const headers = { "content-type": "application/json", traceparent };
  const call = request(`${url}/v1/leases`, { method: "POST", headers });
  const [first = "", rest = ""] = ['{"holder": "e2e/1", ', '"items": [{"pool": "aws-account"}]}'];
  call.write(first);
  await setTimeout(50);
  call.end(rest);
  const [answer]: IncomingMessage[] = await once(call, "response");
  expect(answer?.statusCode).toBe(201);
  let text = "";
  for await (const part of answer?.setEncoding("utf8") ?? []) text += part;
  return (JSON.parse(text) as { token: string }).token;
}

test("a call is traced from the edge to its commit, in the trace of its caller", async () => {
  await using receiver = await TraceReceiver.start();
  let token = "";
  await served(receiver.environment, async (url) => {
    token = await ask(url);
    await fetch(`${url}/healthz`);
  });
  const spans = receiver.of(traceId);
  const [call, decision, commit] = ["POST /v1/leases", "decide and commit", "commit"].map((name) =>
    spans.get(name),
  );
  expect(call).toMatchObject({ parentSpanId: "b7ad6b7169203331", kind: 2 });
  expect(attributeOf(call, "http.response.status_code")).toBe(201);
  expect(attributeOf(decision, "berth.command")).toBe("acquire");
  expect(decision?.parentSpanId).toBe(call?.spanId);
  expect(commit?.parentSpanId).toBe(decision?.spanId);
  expect(commit?.links).toMatchObject([{ spanId: decision?.spanId }]);
  expect([...receiver.services]).toEqual(["berth"]);
  expect(receiver.spans.map(({ name }) => name)).not.toContain("GET /healthz");
  expect(receiver.text).not.toContain(token);
});

test("without a receiver that answers, lending goes on, and the log says so", async () => {
  const nobody = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
    OTEL_BSP_SCHEDULE_DELAY: "50",
  };
  const server = await served(
    { ...nobody, OTEL_EXPORTER_OTLP_TIMEOUT: "200" },
    async (url) => void (await ask(url)),
  );
  expect(server.all).toContain('"msg":"traces"');
});

/** Says which packages a process loads. */
const namePackages = `
  import { registerHooks } from "node:module";
  registerHooks({
    load(url, context, next) {
      const [, name] = /node_modules\\/(@opentelemetry\\/[^/]+|fastify)\\//.exec(url) ?? [];
      if (name) process.stderr.write("loads " + name + "\\n");
      return next(url, context);
    },
  });`;

test("without an address for traces, none of the packages that send them is loaded", async () => {
  const hooks = `--import=data:text/javascript,${encodeURIComponent(namePackages)}`;
  const loadedWith = async (env: NodeJS.ProcessEnv) => {
    const server = await served(
      { NODE_OPTIONS: hooks, ...env },
      async (url) => void (await ask(url)),
    );
    return new Set(Array.from(server.stderr.matchAll(/^loads (.+)$/gm), ([, name]) => name));
  };
  expect([...(await loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: "" }))].sort()).toEqual([
    "@opentelemetry/api",
    "fastify",
  ]);
  await using receiver = await TraceReceiver.start();
  expect([...(await loadedWith(receiver.environment))]).toContain("@opentelemetry/sdk-trace-node");
});
