/** Certificates for tests, made in this process: no program and no package is needed. */
import {
  generateKeyPairSync,
  type KeyObject,
  type KeyPairKeyObjectResult,
  randomBytes,
  sign,
} from "node:crypto";
import { isIPv4 } from "node:net";

export interface TestCertificate {
  /** In PEM form. */
  readonly cert: string;
  readonly key: string;
}

export interface CertificateFields {
  /** `CN=ci,O=Acme`; no value has a comma. */
  readonly subject?: string;
  /** `DNS:localhost`, `IP:127.0.0.1` or `URI:spiffe://a/b`. */
  readonly san?: readonly string[];
  readonly from?: Date;
  readonly until?: Date;
}

const dayMs = 24 * 3_600_000;

export const daysFromNow = (days: number): Date => new Date(Date.now() + days * dayMs);

/** Names of a server on this machine. */
export const localNames = ["DNS:localhost", "IP:127.0.0.1"];

export class TestAuthority {
  readonly #name: string;
  readonly #keys = makeKeys();
  /** The certificate of the authority itself, in PEM form. */
  readonly cert: string;

  constructor(name = "CN=Test CA") {
    this.#name = name;
    this.cert = this.#sign(this.#keys.publicKey, { subject: name }, true);
  }

  issue(fields: CertificateFields = { san: localNames }): TestCertificate {
    const { publicKey, privateKey } = makeKeys();
    const key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    return { cert: this.#sign(publicKey, fields, false), key };
  }

  #sign(publicKey: KeyObject, fields: CertificateFields, isAuthority: boolean): string {
    const { subject = "CN=test", san = [], from = daysFromNow(-1) } = fields;
    const algorithm = sequence(oid("1.2.840.10045.4.3.2")); // ecdsa-with-SHA256
    const extensions = [
      ...(isAuthority
        ? [extension("2.5.29.19", sequence(der(0x01, Buffer.from([0xff]))))] // basicConstraints
        : []),
      ...(san.length === 0 ? [] : [extension("2.5.29.17", sequence(...san.map(altName)))]),
    ];
    const body = sequence(
      der(0xa0, integer(Buffer.from([2]))),
      integer(Buffer.from([1, ...randomBytes(8)])),
      algorithm,
      distinguishedName(this.#name),
      sequence(time(from), time(fields.until ?? daysFromNow(90))),
      distinguishedName(subject),
      publicKey.export({ type: "spki", format: "der" }),
      ...(extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))]),
    );
    const signature = sign("sha256", body, this.#keys.privateKey);
    const whole = sequence(body, algorithm, der(0x03, Buffer.from([0]), signature));
    const lines = whole.toString("base64").replace(/.{64}/g, "$&\n").trim();
    return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
  }
}

function makeKeys(): KeyPairKeyObjectResult {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

/** A value of ASN.1 in DER: its tag, its length and its content. */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...contents: readonly Buffer[]): Buffer => der(0x30, ...contents);
const integer = (bytes: Buffer): Buffer => der(0x02, bytes);

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = rest.flatMap((part) => {
    const digits = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return der(0x06, Buffer.from([first * 40 + second, ...bytes]));
}

function time(date: Date): Buffer {
  const text = date.toISOString().replace(/[-T:]|\.\d+/g, "");
  return der(0x18, Buffer.from(text));
}

const attributes: Readonly<Record<string, string>> = {
  CN: "2.5.4.3",
  O: "2.5.4.10",
  OU: "2.5.4.11",
};

function distinguishedName(text: string): Buffer {
  const parts = text === "" ? [] : text.split(",");
  return sequence(
    ...parts.map((part) => {
      const [key = "", value = ""] = part.split(/=(.*)/s);
      return der(0x31, sequence(oid(attributes[key] ?? "2.5.4.3"), der(0x0c, Buffer.from(value))));
    }),
  );
}

function altName(text: string): Buffer {
  const [type = "", value = ""] = text.split(/:(.*)/s);
  if (type === "IP" && isIPv4(value)) return der(0x87, Buffer.from(value.split(".").map(Number)));
  return der(type === "URI" ? 0x86 : type === "email" ? 0x81 : 0x82, Buffer.from(value));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(0x04, value));
}
