import { type FormEvent, useEffect, useRef, useState } from "react";
import { Problem } from "../../../src/api/problem.ts";
import { berth } from "../data/berth.ts";
import { rememberSession } from "../data/sign-in.ts";

/** The server says it of any credentials. Another reason, such as a token that has expired, is shown as it is. */
const unknownToken = "this server does not know them";

interface Props {
  readonly focus: boolean;
  readonly onDone: (us: Awaited<ReturnType<typeof berth.signIn>>) => void;
  readonly onProblem: (problem: unknown) => void;
}

/** Signs in with a token of `berth token new`. */
export function TokenForm({ focus, onDone, onProblem }: Props) {
  const [token, setToken] = useState("");
  const [running, setRunning] = useState(false);
  const [isUnknown, setUnknown] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (focus) field.current?.focus();
  }, [focus]);
  const run = async () => {
    setRunning(true);
    onProblem(undefined);
    setUnknown(false);
    try {
      const us = await berth.signIn(token.trim());
      rememberSession(us.session ?? null);
      onDone(us);
    } catch (problem) {
      const isUnknown = problem instanceof Problem && problem.message.endsWith(unknownToken);
      setUnknown(isUnknown);
      onProblem(isUnknown ? undefined : problem);
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
          aria-invalid={isUnknown}
          onChange={(event) => setToken(event.target.value)}
        />
      </label>
      {isUnknown ? (
        <p className="wrong" role="alert">
          This server does not know this token.
        </p>
      ) : null}
      <p className="aside-note">
        Operators of this server make tokens with <code className="unbroken">berth token new</code>.
        You are signed out after 8 hours without use, and after one day in any case.
      </p>
      <div className="buttons">
        <button type="submit" className="act" disabled={running}>
          Sign in
        </button>
      </div>
    </form>
  );
}
