import type { FastifyReply } from "fastify";
import type { Failure } from "./texts.ts";

/** As Go's own error writer does: plain text that ends a line. Clients grep it. */
export function sendText(reply: FastifyReply, { status, text }: Failure): FastifyReply {
  return reply
    .code(status)
    .header("content-type", "text/plain; charset=utf-8")
    .header("x-content-type-options", "nosniff")
    .send(`${text}\n`);
}

/** Shell clients compare body and status, run together, with `200`. */
export function sendNothing(reply: FastifyReply): FastifyReply {
  return reply.code(200).header("content-length", "0").send();
}

export function sendJson(reply: FastifyReply, json: string): FastifyReply {
  return reply.code(200).header("content-type", "application/json").send(json);
}
