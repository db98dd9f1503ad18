/** The requests of one connection of the load, as raw bytes. */
export interface Dialogue {
  readonly first: string;
  /** Returns the next request, or undefined if the reply is an error. */
  next(reply: Buffer): string | undefined;
}

const bodyStart = Buffer.from("\r\n\r\n");
const quote = '"'.charCodeAt(0);

function statusOf(reply: Buffer): number {
  return Number(reply.toString("latin1", 9, 12));
}

/** Returns an empty text if the field is missing. */
function field(reply: Buffer, name: string): string {
  const body = reply.indexOf(bodyStart);
  const found = body < 0 ? -1 : reply.indexOf(`"${name}":"`, body, "latin1");
  if (found < 0) return "";
  const start = found + name.length + 4;
  return reply.toString("latin1", start, reply.indexOf(quote, start));
}

/** Acquires a lease and releases it with its token. */
function berth(pool: string, index: number, tokens: readonly string[] = []): Dialogue {
  const body = JSON.stringify({ holder: "bench/1", items: [{ pool }] });
  const ask = (authorization: string) =>
    `POST /v1/leases HTTP/1.1\r\nHost: localhost\r\n${authorization}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  // Made before the load begins. Each connection starts at another caller, and goes through all.
  const asks = tokens.map((token) => ask(`Authorization: Bearer ${token}\r\n`));
  const first = asks[index % Math.max(1, asks.length)] ?? ask("");
  let at = index;
  return {
    first,
    next(reply) {
      const status = statusOf(reply);
      if (status === 204) {
        at += 1;
        return asks[at % Math.max(1, asks.length)] ?? first;
      }
      const token = status === 201 ? field(reply, "token") : "";
      if (token === "") return undefined;
      return `DELETE /v1/leases/${field(reply, "id")} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    },
  };
}

/** Acquires and releases as Boskos's clients do: by name, without a token. */
function boskos(type: string, index: number): Dialogue {
  const call = (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`;
  const owner = `bench-${index}`;
  const first = call(`/acquire?type=${type}&state=free&dest=busy&owner=${owner}`);
  return {
    first,
    next(reply) {
      if (statusOf(reply) !== 200) return undefined;
      const name = field(reply, "name");
      return name === "" ? first : call(`/release?name=${name}&dest=free&owner=${owner}`);
    },
  };
}

export const dialogues = { berth, boskos };
