/** A folder of notes. */
export interface Folder {
  readonly id: string;
  readonly name: string;
  /** The path with all parents: "Backend/Databases". */
  readonly path: string;
  readonly description?: string | null | undefined;
  readonly parent?: { readonly id: string } | null | undefined;
}
