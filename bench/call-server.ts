/**
 * The framework with two routes and constant answers, and with `ids` also the id of every call, as the
 * server has it. Prints its port.
 */
import fastify from "fastify";
import { answerCallIds, callIds } from "../src/http/call-id.ts";
import type { App } from "../src/http/context.ts";

const lease = JSON.stringify({
  id: "0123456789abcdef",
  token: "a-token-of-the-usual-length-of-a-lease",
});
const withIds = process.argv[2] === "ids";
const app = fastify(withIds ? { genReqId: callIds() } : {});
if (withIds) answerCallIds(app as unknown as App);
app.post("/v1/leases", (_, reply) => {
  reply.code(201).type("application/json; charset=utf-8").send(lease);
});
app.delete("/v1/leases/:id", (_, reply) => {
  reply.code(204).send();
});
const url = await app.listen({ port: 0, host: "127.0.0.1" });
process.stdout.write(`${new URL(url).port}\n`);
