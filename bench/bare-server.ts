/**
 * The upper bound of this machine: a `node:http` server that reads the body and sends fixed bytes.
 */
import { createServer } from "node:http";

const lease = process.argv[2] ?? "{}";
const headers = {
  "content-type": "application/json; charset=utf-8",
  "content-length": Buffer.byteLength(lease),
};
const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    if (request.method === "POST") response.writeHead(201, headers).end(lease);
    else response.writeHead(204).end();
  });
});
process.on("SIGINT", () => process.exit(0));
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" && address !== null ? address.port : 0}\n`);
});
