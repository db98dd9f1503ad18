import { expect, test } from "vitest";
import { tracesWanted } from "./traces-wanted.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

test.each([
  [{}, false],
  [{ OTEL_SERVICE_NAME: "berth" }, false],
  [endpoint, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://127.0.0.1:4318/v1/traces" }, true],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "" }, false],
  [{ ...endpoint, OTEL_SDK_DISABLED: "true" }, false],
  [{ ...endpoint, OTEL_TRACES_EXPORTER: "none" }, false],
])("tracesWanted(%j) is %j", (env, wanted) => {
  expect(tracesWanted(env)).toBe(wanted);
});
