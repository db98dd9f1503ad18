/** Who reads the name and the reason of an action. `signedInAs`: null without `auth`, where everybody sees all spaces. */
export function readerWords(signedInAs: string | null, isOfSpace: boolean): string {
  if (signedInAs === null) {
    return "Your name and the reason are stored with the event. Everybody can read them.";
  }
  const also = isOfSpace ? "its space and " : "";
  return `The name ${signedInAs} and the reason are stored with the event, for ${also}those who see all spaces.`;
}
