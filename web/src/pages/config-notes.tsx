import { useAnswer } from "../data/query.ts";
import { configStatus } from "../data/questions.ts";

/** What is wrong with the configuration file of the server. Nothing if all is well. */
export function ConfigNotes() {
  const { data } = useAnswer(configStatus);
  if (data === undefined) return null;
  const { problems, warnings } = data;
  return (
    <>
      <Notes
        title="The new configuration is refused. The old one stays in force."
        lines={problems}
      />
      <Notes title="Warnings of the configuration" lines={warnings} />
    </>
  );
}

function Notes({ title, lines }: { title: string; lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <div className="note" role="status">
      <strong>{title}</strong>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  );
}
