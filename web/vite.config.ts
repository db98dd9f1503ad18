import { defineConfig } from "vite";

/** Where `npm run dev:web` finds the API. */
const server = process.env["BERTH_URL"] ?? "http://127.0.0.1:8080";

export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: "automatic" } },
  build: {
    // The policy of the page allows nothing inline, not even what a tool puts there.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    target: "es2024",
    sourcemap: false,
    // A test counts the bytes of the first view, compressed as they are sent.
    chunkSizeWarningLimit: 1_000,
    emptyOutDir: true,
  },
  server: { proxy: { "/v1": server, "/docs": server } },
});
