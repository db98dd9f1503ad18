/** `berth run --watch-log`, against a server that takes signals as it is told to. */
import { describe, expect, test } from "vitest";
import {
  type Answer,
  aLease,
  problem,
  reply,
  scriptedServer,
} from "../src/client/scripted-server.suite.ts";
import { berthPath, Process } from "./cli-processes.ts";

const lease = { ...aLease(), token: "secret" };
const heartbeat = { id: "r1", expiresAt: lease.expiresAt, endsAt: null };
const granting: Record<string, Answer> = {
  "POST /v1/leases": (_got, response) => reply(response, 201, lease),
  "POST /v1/leases/r1/heartbeat": (_got, response) => reply(response, 200, heartbeat),
  "DELETE /v1/leases/r1": (_got, response) => reply(response, 204),
};
const signal = "POST /v1/leases/r1/signal";

async function run(script: string, signals: Answer) {
  await using server = await scriptedServer({ ...granting, [signal]: signals });
  const args = ["run", "--pool", "aws", "--watch-log", "known", "--", "sh", "-c", script];
  const started = new Process(berthPath, args, { ...process.env, BERTH_URL: server.url });
  const code = await started.ended;
  const sent = server.received.filter(({ path }) => path.endsWith("/signal"));
  return { code, sent, stdout: started.stdout, stderr: started.stderr };
}

describe("berth run --watch-log", () => {
  test("passes the command's output on, and reports throttling once", async () => {
    const { code, sent, stdout, stderr } = await run(
      "echo fine; echo 'Throttling: Rate exceeded' >&2; echo TooManyRequests; echo end; exit 3",
      (_got, response) => reply(response, 204),
    );
    expect([code, stdout]).toEqual([3, "fine\nTooManyRequests\nend\n"]);
    expect(stderr).toContain("Throttling: Rate exceeded\n");
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({
      authorization: "Bearer secret",
      body: {
        throttled: true,
        pool: "aws",
        evidence: expect.stringMatching(/^(Throttling: Rate exceeded|TooManyRequests)$/),
      },
    });
  });

  test("logs once that an older server accepts no reports", async () => {
    const { code, stderr } = await run("echo TooManyRequests", (_got, response) =>
      reply(response, 404, problem(404, "not_found")),
    );
    expect(code).toBe(0);
    expect(stderr.match(/The server does not support reports/g)).toHaveLength(1);
  });

  test("continues when a report is refused", async () => {
    const { code, stderr } = await run("echo TooManyRequests", (_got, response) =>
      reply(response, 409, problem(409, "not_adaptive")),
    );
    expect(code).toBe(0);
    expect(stderr).toContain("Cannot report that aws is throttled: Cannot do it: not_adaptive");
  });

  test("does not wait for a background process that keeps the output open", async () => {
    const { code, stdout } = await run("echo done; sleep 60 &", (_got, response) =>
      reply(response, 204),
    );
    expect([code, stdout]).toEqual([0, "done\n"]);
  });
});
