import fc from "fast-check";
import { expect, test } from "vitest";
import { IdleList, type Linked } from "./collections.ts";

interface Thing extends Linked<Thing> {
  readonly name: number;
}

test("IdleList keeps the order of arrival after removals from the middle", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9), { maxLength: 200, size: "max" }), (toggles) => {
      const list = new IdleList<Thing>();
      const things: Thing[] = Array.from({ length: 10 }, (_, name) => {
        return { name, previous: null, next: null };
      });
      let model: Thing[] = [];
      for (const name of toggles) {
        const thing = things[name];
        if (thing === undefined) continue;
        if (!model.includes(thing)) {
          list.push(thing);
          model.push(thing);
        } else {
          list.remove(thing);
          model = model.filter((other) => other !== thing);
        }
        expect([...list].map((other) => other.name)).toEqual(model.map((other) => other.name));
        expect(list.size).toBe(model.length);
        expect(list.first?.name).toBe(model[0]?.name);
      }
    }),
  );
});
