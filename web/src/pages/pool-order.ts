/** The order of the pools, as the reader chose it: in the address, and remembered by the browser. */
import { useCallback } from "react";
import { useFilter } from "../router.ts";

const key = "berth.pool-order";

export const poolOrders = [
  ["trouble", "Trouble first"],
  ["name", "Name"],
  ["oldest", "Longest wait"],
  ["waiting", "Most waiting"],
  ["usage", "Fullest"],
  ["free", "Most free"],
] as const;

export function usePoolOrder(): readonly [string, (order: string) => void] {
  const [inAddress, setInAddress] = useFilter("sort");
  const [, pin] = useFilter("sort", { replace: true });
  const current = inAddress || localStorage.getItem(key) || "trouble";
  const choose = useCallback(
    (order: string) => {
      // The step that is left keeps its order: Back would find there what the browser remembers now.
      pin(current);
      localStorage.setItem(key, order);
      setInAddress(order);
    },
    [pin, current, setInAddress],
  );
  return [current, choose];
}
