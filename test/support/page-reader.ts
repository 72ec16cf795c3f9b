/** A reader who sends the examples of a page in order, and replaces each printed "…" by the newest id of that kind. */
export class PageReader {
  private readonly ids: Map<string, string>;

  /** Starts with the id of an organization, unprefixed. */
  constructor(organizationId: string) {
    this.ids = new Map([['org', `org-${organizationId}`]]);
  }

  /** Returns a text of the page with each "…" replaced by an id. */
  fill(text: string): string {
    return text.replaceAll(/([a-z-]+)-…|(whsec)_…/g, (printed, kind: string = 'whsec') => {
      const id = this.ids.get(kind);
      if (id === undefined) throw new Error(`No answer before this block gave a "${printed}".`);
      return id;
    });
  }

  /** Remembers the ids of a response. */
  see(answer: unknown): void {
    for (const [id, kind] of JSON.stringify(answer).matchAll(/(?<=")([a-z][a-z-]*)-[0-9a-f]{32}(?=")/g)) {
      this.ids.set(kind as string, id);
    }
    for (const [secret] of JSON.stringify(answer).matchAll(/(?<=")whsec_[\w-]+(?=")/g)) this.ids.set('whsec', secret);
  }
}
