/** The page for people: built by Vite into `web/dist`, served from memory beside the API. */
import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { acceptsGzip } from "./compression.ts";
import type { App } from "./context.ts";
import { pagePolicy, withPageHeaders } from "./page-headers.ts";

/** The path is right from `src/http` and from `dist/http`. */
const builtFolder = new URL("../../web/dist/", import.meta.url);

interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
  readonly zipped: Buffer;
}

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".html": "text/html; charset=utf-8",
};

const policy = pagePolicy(
  ...["script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
);

/** A checkout can build the page; an installed package should contain it. */
export function notBuilt(isCheckout: boolean): string {
  const remedy = isCheckout
    ? "Run <code>npm run build:web</code> in the checkout, or start with <code>npm start</code>, and then\nrestart the server."
    : "This package was made without it: install another one, and then restart the server.";
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Berth</title>
<meta name="viewport" content="width=device-width"><h1>The page has not been built</h1>
<p>${remedy} The API is there: <a href="/docs">/docs</a>.</p></html>`;
}

export class Page {
  readonly #index: Asset;
  readonly #assets: ReadonlyMap<string, Asset>;

  private constructor(index: Asset, assets: ReadonlyMap<string, Asset>) {
    this.#index = index;
    this.#assets = assets;
  }

  /** Without a build there is a page that says how to make one. */
  static async load(folder: URL = builtFolder): Promise<Page> {
    const names = await readdir(new URL("assets/", folder)).catch(() => []);
    // A checkout runs TypeScript, a package JavaScript.
    const isCheckout = import.meta.url.endsWith(".ts");
    const html =
      names.length === 0 ? notBuilt(isCheckout) : await readFile(new URL("index.html", folder));
    const assets = names.map(async (name) => {
      const bytes = await readFile(new URL(`assets/${encodeURIComponent(name)}`, folder));
      return [`/assets/${name}`, await asset(name, bytes)] as const;
    });
    return new Page(
      await asset("index.html", Buffer.from(html)),
      new Map(await Promise.all(assets)),
    );
  }

  /** Whether a browser asks for a page. Boskos's clients and probes do not accept HTML. */
  wanted({ method, headers }: FastifyRequest): boolean {
    if (method !== "GET" && method !== "HEAD") return false;
    return headers.accept?.includes("text/html") ?? false;
  }

  /** The same for every address of the page: what it shows there is decided in the browser. */
  send(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    withPageHeaders(reply, policy).header("cache-control", "no-cache");
    return sendAsset(request, reply, this.#index);
  }

  routes(app: App): void {
    const hidden = { schema: { hide: true } };
    app.get("/", hidden, (request, reply) => {
      reply.header("vary", "accept");
      if (this.wanted(request)) return this.send(request, reply);
      return reply.header("content-length", "0").send();
    });
    for (const [path, found] of this.#assets) {
      app.get(path, hidden, (request, reply) => {
        // Their names change with their content.
        reply.header("cache-control", "public, max-age=31536000, immutable");
        reply.header("x-content-type-options", "nosniff");
        return sendAsset(request, reply, found);
      });
    }
  }
}

async function asset(name: string, bytes: Buffer): Promise<Asset> {
  const type = types[extname(name)] ?? "application/octet-stream";
  return { type, bytes, zipped: await promisify(gzip)(bytes) };
}

function sendAsset(request: FastifyRequest, reply: FastifyReply, found: Asset): FastifyReply {
  const zip = acceptsGzip(request);
  if (zip) reply.header("content-encoding", "gzip");
  reply.header("vary", "accept, accept-encoding").type(found.type);
  return reply.send(zip ? found.zipped : found.bytes);
}
