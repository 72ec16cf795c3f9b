/** A folder of notes. */
export interface Folder {
  readonly id: string;
  readonly name: string;
  /** With those that it lies in: "Backend/Databases". */
  readonly path: string;
  readonly description?: string | null | undefined;
  readonly parent?: { readonly id: string } | null | undefined;
}
