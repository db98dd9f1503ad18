/** Whether the environment names a receiver of traces, as OpenTelemetry defines it. */
export function tracesWanted(env: NodeJS.ProcessEnv): boolean {
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return false;
  if (env["OTEL_TRACES_EXPORTER"] === "none") return false;
  const names = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
  return names.some((name) => (env[name] ?? "") !== "");
}
