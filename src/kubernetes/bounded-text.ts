/** Reads the body of an answer, but never more than the memory of this process can bear. */

/** More than any page of a list has. */
const answerBytesMax = 64 * 1024 * 1024;

/** Throws, and closes the connection, if there is more. */
export async function boundedText(
  body: AsyncIterable<Uint8Array> | null,
  bytesMax = answerBytesMax,
): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error(`the answer has more than ${bytesMax} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
