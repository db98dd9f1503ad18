/** A person at the pages of the provider, with a browser that has no more than cookies. */
export class Person {
  readonly #cookies = new Map<string, string>();
  #until: string | undefined;

  /** Signs in and agrees. Returns the page where it ends. */
  async signIn(url: string, name: string): Promise<string> {
    const login = await this.#visit(url);
    const consent = await this.#submit(login, { login: name, password: "any" });
    return (await this.#submit(consent, {})).html;
  }

  /** The same, up to an address that begins so, which is not visited. */
  async signInTo(url: string, name: string, until: string): Promise<string> {
    this.#until = until;
    const login = await this.#visit(url);
    const consent = await this.#submit(login, { login: name, password: "any" });
    return (await this.#submit(consent, {})).url;
  }

  async cancel(url: string): Promise<void> {
    const login = await this.#visit(url);
    const [, href = ""] = /href="([^"]+)"[^>]*>\[ Cancel \]/.exec(login.html) ?? [];
    await this.#visit(new URL(href, login.url).href);
  }

  /** Confirms the code of a device, which is in the address. */
  async approveDevice(url: string, name: string): Promise<void> {
    const code = await this.#visit(url);
    const confirm = await this.#submit(code, {});
    const login = /name="confirm"/.test(confirm.html) ? await this.#submit(confirm, {}) : confirm;
    const consent = await this.#submit(login, { login: name, password: "any" });
    await this.#submit(consent, {});
  }

  async #visit(url: string, init: RequestInit = {}): Promise<{ url: string; html: string }> {
    const cookie = Array.from(this.#cookies, (pair) => pair.join("=")).join("; ");
    const response = await fetch(url, { ...init, redirect: "manual", headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    const next = response.headers.get("location");
    const address = next === null ? undefined : new URL(next, url).href;
    if (this.#until !== undefined && address?.startsWith(this.#until)) {
      return { url: address, html: "" };
    }
    if (address !== undefined) return this.#visit(address);
    return { url, html: await response.text() };
  }

  /** Sends the form of a page, with its hidden fields. */
  async #submit(page: { url: string; html: string }, fields: Record<string, string>) {
    const [, action = ""] = /<form[^>]*action="([^"]+)"/.exec(page.html) ?? [];
    if (action === "") throw new Error(`There is no form at ${page.url}:\n${page.html}`);
    const body = new URLSearchParams(fields);
    for (const [tag] of page.html.matchAll(/<input[^>]*type="hidden"[^>]*>/g)) {
      const [, name = ""] = /name="([^"]+)"/.exec(tag) ?? [];
      const [, value = ""] = /value="([^"]*)"/.exec(tag) ?? [];
      body.set(name, value);
    }
    return this.#visit(new URL(action, page.url).href, { method: "POST", body });
  }
}
