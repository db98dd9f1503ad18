import { hasKeyboard } from "../keyboard.ts";

/** The key that leads to a field, at the end of it. Nothing on a device without keys. */
export function KeyCap({ name }: { name: string }) {
  if (!hasKeyboard) return null;
  return (
    <span className="key-cap" aria-hidden="true">
      <kbd>{name}</kbd>
    </span>
  );
}
