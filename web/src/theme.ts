/** Light, dark, or as in the system; stored in the browser. */
import { Store } from "./data/store.ts";

export type Theme = "system" | "light" | "dark";
const themes: readonly Theme[] = ["system", "light", "dark"];
const key = "berth.theme";

export const theme = new Store<Theme>(
  themes.find((name) => name === localStorage.getItem(key)) ?? "system",
);

export function showTheme(): void {
  const name = theme.get();
  document.documentElement.dataset["theme"] = name;
}

export function nextTheme(): void {
  const next = themes[(themes.indexOf(theme.get()) + 1) % themes.length] ?? "system";
  localStorage.setItem(key, next);
  theme.set(next);
  showTheme();
}
