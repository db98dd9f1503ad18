import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { Connection, type ConnectionConfig, type PoolClient } from "pg";

/** What `pg` has and its types do not. */
interface CancelConnection extends EventEmitter {
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: unknown): void;
}
type Known = PoolClient & { readonly processID: number | null; readonly secretKey: unknown };

/**
 * Tells PostgreSQL that nobody waits for the statement of this client any longer. Closing its connection is
 * not enough: a statement that waits for a lock does not notice that, and keeps one of the connections
 * that PostgreSQL allows. The message needs a connection of its own, which counts for no limit.
 */
export function cancelStatement(
  client: PoolClient,
  socket: Socket,
  ssl: Exclude<ConnectionConfig["ssl"], undefined>,
  timeoutMs: number,
): void {
  const { host, port, processID, secretKey } = client as Known;
  if (processID === null) return void socket.destroy();
  const config = { stream: () => socket, ssl };
  const connection = new Connection(config) as unknown as CancelConnection;
  const cancel = () => connection.cancel(processID, secretKey);
  const timer = setTimeout(() => socket.destroy(), timeoutMs).unref();
  socket.once("close", () => clearTimeout(timer));
  connection.on("error", () => socket.destroy()); // Then it ends when it has its lock.
  connection.once("connect", () => (ssl === false ? cancel() : connection.requestSsl()));
  connection.once("sslconnect", cancel);
  if (host.startsWith("/")) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
}
