import { afterEach, describe, expect, test, vi } from "vitest";
import { CliError } from "../failure.ts";
import { serve } from "./serve.ts";
import { tlsSettings } from "./serve-tls.ts";

afterEach(() => vi.unstubAllEnvs());

describe("tlsSettings()", () => {
  test("takes the files from flags and from variables, and flags count more", () => {
    expect(tlsSettings({})).toEqual({});
    vi.stubEnv("BERTH_TLS_CERT", "c");
    vi.stubEnv("BERTH_TLS_KEY", "k");
    expect(tlsSettings({})).toEqual({ tls: { cert: "c", key: "k" } });
    vi.stubEnv("BERTH_TLS_CLIENT_CA", "ca");
    expect(tlsSettings({ tlsCert: "other", trustProxy: ["::1"] })).toEqual({
      tls: { cert: "other", key: "k", clientCa: "ca" },
      trustProxies: ["::1"],
    });
  });

  test.each([
    [{ tlsCert: "c" }, "Cannot use --tls-cert: --tls-key is missing"],
    [{ tlsKey: "k" }, "Cannot use --tls-key: --tls-cert is missing"],
    [{ tlsClientCa: "a" }, "only a server with TLS can ask for certificates"],
  ])("refuses %j", (flags, message) => {
    expect(() => tlsSettings(flags)).toThrow(message);
  });
});

describe("--trust-proxy", () => {
  const parse = (text: string) => {
    const option = serve.options?.find(({ long }) => long === "--trust-proxy");
    return option?.parseArg?.(text, undefined);
  };

  test.each(["10.0.0.7", "10.0.0.0/8", "2001:db8::/32", "::1"])("takes %s", (text) => {
    expect(parse(text)).toEqual([text]);
  });

  test.each(["nginx", "10.0.0.0/33", "10.0.0", "10.0.0.0/", "::1/129", "0.0.0.0/0", "::/00", ""])(
    "refuses %j",
    (text) => {
      expect(() => parse(text)).toThrow(CliError);
    },
  );
});
