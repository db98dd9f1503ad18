import type { WaitingRequest } from "../../../src/api/schemas.ts";
import { inWords } from "../parts/times.tsx";

/** When it is likely to start. `unknown` is said plainly: a guess from too little is no estimate. */
export function Estimate({ request }: { request: WaitingRequest }) {
  const { etaSeconds } = request;
  if (etaSeconds === null) return <span className="faint">unknown: too few holds recorded</span>;
  return <span>in about {inWords(etaSeconds)}</span>;
}
