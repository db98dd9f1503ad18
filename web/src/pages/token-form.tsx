import { type FormEvent, useEffect, useRef, useState } from "react";
import { berth } from "../data/berth.ts";
import { rememberSession } from "../data/sign-in.ts";

interface Props {
  readonly focus: boolean;
  readonly onDone: (us: Awaited<ReturnType<typeof berth.signIn>>) => void;
  readonly onProblem: (problem: unknown) => void;
}

/** Signs in with a token of `berth token new`. */
export function TokenForm({ focus, onDone, onProblem }: Props) {
  const [token, setToken] = useState("");
  const [running, setRunning] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (focus) field.current?.focus();
  }, [focus]);
  const run = async () => {
    setRunning(true);
    onProblem(undefined);
    try {
      const us = await berth.signIn(token.trim());
      rememberSession(us.session ?? null);
      onDone(us);
    } catch (problem) {
      onProblem(problem);
      setRunning(false);
      field.current?.select();
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run();
  };
  return (
    <form onSubmit={submit}>
      <label>
        Token
        <input
          ref={field}
          type="password"
          required
          maxLength={2_048}
          autoComplete="current-password"
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
      </label>
      <p className="aside-note">
        Operators of this server make tokens with <code>berth token new</code>. You stay signed in
        for 8 hours, or up to a day while you use the page.
      </p>
      <div className="buttons">
        <button type="submit" className="act" disabled={running}>
          Sign in
        </button>
      </div>
    </form>
  );
}
