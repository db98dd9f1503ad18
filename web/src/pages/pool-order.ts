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
  const choose = useCallback(
    (order: string) => {
      localStorage.setItem(key, order);
      setInAddress(order);
    },
    [setInAddress],
  );
  return [inAddress || localStorage.getItem(key) || "trouble", choose];
}
